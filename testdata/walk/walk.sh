#!/usr/bin/env bash
# The newcomer's walk: clones HEAD into an empty home without caches and follows
# README.md there, to a create that a person approved, counted at the simulator.
# Nothing of this machine goes along but its PATH and its way to the modules.
#
# WALK_TESTS=all runs the README's test command as it stands.
set -euo pipefail
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
host=$root/testdata/clients/node_modules/.bin
[ -x "$host/mcpdo" ] || { echo "walk: the host is missing: make walk installs it" >&2; exit 1; }
[ -z "$(git -C "$root" status --porcelain)" ] || echo "walk: HEAD is walked, not what is uncommitted here" >&2

home=$(mktemp -d)
trap 'chmod -R u+w "$home"; rm -rf "$home"' EXIT # modules are read-only
git clone --quiet "$root" "$home/fabric-broker"
mkdir "$home/tmp"
env -i HOME="$home" PATH="$PATH" TERM=dumb TMPDIR="$home/tmp" \
  GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" \
  HOST_BIN="$host" WALK_TESTS="${WALK_TESTS:-}" \
  bash "$home/fabric-broker/testdata/walk/newcomer.sh"
