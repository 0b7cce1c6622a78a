# shellcheck shell=bash
# Taking everything away again; sourced by install.sh.

remove() {
	local path
	for path in "$@"; do
		if [[ -e $path || -L $path ]]; then act "remove $path" rm -f "$path"; fi
	done
}

# alive tells whether sessions live, whose sockets are in the ledger's folder:
# by the program, and by their holders where it is gone already.
alive() {
	if [[ -x $bin/agent-sessions ]]; then [[ -n $("$bin/agent-sessions" list --state alive 2>/dev/null) ]] && return; fi
	pgrep -u "$(id -u)" -f -- "agentwrap hold $ledger/sock/" >/dev/null
}

# empty_folders removes the folders that installing made, where nothing else is
# in them: never HOME or the prefix itself.
empty_folders() {
	[[ -z $dry ]] || return 0
	local base folder
	for base in "$HOME" "$prefix"; do
		for folder in "$shims" "$units/timers.target.wants" "$units/default.target.wants" "$config/fish/conf.d" "$share/man/man1" "$share/zsh/site-functions" \
			"$share/bash-completion/completions" "$share/fish/vendor_completions.d" "$bin"; do
			if [[ $folder = "$base"/* && -d $folder ]]; then
				(cd "$base" && rmdir --ignore-fail-on-non-empty -p "${folder#"$base"/}")
			fi
		done
	done
}

# purge removes the ledger, what the run store holds of its sessions, and the
# settings. A folder that is no ledger stays, whatever AGENT_SESSIONS_DIR says,
# and so does what other programs keep in the run store.
purge() {
	local entry runs=${AGENT_RUN_HOME:-$HOME/.agent-run}
	for entry in "$ledger"/sessions/*.json; do
		entry=$(basename "$entry" .json)
		if [[ -d $runs/sessions/$entry ]]; then act "remove $runs/sessions/$entry" rm -rf "$runs/sessions/$entry"; fi
	done
	if [[ -z $dry ]]; then rmdir --ignore-fail-on-non-empty "$runs/sessions" "$runs" 2>/dev/null || true; fi
	if [[ -d $ledger/sessions && ! $ledger -ef $HOME ]]; then
		act "remove $ledger" rm -rf "$ledger"
	fi
	if [[ -d $config/agentwrap ]]; then act "remove $config/agentwrap" rm -rf "$config/agentwrap"; fi
}

uninstall() {
	local link file
	if [[ -n $purge ]] && alive; then
		die "sessions live: 'agent-sessions list' shows them. End them ('agent-sessions stop ID'), then purge"
	fi
	say 'Taking agentwrap away'
	if [[ -x $bin/agent-sessions ]]; then
		act 'agent-sessions hooks uninstall' "$bin/agent-sessions" hooks uninstall ||
			warn "hooks could not be taken out of the CLIs' settings; they name $bin/agent-sessions"
	fi
	if [[ -e $units/agent-session-sweep.timer && -z $dry ]]; then
		timeout 10 systemctl --user disable --now agent-session-sweep.timer 2>/dev/null || true
	fi
	remove "$units"/agent-session-sweep.{timer,service} "$units/timers.target.wants/agent-session-sweep.timer" \
		"$units/agent-session-reopen.service" "$units/default.target.wants/agent-session-reopen.service"
	for file in "$HOME"/.{bashrc,profile,bash_profile,bash_login} "$zdot"/.{zshrc,zshenv}; do
		remove_block "$file"
	done
	remove "$config/fish/conf.d/agentwrap.fish"
	for link in "$shims"/*; do
		[[ -L $link && $(readlink "$link") = "$bin/agentwrap" ]] || continue
		remove "$link"
	done
	remove "$share/bash-completion/completions/agent-sessions" "$share/zsh/site-functions/_agent-sessions" \
		"$share/fish/vendor_completions.d/agent-sessions.fish" "$bin/agent-sessions" "$bin/agentwrap"
	act "remove agent-sessions*.1 in $share/man/man1" rm -f "$share"/man/man1/agent-sessions{,-*}.1
	[[ -z $purge ]] || purge
	empty_folders
	[[ -n $purge ]] || say "The ledger stays in $ledger; --purge takes it too."
	[[ ! -d $runs ]] || say "The sessions' event logs and messages stay in $runs."
	[[ ! -d $scratches ]] || say "What the sessions left in their scratch folders stays in $scratches."
}
