#!/bin/sh
# Runs a command beside a systemd user manager of its own, on a bus, in a cgroup and in a PID namespace of its own. To
# be run as root in a mount namespace of its own, where the first argument is a folder for it to use.
set -eu
cgroup="/sys/fs/cgroup/$AGENTWRAP_TEST_CGROUP"

outside() {
	mount -t tmpfs none /sys/fs/cgroup
	mount -t cgroup2 none /sys/fs/cgroup
	mkdir "$cgroup"
	mkdir -p /run/systemd
	mount -t tmpfs none /run/systemd
	mkdir /run/systemd/system
	status=0
	unshare --pid --fork --kill-child --mount-proc sh "$0" inside "$@" || status=$?
	find "$cgroup" -depth -type d -exec rmdir {} +
	exit "$status"
}

inside() { # as the namespace's first process, with whose end all others end
	echo $$ >"$cgroup/cgroup.procs"
	export HOME="$1" XDG_RUNTIME_DIR="$1/run" DBUS_SESSION_BUS_ADDRESS="unix:path=$1/run/bus"
	shift
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	mkfifo "$HOME/address"
	dbus-daemon --session --nofork --address="$DBUS_SESSION_BUS_ADDRESS" --print-address=3 3>"$HOME/address" 2>/dev/null &
	read -r _ <"$HOME/address"
	/lib/systemd/systemd --user >"$HOME/manager.log" 2>&1 &
	"$@"
}

if [ "$1" = inside ]; then "$@"; else outside "$@"; fi
