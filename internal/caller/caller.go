// Package caller tells which session a command was called from: by what the
// environment names, by the ledger, and by the nearest agent among the
// processes above. scratch, context, focus and claim ask it who they act for.
package caller

import (
	"slices"
	"strconv"

	"agentwrap/internal/enrol"
	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// levels bounds the search for an agent among the ancestors.
const levels = 32

// Look is what there is to look at.
type Look struct {
	Getenv func(string) string
	Ledger *ledger.Store // nil for none
	PID    int           // the process that asks
	PPID   int           // its parent
}

// Agent is a process that runs a session of an agent CLI.
type Agent struct {
	Runtime string
	process.Identity
}

// own are the variables in which the CLIs name the conversation to the
// processes they start, each with the name its sessions go by.
var own = []struct{ variable, name string }{
	{"CLAUDE_CODE_SESSION_ID", "claude-code"},
	{"CODEX_THREAD_ID", "codex"},
	{"CODEX_SESSION_ID", "codex"},
}

// Conversation is the id of the conversation that the environment names, and
// the variable that does; "" for none.
func (l Look) Conversation() (id, variable string) {
	for _, o := range own {
		if id = l.Getenv(o.variable); id != "" {
			return id, o.variable
		}
	}
	return "", ""
}

// Session is the identity of the calling session and where it was found: a
// variable's name, "ancestor" or "parent" (docs/scratch.md, "Which session").
func (l Look) Session() (session, from string) {
	if session = l.Getenv("OPENAGENTS_SESSION"); session != "" {
		return session, "OPENAGENTS_SESSION"
	}
	if row := l.Named(); row != nil {
		return row.LedgerID, "AGENT_LEDGER_ID"
	}
	for _, o := range own {
		if id := l.Getenv(o.variable); id != "" {
			return o.name + ":" + id, o.variable
		}
	}
	if a, ok := l.Agent(); ok {
		return a.Runtime + ":" + strconv.Itoa(a.PID), "ancestor"
	}
	return "process:" + strconv.Itoa(l.PPID), "parent"
}

// Named is the row that AGENT_LEDGER_ID names, nil for none.
func (l Look) Named() *ledger.Entry {
	if l.Ledger == nil {
		return nil
	}
	row, err := l.Ledger.Read(l.Getenv("AGENT_LEDGER_ID"))
	if err != nil {
		return nil
	}
	return row
}

// Row is the calling session's row: the one that AGENT_LEDGER_ID names, else
// the open one of the conversation that the environment names, else that of
// the nearest agent above; nil for none.
func (l Look) Row() *ledger.Entry {
	if row := l.Named(); row != nil || l.Ledger == nil {
		return row
	}
	if id, _ := l.Conversation(); id != "" {
		if row := l.open(func(e *ledger.Entry) bool { return carries(e, id) }); row != nil {
			return row
		}
	}
	if a, ok := l.Agent(); ok {
		fact := ledger.ProcessFact{BootID: a.BootID, PID: a.PID, StartTicks: a.StartTicks}
		return l.open(func(e *ledger.Entry) bool { return e.IsProcess(fact) })
	}
	return nil
}

// open is the newest row without an end that fits.
func (l Look) open(fits func(*ledger.Entry) bool) *ledger.Entry {
	ids, err := l.Ledger.IDs()
	if err != nil {
		return nil
	}
	var newest *ledger.Entry
	for _, id := range ids {
		e, err := l.Ledger.Read(id)
		if err != nil || e.FinishedAt != nil || !fits(e) {
			continue
		}
		if newest == nil || ledger.Value(newest.StartedAt).Before(ledger.Value(e.StartedAt).Time) {
			newest = e
		}
	}
	return newest
}

func carries(e *ledger.Entry, conversation string) bool {
	return ledger.Value(e.SessionID) == conversation ||
		slices.ContainsFunc(e.SessionIDs, func(c ledger.Conversation) bool { return c.ID == conversation })
}

// Agent is the nearest process above that runs a session of an agent CLI,
// covered by a shim or not. ok is false where there is none.
func (l Look) Agent() (a Agent, ok bool) {
	look := enrol.Look{Covered: l.isAgent(), Profiles: runtimes.KnownTo(l.Getenv).For}
	subject, err := look.Process(l.PID, "", nil)
	if err != nil {
		return Agent{}, false
	}
	level := 0
	for above := range subject.Ancestors {
		if level++; level > levels {
			break
		}
		if above.Runtime == "" {
			continue
		}
		id, err := process.Of(above.PID)
		return Agent{above.Runtime, id}, err == nil
	}
	return Agent{}, false
}

// RuntimeOf is the agent CLI that a process runs, "" for none. ok is false where
// its command line cannot be read.
func (l Look) RuntimeOf(pid int) (runtime string, ok bool) {
	argv, err := process.Cmdline(pid)
	if err != nil || len(argv) == 0 {
		return "", false
	}
	runtime, _, matches := runtimes.Match(argv, "", l.isAgent())
	if !matches {
		return "", true
	}
	return runtime, true
}

func (l Look) isAgent() func(name string) bool {
	// A shim folder that cannot be read leaves the CLIs that are known anyway.
	covered, _ := runtimes.Covered(runtimes.ShimDir(l.Getenv))
	return func(name string) bool { return runtimes.IsAgent(name) || slices.Contains(covered, name) }
}
