package runtimes

import (
	"path/filepath"
	"slices"
	"strings"
)

// Match names the runtime that a process with these arguments is an instance
// of, and gives the arguments after its name. exe is the program's own path
// where it is known, "" otherwise. A script is found behind its interpreter.
func Match(argv []string, exe string, covered func(name string) bool) (name string, args []string, ok bool) {
	if len(argv) == 0 {
		return "", nil, false
	}
	if name = programName(argv[0]); covered(name) && genuine(name, argv, exe) {
		return name, afterScript(argv, exe), true
	}
	if !slices.Contains(interpreters, name) {
		return "", nil, false
	}
	script := scriptIndex(argv)
	if script == 0 {
		return "", nil, false
	}
	name = programName(argv[script])
	return name, argv[script+1:], covered(name) && genuine(name, argv, exe)
}

// programName is a program's name without what packaging adds: claude.exe is
// claude, .kilo is kilo.
func programName(path string) string {
	return strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), ".")
}

// cursorFolder is below which Cursor's CLI is installed.
const cursorFolder = "cursor-agent/versions/"

// genuine guards a name that other programs have too: `agent` is cursor's only
// when it runs from cursor's own folder.
func genuine(name string, argv []string, exe string) bool {
	return name != "agent" || strings.Contains(exe, cursorFolder) || strings.Contains(argv[0], cursorFolder) || strings.Contains(argv[scriptIndex(argv)], cursorFolder)
}

// afterScript are the arguments of a program that has the CLI's name: those
// behind its script where the name was only put on an interpreter (exec -a).
func afterScript(argv []string, exe string) []string {
	if i := scriptIndex(argv); i > 0 && (slices.Contains(interpreters, programName(exe)) || strings.Contains(argv[i], cursorFolder)) {
		return argv[i+1:]
	}
	return argv[1:]
}

var interpreters = []string{"node", "nodejs", "bun", "deno", "sh", "bash", "dash", "zsh", "python", "python3"}

// interpreterValueFlags take the next argument as their value.
var interpreterValueFlags = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "-O", "-o", "-W", "-X"}

// scriptIndex finds the script an interpreter runs, 0 for none: code given on
// the command line is no script.
func scriptIndex(argv []string) int {
	for i := 1; i < len(argv); i++ {
		switch arg := argv[i]; {
		case arg == "-e" || arg == "--eval" || arg == "-c" || arg == "-p" || arg == "--print" || arg == "-m" || arg == "-":
			return 0
		case arg == "--":
			if i+1 < len(argv) {
				return i + 1
			}
			return 0
		case slices.Contains(interpreterValueFlags, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return i
		}
	}
	return 0
}
