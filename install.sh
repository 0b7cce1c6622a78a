#!/usr/bin/env bash
# Installs agentwrap for this user, or takes it away again. Asks nothing, says
# what it does, and may be run again at any time.
set -euo pipefail

usage() {
	cat <<'TEXT'
Usage: ./install.sh [OPTION]...

Builds and installs agentwrap and agent-sessions for this user, and puts a shim
before each agent CLI that is on PATH.

  --prefix DIR      where bin/ and share/ are (default: ~/.local)
  --runtimes LIST   shims for exactly these, separated by commas
  --no-hooks        leave the CLIs' own settings alone
  --reopen-at-login bring lost sessions back, without a terminal, at each login
  --dry-run         say what would be done, and do nothing
  --uninstall       take everything away but the ledger
  --purge           with --uninstall: the ledger and the settings too
  -h, --help        this text
TEXT
}

say() { printf '%s\n' "$*"; }
warn() { printf 'install.sh: %s\n' "$*" >&2; }
die() {
	warn "$*"
	exit 1
}

src=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix='' runtimes='' hooks=1 reopen='' dry='' uninstall='' purge=''
while (($#)); do
	case $1 in
	--prefix | --runtimes)
		(($# > 1)) || die "$1 wants a value; see ./install.sh --help"
		if [[ $1 = --prefix ]]; then prefix=$2; else runtimes=$2; fi
		shift
		;;
	--prefix=*) prefix=${1#*=} ;;
	--runtimes=*) runtimes=${1#*=} ;;
	--no-hooks) hooks='' ;;
	--reopen-at-login) reopen=1 ;;
	--dry-run) dry=1 ;;
	--uninstall) uninstall=1 ;;
	--purge) purge=1 ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		warn "unknown option $1; see ./install.sh --help"
		exit 2
		;;
	esac
	shift
done

[[ $(uname -s) = Linux ]] || die "this is $(uname -s); agentwrap needs Linux"
[[ -n ${HOME:-} && -d $HOME ]] || die 'HOME is not set to a folder; set it and run this again'
[[ -z $purge || -n $uninstall ]] || die '--purge goes with --uninstall'
prefix=${prefix:-$HOME/.local}
[[ $prefix = /* ]] || prefix=$PWD/$prefix
bin=$prefix/bin share=$prefix/share
config=${XDG_CONFIG_HOME:-$HOME/.config}
shims=${AGENTWRAP_SHIM_DIR:-$HOME/.local/share/agentwrap/shims}
ledger=${AGENT_SESSIONS_DIR:-$HOME/.local/state/agent-sessions}
runs=${AGENT_RUN_HOME:-$HOME/.agent-run}
scratches=${OPENAGENTS_SCRATCH_ROOT:-$(dirname "${OPENAGENTS_LEASE_ROOT:-$HOME/.openagents/leases}")/scratch}
units=$config/systemd/user

# tell says one step, with ~ for the home folder.
tell() { say "  ${1//"$HOME"/'~'}"; }

# act TEXT COMMAND... tells what is done, and does it.
act() {
	tell "$1"
	shift
	[[ -n $dry ]] || "$@"
}

# scratch holds what is only needed on the way.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# put MODE TARGET [quiet] installs standard input as a file in one step, where it
# is not there byte by byte.
put() {
	local mode=$1 target=$2 quiet=${3:-} content new
	content=$(mktemp -p "$scratch")
	cat >"$content"
	! cmp -s "$content" "$target" || return 0
	[[ -n $quiet ]] || tell "write $target"
	[[ -z $dry ]] || return 0
	mkdir -p "$(dirname "$target")"
	# A link to a file elsewhere, as people keep their dotfiles, stays one.
	[[ ! -L $target ]] || target=$(readlink -f "$target")
	new=$(mktemp "$(dirname "$target")/.agentwrap-XXXXXX")
	if ! { cat "$content" >"$new" && chmod "$mode" "$new" && mv -f "$new" "$target"; }; then
		rm -f "$new"
		die "$target could not be written"
	fi
}

# shellcheck source=tools/install/path.sh
. "$src/tools/install/path.sh"
# shellcheck source=tools/install/extras.sh
. "$src/tools/install/extras.sh"
# shellcheck source=tools/install/uninstall.sh
. "$src/tools/install/uninstall.sh"

# wanted_go prints the Go version that go.mod asks for.
wanted_go() { sed -n 's/^go //p' "$src/go.mod"; }

# check_go ends with the way out where Go is absent or too old. A Go from 1.21
# on fetches the version it lacks by itself, or says why it cannot.
check_go() {
	local wanted have why
	wanted=$(wanted_go)
	local ways="get Go $wanted or later from https://go.dev/dl/, or install from a release tarball, which needs no Go"
	command -v go >/dev/null || die "Go is not installed: $ways"
	if ! have=$(cd "$src" && go env GOVERSION 2>&1); then
		why=${have##*$'\n'}
		die "this Go is too old ($why): $ways"
	fi
	have=${have#go}
	[[ $(printf '%s\n' "$wanted" "$have" | sort -V | head -n 1) = "$wanted" ]] ||
		die "Go $have is too old: $ways"
}

install_programs() {
	local program
	built=$src/prebuilt
	say 'Programs'
	if [[ ! -x $built/agentwrap ]]; then
		check_go
		built=$scratch/built
		"$src/tools/build.sh" "$built" || die 'the build failed: see above'
	fi
	for program in agentwrap agent-sessions; do
		put 755 "$bin/$program" <"$built/$program"
	done
}

# real_cli NAME prints the program that NAME means on PATH, past the shims.
real_cli() {
	local dir IFS=:
	for dir in $PATH; do
		[[ -f ${dir:=.}/$1 && -x $dir/$1 && ! $dir -ef $shims && ! $dir/$1 -ef $bin/agentwrap ]] || continue
		say "$dir/$1"
		return
	done
	return 1
}

# covered prints the runtimes that get a shim.
covered() {
	local name
	if [[ -n $runtimes ]]; then
		tr ',' '\n' <<<"$runtimes" | grep .
		return
	fi
	for name in $("$built/agentwrap" runtimes); do
		if real_cli "$name" >/dev/null; then say "$name"; fi
	done
}

install_shims() {
	local name
	say 'Shims'
	[[ -n $dry || -d $shims ]] || (umask 077 && mkdir -p "$shims")
	for name in $(covered); do
		[[ $name =~ ^[a-z][a-z0-9._-]*$ ]] || die "--runtimes: '$name' is no command's name"
		[[ -L $shims/$name && $(readlink "$shims/$name") = "$bin/agentwrap" ]] || act "link $shims/$name" ln -sfn "$bin/agentwrap" "$shims/$name"
	done
}

report() {
	local name real
	say
	say 'Covered:'
	for name in $(covered); do
		real=$(real_cli "$name") || real='not on PATH yet'
		printf '  %-14s %s\n' "$name" "$real"
	done
	if [[ -z $(covered) ]]; then
		say '  nothing yet: no agent CLI is on PATH. Install one and run this again'
	fi
	say
	if [[ -n $dry ]]; then
		say 'Nothing was changed.'
	else
		say "Open a new terminal and type 'claude' as ever; 'agent-sessions' shows what lives. 'agent-sessions doctor' checks this machine."
	fi
}

if [[ -n $uninstall ]]; then
	uninstall
	exit
fi
install_programs
install_tmux
install_shims
install_path
install_help
install_hooks
install_timer
install_reopen
report
