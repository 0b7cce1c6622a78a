# shellcheck shell=bash
# Help, hooks, the timer and tmux; sourced by install.sh.

install_help() {
	local page
	say 'Completions and manual pages'
	"$built/agent-sessions" completion bash | put 644 "$share/bash-completion/completions/agent-sessions"
	"$built/agent-sessions" completion zsh | put 644 "$share/zsh/site-functions/_agent-sessions"
	"$built/agent-sessions" completion fish | put 644 "$share/fish/vendor_completions.d/agent-sessions.fish"
	"$built/agent-sessions" man --dir "$scratch/man" >/dev/null
	for page in "$scratch"/man/*.1; do
		put 644 "$share/man/man1/${page##*/}" quiet <"$page"
	done
	tell "agent-sessions*.1 in $share/man/man1"
}

install_hooks() {
	[[ -n $hooks ]] || return 0
	say 'Hooks'
	act "agent-sessions hooks install" "$bin/agent-sessions" hooks install ||
		warn "the hooks could not be installed; sessions are recorded without them. Try 'agent-sessions hooks install' again"
}

# unit_quoted prints a text as it stands between a unit's double quotes.
unit_quoted() {
	local text=${1//\\/\\\\}
	text=${text//\"/\\\"}
	say "${text//%/%%}"
}

# unit FILE fills a unit's places in.
unit() {
	local name text env=''
	for name in AGENT_SESSIONS_DIR AGENTWRAP_SHIM_DIR; do
		[[ -z ${!name:-} ]] || env+="Environment=\"$name=$(unit_quoted "${!name}")\""$'\n'
	done
	text=$(<"$1")
	text=${text//@BIN@/"$(unit_quoted "$bin")"}
	say "${text//@ENVIRONMENT@$'\n'/"$env"}"
}

install_timer() {
	local name
	say 'The minute timer'
	for name in agent-session-sweep.service agent-session-sweep.timer; do
		unit "$src/systemd/$name" | put 644 "$units/$name"
	done
	[[ -z $dry ]] || return 0
	if timeout 10 systemctl --user daemon-reload 2>/dev/null && timeout 10 systemctl --user enable --now agent-session-sweep.timer 2>/dev/null; then
		tell armed
		return
	fi
	mkdir -p "$units/timers.target.wants"
	ln -sfn ../agent-session-sweep.timer "$units/timers.target.wants/agent-session-sweep.timer"
	tell "no user manager answers here: it is armed for the next login. Until then run 'agent-sessions sweep --watch'"
}

# install_reopen is for who asked for it, now or before.
install_reopen() {
	local name=agent-session-reopen.service
	[[ -n $reopen || -e $units/$name ]] || return 0
	say 'Lost sessions come back at login'
	unit "$src/systemd/$name" | put 644 "$units/$name"
	[[ -z $dry ]] || return 0
	mkdir -p "$units/default.target.wants"
	ln -sfn "../$name" "$units/default.target.wants/$name"
	timeout 10 systemctl --user daemon-reload 2>/dev/null || true
}

install_tmux() {
	! command -v tmux >/dev/null || return 0
	say 'tmux, which keeps the screen of a session that has lost its terminal'
	if [[ $(id -u) = 0 ]] && command -v apt-get >/dev/null; then
		act 'apt-get install tmux' apt-get install -qq -y tmux >/dev/null || warn "tmux could not be installed; try 'apt-get update && apt-get install tmux'"
	elif command -v apt-get >/dev/null; then
		say '  not installed: sessions live on without it, with less of their history. sudo apt-get install tmux'
	else
		say "  not installed: sessions live on without it, with less of their history. Install this system's tmux package"
	fi
}
