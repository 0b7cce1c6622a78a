// Package git is the one place that starts git, for whatever has to read a repository or add a ref to it
// without running a program of that repository's choosing and without disturbing its owner.
//
// Every command runs with optional locks off, hooks and the file system monitor off, no prompt, no network
// unless asked for, the inherited GIT_* variables cleared, the C locale, in a process group of its own and
// under a time limit. Commands of an opened [Repository] also have each configured filter switched off by name,
// because even `git status` starts the clean filters.
package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrAbsent says that no git is to be found on the PATH.
var ErrAbsent = errors.New("git is not installed or not on PATH")

// Runner starts git with an environment made safe. It is made by [New] and may be used from several goroutines.
type Runner struct {
	program string
	environ []string

	probing sync.Mutex
	version Version // zero until it is known
}

// New finds git on the PATH of environ (lines of the form NAME=value, as [os.Environ] gives them) and keeps
// environ, made safe, for every command. It returns [ErrAbsent] where there is no git.
func New(environ []string) (*Runner, error) {
	program := find(environ)
	if program == "" {
		return nil, ErrAbsent
	}
	return &Runner{program: program, environ: safe(environ)}, nil
}

// find gives the first executable git on the PATH of environ. Relative folders are passed over: what they name
// depends on where a session happens to stand.
func find(environ []string) string {
	for _, dir := range filepath.SplitList(lookup(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		program := filepath.Join(dir, "git")
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return program
		}
	}
	return ""
}

func lookup(environ []string, name string) string {
	value := ""
	for _, line := range environ {
		if v, ok := strings.CutPrefix(line, name+"="); ok {
			value = v
		}
	}
	return value
}

// safe drops what steers git or its messages and adds what keeps it quiet. HOME and XDG_CONFIG_HOME stay, so the
// user's own ignore rules, line endings and safe.directory hold.
func safe(environ []string) []string {
	kept := make([]string, 0, len(environ)+3)
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, "GIT_") || name == "LANGUAGE" || strings.HasPrefix(name, "LC_") {
			continue
		}
		kept = append(kept, line)
	}
	return append(kept, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
}

// offline keeps a partial clone from fetching what it lacks: a missing object is an error at once, never a wait
// for a remote.
const offline = "GIT_ALLOW_PROTOCOL=none"

// quiet is the configuration under which every command runs.
var quiet = []string{
	"core.fsmonitor=false",
	"core.hooksPath=/dev/null",
	"core.safecrlf=false",
	"core.splitIndex=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"submodule.recurse=false",
}

// Error is a git command that did not succeed.
type Error struct {
	// Command is git's subcommand, Dir the folder it ran in.
	Command, Dir string
	// Code is git's exit status, -1 where it did not exit by itself.
	Code int
	// Message is what git said, at most a few lines.
	Message string
	// Cause is why it was ended or could not be started, where it did not end by itself.
	Cause error
}

func (e *Error) Error() string {
	what := e.Message
	if e.Cause != nil {
		what = strings.TrimSpace(e.Cause.Error() + " " + what)
	}
	if what == "" {
		what = fmt.Sprintf("exit status %d", e.Code)
	}
	return fmt.Sprintf("git %s in %s: %s", e.Command, e.Dir, what)
}

func (e *Error) Unwrap() error { return e.Cause }
