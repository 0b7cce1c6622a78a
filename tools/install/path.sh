# shellcheck shell=bash
# The shims' place on PATH, in a marked block of each shell's own file; sourced
# by install.sh.

begin='# >>> agentwrap >>>' end='# <<< agentwrap <<<'

# quoted prints a word as sh, bash, zsh and fish all read it.
quoted() {
	local q="'\\''"
	printf "'%s'" "${1//\'/$q}"
}

posix_block() {
	cat <<TEXT
$begin
# The shims come first, so that 'claude' is recorded wherever it is typed.
case ":\$PATH:" in *:$(quoted "$bin"):*) ;; *) PATH=$(quoted "$bin"):\$PATH ;; esac
case "\$PATH:" in $(quoted "$shims"):*) ;; *) PATH=$(quoted "$shims"):\$PATH ;; esac
export PATH
$end
TEXT
}

# without_block FILE prints a file without the block.
without_block() {
	[[ ! -f $1 ]] || awk -v b="$begin" -v e="$end" '$0 == b { skip = 1 } !skip { print } $0 == e { skip = 0 }' "$1"
}

# add_block FILE puts the block, from standard input, at the end of a file.
add_block() {
	local file=$1 block mode=644
	block=$(cat)
	[[ ! -e $file ]] || mode=$(stat -Lc %a "$file")
	if [[ -e $file && ! -w $file ]]; then
		warn "$file cannot be written; add this to it yourself:"
		say "$block" >&2
		return
	fi
	{
		without_block "$file"
		say "$block"
	} | put "$mode" "$file"
}

remove_block() {
	[[ -f $1 ]] && grep -qxF "$begin" "$1" || return 0
	if [[ -n $(without_block "$1") ]]; then
		without_block "$1" | put "$(stat -Lc %a "$1")" "$1"
	else
		act "remove $1, which held nothing else" rm -f "$1"
	fi
}

# uses SHELL tells whether this user has that shell or its files.
uses() {
	local shell=$1 file
	shift
	[[ ${SHELL##*/} != "$shell" ]] || return 0
	for file in "$@"; do
		[[ ! -e $file ]] || return 0
	done
	return 1
}

zdot=${ZDOTDIR:-$HOME}

# bash_login prints the one file that a login bash reads.
bash_login() {
	local file
	for file in .bash_profile .bash_login; do
		if [[ -e $HOME/$file ]]; then
			say "$HOME/$file"
			return
		fi
	done
	say "$HOME/.profile"
}

install_path() {
	say 'PATH'
	posix_block | add_block "$(bash_login)"
	if uses bash "$HOME/.bashrc"; then
		posix_block | add_block "$HOME/.bashrc"
	fi
	if uses zsh "$zdot/.zshrc" "$zdot/.zshenv"; then
		{
			posix_block | sed '$d'
			say "fpath=($(quoted "$share/zsh/site-functions") \$fpath)"
			say "$end"
		} | add_block "$zdot/.zshenv"
		posix_block | add_block "$zdot/.zshrc"
	fi
	if uses fish "$config/fish"; then
		put 644 "$config/fish/conf.d/agentwrap.fish" <<TEXT
# The shims come first, so that 'claude' is recorded wherever it is typed.
contains -- $(quoted "$bin") \$PATH; or set -gx PATH $(quoted "$bin") \$PATH
test "\$PATH[1]" = $(quoted "$shims"); or set -gx PATH $(quoted "$shims") \$PATH
TEXT
	fi
}
