#!/usr/bin/env bash
# What it costs to look at very many sessions: a list of 10,000 entries, one look
# at 2,000 processes, both ends of 1,000 transcripts, each beside C that does
# only the system calls. All runs are interleaved. The look happens in a PID
# namespace of its own, where there is nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-40}

command -v cc >/dev/null || { echo "left out: all of it; there is no C compiler"; exit 0; }
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$base/" ./bench/interleave ./bench/scale
for peer in readall environs windows crowd; do cc -O2 -o "$base/$peer" "bench/peers/$peer.c"; done
mkdir "$base/transcripts" "$base/shims" "$base/home"

"$base/scale" ledger "$base/ledger" 10000
cat >"$base/list.js" <<'NODE'
const fs = require('fs'), dir = process.argv[2];
let open = 0;
for (const name of fs.readdirSync(dir)) {
	if (name.startsWith('.')) continue;
	if (JSON.parse(fs.readFileSync(dir + '/' + name, 'utf8')).finishedAt === null) open++;
}
console.log(open);
NODE
subjects=("C that opens, reads, closes them=$base/readall $base/ledger/sessions" "agent-sessions list=$PWD/bin/agent-sessions list")
if node=$(command -v node); then
	subjects+=("a reader in Node=$node $base/list.js $base/ledger/sessions")
else
	echo "left out: Node, which is not installed"
fi
echo "list of 10,000 entries (asked: at most 1.7; at least 3 times faster than Node)"
env -i HOME="$base/home" PATH=/usr/bin:/bin AGENT_SESSIONS_DIR="$base/ledger" AGENTWRAP_SHIM_DIR="$base/shims" AGENT_SESSIONS_NO_SWEEP=1 \
	"$base/interleave" -n "$runs" -whole "${subjects[@]}"

"$base/scale" transcripts "$base/transcripts" 1000
echo "both ends of 1,000 transcripts of up to 145 MB (asked: at most 2)"
"$base/interleave" -n "$runs" -whole "C that reads both windows=$base/windows $base/transcripts" \
	"C that reads the tail alone=$base/windows $base/transcripts tail" "title and activity=$base/scale windows $base/transcripts"

echo "one look at 2,000 processes (asked: at most 1.3; at least 4 times faster than ps)"
if ! unshare --fork --pid --mount-proc true 2>/dev/null; then
	echo "left out: the look; this user may make no PID namespace"
	exit 0
fi
# shellcheck disable=SC2016 # the inner shell expands it
unshare --fork --pid --mount-proc --kill-child bash -c '
	coproc "$0/crowd" 2000 claude
	read -r ready <&"${COPROC[0]}" && [[ $ready == ready ]]
	"$0/interleave" -n "$1" -whole "C that reads every environment=$0/environs" "our look=$0/scale look claude" "ps=ps -eo pid,args"
	found=$("$0/scale" look claude)
	[[ $found == 20 ]] || { echo "scale.sh: found $found of 20 sessions" >&2; exit 1; }
' "$base" "$runs"
