#!/usr/bin/env bash
# What one hook call costs, from its start to its end, beside a Go program that
# does nothing and a hook in Node that does less. The event is a Stop: a write
# that waits for no disk. The ledger is on tmpfs where there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-400}

base=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$base"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$base/" ./bench/interleave ./bench/nothing
cat >"$base/event.json" <<'EVENT'
{"session_id":"aaaaaaaa-0000-4000-8000-000000000001","transcript_path":"/none/projects/p/aaaaaaaa-0000-4000-8000-000000000001.jsonl","cwd":"/","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"done"}
EVENT
cat >"$base/hook.js" <<'NODE'
const fs = require('fs'), dir = process.env.HOME + '/node';
const event = JSON.parse(fs.readFileSync(0));
let entry = {};
try { entry = JSON.parse(fs.readFileSync(dir + '/entry.json')); } catch {}
entry.sessionId = event.session_id;
entry.lastHeartbeatAt = new Date().toISOString();
fs.mkdirSync(dir, { recursive: true });
fs.writeFileSync(dir + '/entry.tmp', JSON.stringify(entry, null, 2));
fs.renameSync(dir + '/entry.tmp', dir + '/entry.json');
NODE
subjects=("a Go program that does nothing=$base/nothing" "agent-sessions hook claude=$PWD/bin/agent-sessions hook claude")
if node=$(command -v node); then
	subjects+=("a hook in Node=$node $base/hook.js")
else
	echo "left out: Node, which is not installed"
fi
# The hook looks for a process called claude above itself.
cat >"$base/claude.sh" <<'CLAUDE'
"$@"
exit $?
CLAUDE
echo "one hook call (asked: at most 2.5; at least 10 times faster than Node)"
(exec -a claude env -i HOME="$base" bash -c 'exec -a claude bash "$@"' claude "$base/claude.sh" \
	"$base/interleave" -n "$runs" -whole -stdin "$base/event.json" "${subjects[@]}")
test "$(find "$base/.local/state/agent-sessions/sessions" -name '*.json' | wc -l)" = 1 || { echo "hook.sh: the hook did not find its session" >&2; exit 1; }
