#!/usr/bin/env bash
# The whole story in a minute: a session whose terminal dies, one whose machine
# dies, and both back. A stand-in plays the CLI; HOME is a throwaway, and the
# processes have a namespace of their own, so that nothing of this machine's is
# touched. `make demo` builds what it needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -z ${DEMO_INSIDE:-} ]]; then
	export DEMO_INSIDE=1
	enter=(unshare --fork --pid --mount-proc --kill-child)
	[[ $(id -u) = 0 ]] || enter+=(--map-root-user)
	"${enter[@]}" true 2>/dev/null || {
		echo 'demo: this kernel gives no namespace to an ordinary user: run it as root, in a container' >&2
		exit 1
	}
	exec "${enter[@]}" bash "$0"
fi

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
bin=$PWD/bin

# A machine of its own -------------------------------------------------------

mkdir -p "$home"/{real,shims,web,.claude,tmp}
go build -o "$home/real/claude" ./test/standin/claude
ln -s "$bin/agentwrap" "$home/shims/claude"
machine=(env -i HOME="$home" PATH="$home/shims:$home/real:$bin:/usr/bin:/bin" SHELL=/bin/bash TERM=xterm LANG=C.UTF-8
	TMPDIR="$home/tmp" AGENTWRAP_SHIM_DIR="$home/shims")
run() { "${machine[@]}" "$@"; }
run agent-sessions hooks install >/dev/null
cd "$home/web"
run git init -q -b main
run git -c user.name=you -c user.email=you@localhost commit -q --allow-empty -m begin

# What is shown --------------------------------------------------------------

say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }

# shown COMMAND... runs a command as if it were typed.
shown() {
	printf '$ %s\n' "$*"
	run NO_COLOR=1 script -qec "stty columns 110 rows 30; $*" /dev/null </dev/null | tr -d '\r' || true
}

# terminal NAME COMMAND opens a terminal with a command in it.
terminal() {
	local name=$1 command=$2
	printf '$ %s\n' "$command"
	mkfifo "$home/tmp/$name.keys"
	"${machine[@]}" script -qfec "stty columns 110 rows 30; $command" /dev/null <"$home/tmp/$name.keys" >"$home/tmp/$name" 2>&1 &
	screen=$!
	exec 9>"$home/tmp/$name.keys"
	sed -u 's/\x1b\][^\x07]*\x07//g; s/\x1b\[[0-9;?>]*[A-Za-z]//g; s/\r//g; /^ *$/d; s/^/  │ /' < <(tail -q --pid="$screen" -s 0.1 -n +1 -f "$home/tmp/$name") &
	show=$!
	name_=$name
}

# type_ LINE types a line.
type_() { printf '%s\n' "$1" >&9; }

# see TEXT waits until the terminal has shown a text.
see() {
	local n
	for ((n = 0; n < 300; n++)); do
		! grep -aqF -- "$1" "$home/tmp/$name_" || return 0
		sleep 0.1
	done
	echo "demo: '$1' was never shown" >&2
	exit 1
}

# left waits for the end of the terminal's command.
left() {
	exec 9>&-
	wait "$screen" || true
	wait "$show" || true
}

# await STATE waits until the session is seen in a state.
await() {
	local n
	for ((n = 0; n < 100; n++)); do
		! run agent-sessions list | cut -f2 | grep -qx "$1" || return 0
		sleep 0.1
	done
	echo "demo: the session never became $1" >&2
	exit 1
}

id() { run agent-sessions list | cut -f1; }

# The story ------------------------------------------------------------------

say 'You type claude, as ever'
terminal one claude
see 'a stand-in'
type_ 'add a dark mode to the page'
see 'You said: add a dark mode'
type_ 'count 30'
see 'line 8'

say 'The terminal dies in the middle of an answer'
kill -KILL "$screen"
left 2>/dev/null
await DETACHED-ALIVE
shown agent-sessions

say 'It never stopped working. Get back to it'
terminal two "agent-sessions attach $(id)"
see 'counted to 30'
type_ '!echo "body { background: black }" > dark.css; git status --short'
see '?? dark.css'

say 'Now it dies for good, as in a crash or a power cut'
session=$(id)
kill -KILL "$(run agent-sessions show "$session" | sed -n 's/^process\t//p')"
left 2>/dev/null
await ORPHANED
shown agent-sessions sweep
shown agent-sessions

say 'The uncommitted work is safe, the conversation goes on where it was'
terminal three "agent-sessions attach $session"
see 'a stand-in (resume)'
type_ '/exit'
left
shown agent-sessions list --all
