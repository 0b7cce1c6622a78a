// Package launch is the journey of a typed `claude`: it records a session's
// birth and starts the real CLI, hosted or in place. It is the shim's whole
// work. Whatever fails here, the CLI still starts.
package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentwrap/internal/become"
	"agentwrap/internal/ledger"
	"agentwrap/internal/realcli"
	"agentwrap/internal/runtimes"
)

// Exit codes of a launch that found nothing to start, as a shell has them.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// self is this program as the kernel knows it, whatever name it was called by.
const self = "/proc/self/exe"

// Run starts the CLI that argv[0] names and returns only when it has ended
// elsewhere (a hosted session) or could not be started: the exit code for this
// process. It does not return when it became the CLI or died by its signal.
func Run(argv, environ []string) int {
	name := filepath.Base(argv[0])
	known := runtimes.KnownTo(environment(environ).get)
	l := launch{
		name: name, argv: argv, env: environment(environ), stderr: os.Stderr,
		profiles: known.For, profile: known.For(name),
		found: realcli.Find(name, searchPath(environment(environ)), self),
	}
	if len(l.found.Candidates) == 0 {
		l.say(l.found.Explain())
		return exitNotFound
	}
	l.kind = l.profile.Kind(argv[1:])
	if l.kind == runtimes.Service || l.env.get("AGENTWRAP_DISABLE") == "1" {
		return l.inPlace()
	}
	if depth := l.reentries(); depth > 0 {
		return l.passThrough(depth)
	}
	return l.session()
}

// session records the session's birth and starts it, hosted or in place.
func (l *launch) session() int {
	l.inject()
	l.recordBirth()
	if l.host {
		code, err := l.hosted()
		switch {
		case err == nil:
			return code
		case l.detached:
			l.say("not started: " + err.Error() + "; see: agent-sessions doctor")
			l.recordNotStarted()
			return exitCannotRun
		}
		l.warn("this session ends with its terminal: " + err.Error())
		l.recordInPlace()
	}
	code := l.inPlace()
	l.recordNotStarted()
	return code
}

// launch is one launch under way.
type launch struct {
	name     string
	argv     []string
	env      environment
	profiles runtimes.Profiles
	profile  runtimes.Profile
	kind     runtimes.Kind
	found    realcli.Found
	stderr   *os.File

	store *ledger.Store
	// entry is the birth record; recorded tells that it is in the ledger.
	entry    *ledger.Entry
	recorded bool
	// unrecorded is why it is not.
	unrecorded error
	// host tells that the CLI is to be hosted, detached that it is to have no
	// terminal, warned that the one line has been said.
	host     bool
	detached bool
	warned   bool
}

// defaultPath is where programs are when there is no PATH, as execvp has it.
const defaultPath = "/bin:/usr/bin"

func searchPath(env environment) string {
	if path, ok := env.lookup("PATH"); ok {
		return path
	}
	return defaultPath
}

// inPlace becomes the CLI: the first candidate that can be exec'd. It returns
// when none can.
func (l *launch) inPlace() int {
	spec := become.Capture()
	spec.Argv, spec.Env = l.argv, l.env
	var tried []string
	for _, path := range l.found.Candidates {
		spec.Path = path
		tried = append(tried, become.InPlace(spec).Error())
	}
	for _, p := range l.found.Passed {
		tried = append(tried, fmt.Sprintf("%s is %s", p.Path, p.Why))
	}
	l.say("nothing on PATH could be started: " + strings.Join(tried, "; "))
	return exitCannotRun
}

// say tells the person at the keyboard one thing, in one line.
func (l *launch) say(what string) {
	fmt.Fprintf(l.stderr, "agentwrap: %s: %s\n", harmless(l.name), harmless(what))
}

// warn tells of something of ours that failed, at most once a launch and only
// a person at a terminal: a script's output stays the CLI's own.
func (l *launch) warn(what string) {
	if !l.warned && isTerminal(int(l.stderr.Fd())) {
		l.say(what)
	}
	l.warned = true
}

// harmless makes text that came from outside safe for a terminal. The listing
// programs have a fuller form; here a line of plain text is enough.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}
