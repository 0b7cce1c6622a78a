package hookadopt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentwrap/internal/enrol"
	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/statefile"
)

// claimed is the pid that the CLI gave this hook. A CLI that gives none may
// stand below one that does, whose variables it only passes on: then the
// conversation that they name is another one than the event's.
func (h *hook) claimed() int {
	if h.idVar != "" && h.payload.conversation != "" {
		if id := h.env.get(h.idVar); id != "" && id != h.payload.conversation {
			return 0
		}
	}
	pid, err := strconv.Atoi(h.env.get(h.pidVar))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// find is the row of the session whose process o is, nil where it has none. The
// process comes with it where the row does not know it yet.
func (h *hook) find(o owner) (row *ledger.Entry, adopted *ledger.ProcessFact, err error) {
	facts, err := processFacts(o)
	if err != nil {
		return nil, nil, err
	}
	row, err = h.store.Read(h.env.get("AGENT_LEDGER_ID"))
	switch {
	case errors.Is(err, ledger.ErrNoSession):
	case err != nil:
		return nil, nil, err
	case slices.ContainsFunc(facts, row.IsProcess):
		return row, nil, nil
	case h.launched(row, o):
		return row, &facts[len(facts)-1], nil
	}
	for _, f := range facts {
		if row, err := h.store.Enrolled(f); !errors.Is(err, ledger.ErrNoSession) {
			return row, nil, err
		}
	}
	return nil, nil, nil
}

func processFacts(o owner) ([]ledger.ProcessFact, error) {
	boot, err := process.BootID()
	if err != nil {
		return nil, err
	}
	var facts []ledger.ProcessFact
	for _, st := range o.processes {
		facts = append(facts, ledger.ProcessFact{BootID: boot, PID: st.PID, StartTicks: st.StartTicks})
	}
	return facts, nil
}

// launched tells whether a row that has no process yet is that of o: its
// launcher became o or stands above it. Anything else that carries the row's id
// only inherited it.
func (h *hook) launched(row *ledger.Entry, o owner) bool {
	if row.PID != nil || row.LauncherPID == nil || row.FinishedAt != nil || row.Runtime != h.runtime {
		return false
	}
	launcher := *row.LauncherPID
	if slices.ContainsFunc(o.processes, func(st process.Stat) bool { return st.PID == launcher }) {
		return true
	}
	for st := range process.Ancestors(o.outermost().PID) {
		if st.PID == launcher {
			return true
		}
	}
	return false
}

// enrol makes a row for a session that has none, with what the event says in it.
// created is false where another hook or the sweep was first.
func (h *hook) enrol(o owner, f ledger.Fact) (row *ledger.Entry, created bool, err error) {
	outermost := o.outermost()
	look := enrol.Look{Covered: h.isAgent, Profiles: runtimes.KnownTo(h.env.get).For, Known: h.enrolledAs, Recorded: h.store.Has}
	subject, err := look.Process(outermost.PID, h.runtime, o.args)
	if err != nil {
		return nil, false, err
	}
	e := enrol.Birth(subject)
	e.EnrolledBy = ledger.EnrolledByHook
	e.PID, e.PIDStartTicks = ledger.Ptr(outermost.PID), ledger.Ptr(outermost.StartTicks)
	e.Interactive = ledger.Ptr(subject.Interactive())
	ledger.Apply(e, f)
	return h.store.Enrol(e, statefile.Synced)
}

func (h *hook) isAgent(name string) bool {
	// A shim folder that cannot be read leaves the CLIs that are known anyway.
	covered, _ := runtimes.Covered(runtimes.ShimDir(h.env.get))
	return runtimes.IsAgent(name) || slices.Contains(covered, name)
}

// enrolledAs is the session that an ancestor is, for the parent of a new row.
func (h *hook) enrolledAs(id process.Identity) string {
	row, err := h.store.Enrolled(ledger.ProcessFact{BootID: id.BootID, PID: id.PID, StartTicks: id.StartTicks})
	if err != nil {
		return ""
	}
	return row.LedgerID
}

// byConversation is the one open row that already carries the event's
// conversation, for a call by a service, which proves no process.
func (h *hook) byConversation() (*ledger.Entry, error) {
	ids, err := h.store.IDs()
	if err != nil {
		return nil, err
	}
	var found *ledger.Entry
	for _, id := range ids {
		if h.payload.conversation == "" || !strings.HasPrefix(id, h.runtime+"-") {
			continue
		}
		if h.Now().After(h.began.Add(lockUntil)) {
			return nil, fmt.Errorf("look for conversation %s: not found in time", h.payload.conversation)
		}
		row, err := h.store.Read(id)
		if err != nil || row.FinishedAt != nil || ledger.Value(row.SessionID) != h.payload.conversation {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("conversation %s is carried by %s and %s", h.payload.conversation, found.LedgerID, row.LedgerID)
		}
		found = row
	}
	if found == nil {
		return nil, fmt.Errorf("conversation %s: %w", h.payload.conversation, ledger.ErrNoSession)
	}
	return found, nil
}
