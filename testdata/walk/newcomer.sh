# What a newcomer does in an empty home: the README's commands, literally and in
# order, then the same as a person with a host. walk.sh starts it.
set -euo pipefail
cd "$HOME/fabric-broker"
. testdata/walk/host.sh

say() { printf '\n== %s\n' "$*"; }
die() { echo "walk: $*" >&2; exit 1; }

end() {
  local code=$?
  [ $code = 0 ] || tail -n 20 "$HOME/log" >&2
  mcpdo daemon stop >/dev/null || true
  [ -z "${SIM:-}" ] || kill "$SIM"
  exit $code
}
trap end EXIT

# simulate COMMAND: what stays in its terminal stays in the background here.
simulate() {
  local address
  for address in $(grep -oE '127\.0\.0\.1:[0-9]+' <<<"$1"); do
    ! (exec 3<>"/dev/tcp/${address/://}") 2>/dev/null ||
      die "$address is taken, and the README's simulator listens there: end what does, then walk again"
  done
  : >"$HOME/sim"
  $1 >"$HOME/sim" &
  SIM=$!
  until grep -q '^manage ' "$HOME/sim"; do
    kill -0 "$SIM" 2>/dev/null || die "the simulator did not start"
    sleep 0.1
  done
  cat "$HOME/sim"
  MANAGE=$(sed -n 's/^manage //p' "$HOME/sim")
}

# paste COMMAND: the host's configuration goes where stderr says.
paste() {
  export CONFIG="$HOME/Library/Application Support/Claude/claude_desktop_config.json"
  mkdir -p "${CONFIG%/*}"
  $1 >"$CONFIG" 2>"$HOME/told"
  cat "$HOME/told"
  grep -qF '~/Library/Application Support/Claude' "$HOME/told" || die "\"$1\" names another place than $CONFIG"
}

# follow COMMAND: as it stands, but for what takes a person, a terminal of its own
# or too long.
follow() {
  say "$1"
  case $1 in
  *" demo") # asks in a terminal, which is script's here; the person types yes
    script -qec "$1" /dev/null <<<yes | tee "$HOME/demo"
    grep -q 'Counted at the API: 1 create(s) of 1 that a person approved' "$HOME/demo" || die "the demo created nothing" ;;
  "go test "*) # all tests with the race detector take minutes, and CI runs them last
    if [ "$WALK_TESTS" = all ]; then
      $1
    else
      echo "(instead, as WALK_TESTS is not all: four packages, without the race detector)"
      go test -shuffle=on ./pricing ./elicit ./broker/seal ./fabric/fabricsim
    fi ;;
  "fabric-sim "*) simulate "$1" ;;
  "fabric-broker config "*) paste "$1" ;;
  *) eval "$1" ;;
  esac
}

# Commands are the indented lines of the README that begin with a word and a
# space. Its prompt begins with |, its two steps with a word and a colon.
mapfile -t commands < <(sed -nE 's/^    ([a-z][a-z-]* .*)$/\1/p' README.md)
for command in "${commands[@]}"; do follow "$command"; done
[ -e "$HOME/demo" ] && [ -n "${MANAGE:-}" ] && [ -n "${CONFIG:-}" ] ||
  die "the README has lost its demo, its simulator or its host"

say "a host starts fabric-broker stdio with the same environment"
mapfile -t environment < <(env | sed -n 's/^EQUINIX_/-e\nEQUINIX_/p')
connect env legacy "${environment[@]}" -- fabric-broker stdio
approve env walk-env 1101
created walk-env

say "a host reads its file and nothing else, edited as the README says: preview is on"
unset "${!EQUINIX_@}"
mcpdo daemon stop >/dev/null
(umask 077 && printf sim-secret >"$HOME/client-secret")
edit 'Object.assign(env, {EQUINIX_API_CLIENTID: "me", EQUINIX_API_CLIENTSECRET_FILE: process.env.HOME + "/client-secret"})'
edit "Object.assign(env, {$(grep -oE '"EQUINIX_API_ENDPOINT": "[^"]+"' README.md)})"
strict
connect preview modern --config "$CONFIG" fabric-broker
previewed preview walk-preview 1102 || die "a confirm in preview did not say so"
created walk-env

say "the person takes EQUINIX_MCP_PREVIEW out"
edit 'delete env.EQUINIX_MCP_PREVIEW'
connect file modern --config "$CONFIG" fabric-broker
approve file walk-file 1103
created walk-env walk-file

say "the walk ends well"
