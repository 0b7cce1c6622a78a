package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"agentwrap/internal/runtimes"
)

// knownShell is a shell whose start-up files install.sh keeps.
type knownShell struct {
	name, program string
	// flags start it as a terminal does, and as a login: bash reads other files
	// for each.
	flags []string
	// files below HOME tell that the user has it.
	files []string
}

var knownShells = []knownShell{
	{"bash", "bash", []string{"-i", "-c"}, []string{".bashrc", ".bash_profile", ".profile"}},
	{"bash at login", "bash", []string{"-i", "-l", "-c"}, []string{".bashrc", ".bash_profile", ".profile"}},
	{"zsh", "zsh", []string{"-i", "-l", "-c"}, []string{".zshrc", ".zprofile", ".zshenv"}},
	{"fish", "fish", []string{"-i", "-l", "-c"}, []string{".config/fish"}},
}

// isUsers tells whether the user has a shell: it is theirs, or they have files
// for it.
func (k knownShell) isUsers(getenv func(string) string) bool {
	return filepath.Base(getenv("SHELL")) == k.program || slices.ContainsFunc(k.files, func(name string) bool {
		_, err := os.Stat(filepath.Join(getenv("HOME"), name))
		return err == nil
	})
}

// marker ends what a start-up file may have printed.
const marker = "agentwrap-doctor:"

// What a shell is asked: fixed words, with the names as arguments of their own.
const (
	posixPath = `printf '` + marker + `%s\n' "$PATH"`
	fishPath  = `printf '` + marker + `%s\n' (string join : $PATH)`
	bashNames = `for n; do printf '` + marker + `%s %s\n' "$n" "$(type -t -- "$n")"; done`
	zshNames  = `for n; do printf '` + marker + `%s %s\n' "$n" "${$(whence -w -- "$n")##*: }"; done`
	fishNames = `for n in $argv; printf '` + marker + `%s %s\n' $n (type -t $n 2>/dev/null); end`
	// ownName is the argument that such a shell takes for its own name.
	ownName = "doctor"
)

var errSilent = errors.New("it said nothing")

// fresh is the environment of a terminal that is opened anew: what start-up
// files put on PATH is not there yet.
func (m Machine) fresh() Machine {
	shims := runtimes.ShimDir(m.Getenv)
	path := slices.DeleteFunc(filepath.SplitList(m.Getenv("PATH")), func(dir string) bool { return dir == shims })
	m.Environ = append(slices.Clone(m.Environ), "PATH="+strings.Join(path, string(filepath.ListSeparator)))
	return m
}

// shells asks this process's own PATH and each interactive shell of the user's.
func (m Machine) shells(ctx context.Context, names []string) []Shell {
	all := []Shell{{Name: "this terminal", Path: filepath.SplitList(m.Getenv("PATH"))}}
	for _, known := range knownShells {
		path, err := exec.LookPath(known.program)
		if err != nil || !known.isUsers(m.Getenv) {
			continue
		}
		sh := m.fresh().shell(ctx, known.program, append([]string{path}, known.flags...), names)
		sh.Name = known.name
		all = append(all, sh)
	}
	return all
}

// shell asks one shell, started by argv with what it shall run behind it.
func (m Machine) shell(ctx context.Context, name string, argv, names []string) Shell {
	sh := Shell{Bypass: map[string]string{}}
	script := posixPath
	if name == "fish" {
		script = fishPath
	}
	out, err := m.ask(ctx, argv[0], append(argv[1:len(argv):len(argv)], script)...)
	said := marked(out)
	if len(said) == 0 {
		if sh.Err = err; err == nil {
			sh.Err = errSilent
		}
		return sh
	}
	sh.Path = filepath.SplitList(said[0])
	out, _ = m.ask(ctx, argv[0], slices.Concat(argv[1:], namesScript(name), names)...)
	for _, line := range marked(out) {
		if word, kind, _ := strings.Cut(line, " "); kind == "alias" || kind == "function" {
			sh.Bypass[word] = "a shell " + kind
		}
	}
	return sh
}

func namesScript(shell string) []string {
	switch shell {
	case "fish":
		return []string{fishNames}
	case "zsh":
		return []string{zshNames, ownName}
	}
	return []string{bashNames, ownName}
}

// marked are the lines that are answers.
func marked(out string) (lines []string) {
	for line := range strings.Lines(out) {
		if answer, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), marker); ok {
			lines = append(lines, answer)
		}
	}
	return lines
}
