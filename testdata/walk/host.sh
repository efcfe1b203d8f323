# A host, which is mcpdo: it starts the server, calls its tools as an agent would,
# and hands the server's form to a person. newcomer.sh sources it.

export PATH="$HOST_BIN:$PATH" MCP_INSPECTOR_SECRET_STORE=memory
: >"$HOME/log"
eval "$(mcpdo private)" # a daemon of its own

mcpdo() { command mcpdo --format json "$@" 2>>"$HOME/log"; }

# connect NAME ERA TARGET...
connect() { mcpdo --connection "$1" connect --era "$2" --elicit form "${@:3}" | get '`it runs ${answer.serverIdentity}, ${answer.protocolEra} era`'; }

# call NAME TOOL ARGUMENT...: mcpdo fails where the tool's result is an error.
call() { mcpdo --connection "$1" tools/call "${@:2}"; }

# get EXPRESSION: of the answer on stdin, whose structured content is out.
get() { node -pe 'const answer = JSON.parse(require("fs").readFileSync(0)), out = answer.structuredContent; '"$1"; }

# propose NAME CONNECTION VLAN: as an agent does, which searches first; says the
# token.
propose() {
  local port profile
  port=$(call "$1" fabric_search kind:=port metro_code:=DC | get 'out.items.find(i => i.encapsulation == "DOT1Q").uuid')
  profile=$(call "$1" fabric_search kind:=service_profile metro_code:=DC | get 'out.items.find(i => i.name.startsWith("AWS")).uuid')
  call "$1" fabric_propose_change '{"change_type": "connection_create", "spec": {
    "type": "EVPL_VC", "name": "'"$2"'", "bandwidth_mbps": 50, "notification_emails": ["noc@example.net"],
    "a_side": {"port_uuid": "'"$port"'", "link_protocol": {"type": "dot1q", "vlan_tag": '"$3"'}},
    "z_side": {"service_profile_uuid": "'"$profile"'", "metro_code": "DC", "seller_region": "us-east-1", "authentication_key": "123456789012"}
  }}' | get out.confirm_token
}

# approve NAME CONNECTION VLAN: the person reads the prompt and says yes, with the
# code where the prompt has one.
approve() {
  local token asked code
  token=$(propose "$@")
  asked=$(call "$1" fabric_confirm_change confirm_token:="$token")
  get answer.elicitationPending.message <<<"$asked"
  code=$(get '(/code[^\n]*: ([A-Z0-9]{6})\b/.exec(answer.elicitationPending.message) || ["", ""])[1]' <<<"$asked")
  mcpdo --connection "$1" elicitation/respond "$(get answer.elicitationPending.elicitationId <<<"$asked")" \
    confirm:=true ${code:+confirm_code:="$code"} | get 'out.outcome'
}

# previewed NAME CONNECTION VLAN: a confirm that asks nobody and says why.
previewed() {
  local token
  token=$(propose "$@")
  [ "$(call "$1" fabric_confirm_change confirm_token:="$token" | get out.error.code)" = preview_mode ]
}

# created NAME...: exactly these exist because of a create, and no other was sent.
created() {
  node --input-type=module -e '
    const [manage, ...want] = process.argv.slice(1);
    const read = async path => (await fetch(manage + path)).json();
    const made = (await read("/assets")).filter(a => a.created).map(a => a.name).sort();
    const sent = (await read("/history")).filter(e => e.method == "POST" && e.path == "/fabric/v4/connections" && !e.dry_run).length;
    if (made.join() != want.sort().join() || sent != want.length) {
      console.error(`walk: ${sent} creates sent, made are [${made}], want [${want}]`);
      process.exit(1);
    }
    console.log(`counted at the simulator: ${sent} create(s): ${made}`);
  ' "$MANAGE" "$@"
}

# edit STATEMENT: changes env of the server in the host's file.
edit() {
  node -e '
    const fs = require("fs"), file = process.env.CONFIG, all = JSON.parse(fs.readFileSync(file));
    const env = all.mcpServers["fabric-broker"].env;
    '"$1"';
    fs.writeFileSync(file, JSON.stringify(all, null, 2));
  '
}

# strict: the lint of the MCP Inspector over the tools that this host lists. It
# fails on errors; warnings fail the walk too.
strict() {
  inspector --cli --config "$CONFIG" --server fabric-broker --method tools/list --strict 2>"$HOME/lint" >"$HOME/tools" &&
    ! grep -E '^Warning: tool' "$HOME/lint" || { cat "$HOME/lint" >&2; return 1; }
  node -pe '"no complaint about " + JSON.parse(require("fs").readFileSync(0)).tools.map(t => t.name).join(", ")' <"$HOME/tools"
}
