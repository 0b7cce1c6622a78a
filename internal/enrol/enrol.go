// Package enrol makes a ledger entry out of what can be proved about one
// process: the same for the shim, which enrols itself before it becomes the
// CLI, and for hooks and the sweep, which find a process that already runs.
package enrol

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentwrap/internal/gitfacts"
	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// Subject is the process to enrol and what was read of it. An empty field is
// not known.
type Subject struct {
	Runtime string
	// Profiles are its user's.
	Profiles runtimes.Profiles
	// Args are the arguments after the runtime's name.
	Args     []string
	Env      Environment
	CWD      string
	TTY      string
	Started  time.Time
	Identity process.Identity
	// Ancestors are the processes above it, nearest first; they are looked at
	// only as far as they are asked for.
	Ancestors iter.Seq[Ancestor]
	// Cgroup reads the path of the process's cgroup, "" where it has none.
	Cgroup func() string
}

// Unseen is a subject of which nothing can be seen but its environment.
func Unseen(runtime string, environ []string, now time.Time) Subject {
	return Subject{
		Runtime: runtime, Started: now, Env: ReadEnvironment(environ),
		Ancestors: func(func(Ancestor) bool) {}, Cgroup: func() string { return "" },
	}
}

// Ancestor is one process above the subject.
type Ancestor struct {
	PID  int
	Comm string
	// Runtime is the covered CLI this process is a session of, "" for another.
	Runtime string
	// LedgerID is the session that this process is known to be, "" for none.
	LedgerID string
}

// Environment is a process's environment. One that could not be read proves
// nothing, not even that a variable is absent.
type Environment struct {
	Readable bool
	vars     []string
}

// ReadEnvironment is an environment that was read, one KEY=VALUE each.
func ReadEnvironment(vars []string) Environment { return Environment{true, vars} }

// Get is the value of a variable, the first where there are two, "" for none.
func (e Environment) Get(name string) string {
	for _, v := range e.vars {
		if key, value, ok := strings.Cut(v, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Birth is the new entry of a session, all but how it was enrolled, its host
// and its id. What is not proved is null.
func Birth(s Subject) *ledger.Entry {
	profile := s.Profiles.For(s.Runtime)
	e := &ledger.Entry{
		Runtime:    s.Runtime,
		StartedAt:  ledger.At(s.Started),
		Host:       hostname(),
		BootID:     ledger.Known(s.Identity.BootID),
		MachineID:  ledger.Known(process.Machine()),
		TTY:        ledger.Known(s.TTY),
		Account:    ledger.Known(account(s.Env)),
		ConfigHome: ledger.Known(configHome(profile, s.Env)),
		Scratch:    ledger.Known(s.Env.Get("OPENAGENTS_SCRATCH")),
		Flags:      profile.KeptFlags(s.Args),
	}
	PlaceOf(s.CWD).Put(e)
	fillLauncher(e, launcher(s))
	bindResumed(e, profile.ResumeID(s.Args))
	return e
}

func hostname() *string {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	return ledger.Known(name)
}

// PlaceOf is a working directory with the repository around it, as its files
// tell.
func PlaceOf(cwd string) ledger.Place {
	p := ledger.Place{CWD: ledger.Known(cwd)}
	if cwd == "" {
		return p
	}
	if git := gitfacts.At(cwd); git.Root != "" {
		p.RepoRoot, p.Project, p.Branch = ledger.Known(git.Root), ledger.Known(git.Project), ledger.Known(git.Branch)
		p.Worktree, p.GitCommonDir = ledger.Ptr(git.Worktree), ledger.Known(git.CommonDir)
	}
	return p
}

func bindResumed(e *ledger.Entry, id string) {
	if id == "" {
		return
	}
	e.SessionID = ledger.Ptr(id)
	e.SessionIDs = []ledger.Conversation{{ID: id, Since: e.StartedAt}}
}

// account is the seat whose folder the CLI works in: the slug behind /accounts/
// in the first of the variables that holds one.
func account(env Environment) string {
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "HOME"} {
		if _, after, ok := strings.Cut(env.Get(name)+"/", "/accounts/"); ok {
			if slug, _, _ := strings.Cut(after, "/"); slug != "" {
				return slug
			}
		}
	}
	return ""
}

// configHome is the CLI's own folder where the environment moved it away from
// the default.
func configHome(p runtimes.Profile, env Environment) string {
	if p.ConfigHomeVar == "" {
		return ""
	}
	dir := env.Get(p.ConfigHomeVar)
	if dir == "" || filepath.Clean(p.Folder(dir, "")) == p.Folder("", env.Get("HOME")) {
		return ""
	}
	return dir
}
