package runtimes

import (
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

// Kind tells what a launch with these arguments (without the name) is.
func (p Profile) Kind(args []string) Kind {
	switch {
	case p.isService(args):
		return Service
	case p.isHeadless(args):
		return Headless
	}
	return Interactive
}

// IsService tells whether a process that runs exe (its program's path, "" where
// it is not known) with these arguments is no session.
func (p Profile) IsService(args []string, exe string) bool {
	return p.Kind(args) == Service || slices.ContainsFunc(p.ServiceFolders, func(dir string) bool { return strings.Contains(exe, "/"+dir) })
}

// IsDaemon tells whether a process with these arguments (without the name) is
// a daemon that several sessions may share.
func (p Profile) IsDaemon(args []string) bool {
	return slices.Contains(p.Daemons, p.command(args))
}

// isService: a list that is too wide hides real sessions. A prompt's words are
// no service, so that a word counts only where the CLI would see a command.
func (p Profile) isService(args []string) bool {
	if len(args) > 0 && slices.Contains([]string{"-v", "-V", "-h"}, args[0]) {
		return true
	}
	for i := range p.items(args) {
		if i.is("--version") || i.is("--help") || slices.ContainsFunc(p.ServiceFlags, i.matches) {
			return true
		}
	}
	return slices.Contains(p.Services, p.command(args))
}

func (p Profile) isHeadless(args []string) bool {
	screen, first := false, ""
	for i := range p.items(args) {
		switch {
		case i.isAny(p.HeadlessFlags):
			return true
		case i.isAny(p.ScreenFlags):
			screen = true
		case i.isWord() && first == "":
			first = i.name
		}
	}
	return !screen && first != "" && (p.HeadlessPrompt || slices.Contains(p.HeadlessWords, first))
}

// command is the first word where the CLI looks for a command: at the beginning
// or behind flags that are all known. "" is none.
func (p Profile) command(args []string) string {
	for i := range p.items(args) {
		if i.isWord() {
			return i.name
		}
		if i.flag == nil {
			return ""
		}
	}
	return ""
}

// InBackground tells whether an environment is that of a session which the CLI
// runs with no one before it, on a terminal that is nobody's.
func (p Profile) InBackground(getenv func(string) string) bool {
	name, value, ok := strings.Cut(p.Background, "=")
	return ok && getenv(name) == value
}
