// Package runtimes says what each agent CLI is, one file each: which process is
// one, which of its words are maintenance, what runs without a terminal, where
// its conversation's id stands. Everyone who treats one CLI otherwise than
// another asks here. What the shim needs is plain data and small functions.
package runtimes

import (
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what a launch with given arguments is.
type Kind int

const (
	Interactive Kind = iota // a session that wants a terminal
	Headless                // a session that runs to its end by itself
	Service                 // maintenance, a daemon, --version: no session
)

// Profile is what is known of one CLI. The zero value of a field means that
// the CLI has nothing of the kind.
type Profile struct {
	// Name is the runtime: the name its symlink in the shim folder has.
	Name string
	// Services are first words that are maintenance, not sessions.
	Services []string
	// Daemons are first words that run a daemon which several sessions may
	// share: it is never ended with one of them.
	Daemons []string
	// ServiceFlags are first flags that are not sessions, each to the letter or,
	// ending in *, as a prefix.
	ServiceFlags []string
	// ServiceFolders are folders, ending in /, whose programs are daemons.
	ServiceFolders []string
	// Headless tells whether the arguments after the name ask for a run
	// without a screen. nil: never.
	Headless func(args []string) bool
	// ResumeID is the conversation that the arguments name, "" for none.
	ResumeID func(args []string) string
	// ConfigHomeVar is the variable that moves the CLI's own folder.
	ConfigHomeVar string
	// ConfigHome is that folder's default, below HOME.
	ConfigHome string
	// EndHook tells that the CLI itself reports how a session ended, so that
	// a process that is gone without a report was lost.
	EndHook bool
}

// notSessions are the flags that no CLI opens a session for.
var notSessions = []string{"--version", "-v", "-V", "--help", "-h"}

// commonServices are the contract's words, for a CLI that has no list of its own.
var commonServices = []string{"daemon", "mcp", "install", "update", "doctor", "config", "migrate-installer", "setup-token", "login", "logout", "completion"}

// For is the profile of a runtime: its own, or the generic one under its name.
func For(name string) Profile {
	for _, known := range profiles {
		if p := known(); p.Name == name {
			return p
		}
	}
	return Profile{Name: name, Services: commonServices}
}

// IsAgent tells whether a name is one that agents' processes have, covered or
// not: that of a CLI with a profile of its own, or one that the public contract
// of the scratch folders names besides (docs/scratch.md).
func IsAgent(name string) bool {
	return slices.Contains([]string{"coder", "microcoder", "devin", "grok", "aider", "goose"}, name) ||
		slices.ContainsFunc(profiles, func(known func() Profile) bool { return known().Name == name })
}

// profiles are functions, so that a launch builds the one it needs.
var profiles = []func() Profile{claude, codex, gemini, opencode, cursorAgent, copilot, qwen, kilo, amp, auggie, continueDev}

// Names are the runtimes that have a profile of their own.
func Names() []string {
	var names []string
	for _, known := range profiles {
		names = append(names, known().Name)
	}
	return names
}

// IsKnown tells whether a runtime has a profile of its own.
func IsKnown(name string) bool { return slices.Contains(Names(), name) }

// IsDaemon tells whether a process with these arguments (without the name) is
// a daemon that several sessions may share.
func (p Profile) IsDaemon(args []string) bool {
	return len(args) > 0 && slices.Contains(p.Daemons, args[0])
}

// Kind tells what a launch with these arguments (without the name) is.
func (p Profile) Kind(args []string) Kind {
	switch {
	case len(args) > 0 && (slices.Contains(p.Services, args[0]) || p.serviceFlag(args[0])):
		return Service
	case p.Headless != nil && p.Headless(args):
		return Headless
	}
	return Interactive
}

// IsService tells whether a process that runs exe (its program's path, "" where
// it is not known) with these arguments is no session.
func (p Profile) IsService(args []string, exe string) bool {
	return p.Kind(args) == Service || slices.ContainsFunc(p.ServiceFolders, func(dir string) bool { return strings.Contains(exe, "/"+dir) })
}

func (p Profile) serviceFlag(arg string) bool {
	if slices.Contains(notSessions, arg) {
		return true
	}
	return slices.ContainsFunc(p.ServiceFlags, func(flag string) bool {
		prefix, isPrefix := strings.CutSuffix(flag, "*")
		return arg == flag || isPrefix && strings.HasPrefix(arg, prefix) || strings.HasPrefix(arg, flag+"=")
	})
}

// Match names the runtime that a process with these arguments is an instance
// of, and gives the arguments after its name. exe is the program's own path
// where it is known, "" otherwise. A script is found behind its interpreter.
func Match(argv []string, exe string, covered func(name string) bool) (name string, args []string, ok bool) {
	if len(argv) == 0 {
		return "", nil, false
	}
	if name = programName(argv[0]); covered(name) && genuine(name, argv[0], exe) {
		return name, argv[1:], true
	}
	if !interpreters[name] {
		return "", nil, false
	}
	script := scriptIndex(argv)
	if script == 0 {
		return "", nil, false
	}
	name = programName(argv[script])
	return name, argv[script+1:], covered(name) && genuine(name, argv[script], exe)
}

// programName is a program's name without what packaging adds: claude.exe is
// claude, .kilo is kilo.
func programName(path string) string {
	return strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), ".")
}

// genuine guards a name that other programs have too: `agent` is cursor's only
// when it runs from cursor's own folder.
func genuine(name, path, exe string) bool {
	const home = "cursor-agent/versions/"
	return name != "agent" || strings.Contains(path, home) || strings.Contains(exe, home)
}

var interpreters = map[string]bool{"node": true, "nodejs": true, "bun": true, "deno": true, "sh": true, "bash": true, "dash": true, "zsh": true, "python": true, "python3": true}

// interpreterValueFlags take the next argument as their value.
var interpreterValueFlags = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "-e", "--eval", "-c", "-p", "--print", "-m", "-O", "-o", "-W", "-X"}

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
