package sweep

import (
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/runtimes"
)

// action is what a decision does.
type action string

const (
	// enrolProcess records a session that has no entry.
	enrolProcess action = "enrol"
	// bindProcess names the process of an entry.
	bindProcess action = "bind"
	// bindConversation names the conversation that a session carries.
	bindConversation action = "conversation"
	// stampTicks writes down what a process has used.
	stampTicks action = "stamp"
	// rescueWork snapshots what a dead session left uncommitted.
	rescueWork action = "rescue"
	// closeEntry ends an entry whose process is gone, after its rescue.
	closeEntry action = "close"
	// findHost looks for the multiplexer that a session sits in.
	findHost action = "host"
	// setAside moves a damaged file out of the way.
	setAside action = "set aside"
	// pruneEntry removes an entry that ended long ago.
	pruneEntry action = "prune"
)

// decision is one thing to do. Each is safe to repeat and checks again, under
// the entry's lock, what it rests on.
type decision struct {
	action
	id      string
	process process.Identity
	// conversation is what was found of the one it carries, where the entry had
	// sessionID.
	conversation *ledger.Conversation
	sessionID    string
	// candidate is the process to enrol.
	candidate candidate
	// ticks and active are what to stamp; active is null where nothing grew.
	ticks  uint64
	active *ledger.Stamp
	// reason and endedBy are what to close with.
	reason, endedBy string
}

// row is an entry with what was found of it.
type row struct {
	entry *ledger.Entry
	where ledger.Whereabouts
	// ticks are the cpu ticks of a running process; they count where read.
	ticks uint64
	read  bool
	// conversation is what the entry does not know yet of the one it carries.
	conversation *ledger.Conversation
}

// candidate is a process that runs a session of a covered runtime.
type candidate struct {
	process.Identity
	runtime string
	args    []string
	// owner is the open entry whose recorded process it is, "" for none.
	owner string
	// carries is the entry that its environment names, nil where there is none.
	carries *ledger.Entry
	// unreadable is why its environment cannot be read.
	unreadable error
}

// facts are all that a sweep decides by.
type facts struct {
	now        time.Time
	rows       []row
	candidates []candidate
	briefs     []ledger.Brief
	damaged    []ledger.Damaged
	// last is the last sweep that came to its end.
	last ledger.LastSweep
}

// Unverifiable is a process that may be a session which is enrolled already:
// its environment cannot be read.
type Unverifiable struct {
	PID     int    `json:"pid"`
	Runtime string `json:"runtime"`
	Why     string `json:"why"`
}

// judge compares entries and processes (docs/ledger.md, "The sweep"). It is
// pure; what it decides is carried out in this order.
func judge(f facts) (todo []decision, blind []Unverifiable) {
	bound := map[process.Identity]bool{}
	for _, r := range f.rows {
		if r.entry.FinishedAt == nil && !newer(r.entry) {
			todo = append(todo, judgeOpen(f.now, r)...)
			bound[r.where.Process] = true
		}
	}
	for _, c := range f.candidates {
		switch {
		case c.owner != "" || bound[c.Identity] || isProcessOf(c.carries, c.Identity):
		case c.unreadable != nil:
			blind = append(blind, Unverifiable{c.PID, c.runtime, c.unreadable.Error()})
		default:
			todo = append(todo, decision{action: enrolProcess, candidate: c})
		}
	}
	for _, r := range f.rows {
		if r.entry.FinishedAt != nil && owesRescue(r, rescuedSince(f)) {
			todo = append(todo, decision{action: rescueWork, id: r.entry.LedgerID})
		}
	}
	return append(todo, judgeFiles(f)...), blind
}

// newer tells an entry of a later version, which is shown and never written.
func newer(e *ledger.Entry) bool { return e.SchemaVersion > ledger.SchemaVersion }

func isProcessOf(e *ledger.Entry, id process.Identity) bool {
	return e != nil && e.IsProcess(ledger.ProcessFact{BootID: id.BootID, PID: id.PID, StartTicks: id.StartTicks})
}

func judgeOpen(now time.Time, r row) (todo []decision) {
	e, id := r.entry, r.entry.LedgerID
	if r.conversation != nil {
		todo = append(todo, decision{action: bindConversation, id: id, conversation: r.conversation, sessionID: ledger.Value(e.SessionID)})
	}
	switch r.where.Presence {
	case ledger.Running:
		rebound := !isProcessOf(e, r.where.Process)
		if rebound {
			todo = append(todo, decision{action: bindProcess, id: id, process: r.where.Process})
		}
		if e.HostSocket == nil && e.Mux.Kind == nil {
			todo = append(todo, decision{action: findHost, id: id, process: r.where.Process})
		}
		if d, ok := judgeTicks(now, r, rebound); ok {
			todo = append(todo, d)
		}
	case ledger.Gone:
		todo = append(todo, judgeGone(r)...)
	}
	return todo
}

// judgeTicks: the ticks speak only for a session without a transcript; a CLI
// that waits at its prompt uses some all the time.
func judgeTicks(now time.Time, r row, rebound bool) (decision, bool) {
	e := r.entry
	if !r.read || e.TranscriptPath != nil || e.CPUTicks != nil && *e.CPUTicks == r.ticks {
		return decision{}, false
	}
	d := decision{action: stampTicks, id: e.LedgerID, ticks: r.ticks}
	if !rebound && e.CPUTicks != nil && r.ticks > *e.CPUTicks {
		d.active = ledger.At(now)
	}
	return d, true
}

// The reasons with which a sweep closes.
const (
	reasonExited      = "process exited"
	reasonNothingLeft = "process exited, nothing was recorded to recover"
	reasonCleanExit   = "exited"
)

// judgeGone: only an entry that recorded a process can have lost it. One that
// never did is of a session that may be starting at this moment.
func judgeGone(r row) (todo []decision) {
	e := r.entry
	if e.PID == nil {
		return nil
	}
	if e.RescuedAt == nil {
		todo = append(todo, decision{action: rescueWork, id: e.LedgerID})
	}
	d := decision{action: closeEntry, id: e.LedgerID, endedBy: ledger.EndedByLoss}
	switch {
	case exitedCleanly(e):
		d.reason, d.endedBy = reasonCleanExit, ledger.EndedByUser
	case !runtimes.For(e.Runtime).EndHook:
		d.reason = reasonExited
	case e.SessionID == nil && e.TranscriptPath == nil:
		d.reason = reasonNothingLeft
	default:
		// It would have told of its end: this one is lost, and stays open.
		return todo
	}
	return append(todo, d)
}

func exitedCleanly(e *ledger.Entry) bool {
	return e.ExitStatus != nil && e.ExitStatus.Code != nil && *e.ExitStatus.Code == 0
}

// owesRescue: a hook or the host may have closed an entry before the sweep saw
// that its process was gone. What its user ended is left where it was left.
func owesRescue(r row, since time.Time) bool {
	e := r.entry
	return !newer(e) && e.PID != nil && e.RescuedAt == nil && r.where.Presence == ledger.Gone &&
		ledger.Value(e.EndedBy) != ledger.EndedByUser && e.FinishedAt.After(since.Add(-ledger.ClockSlack))
}

// firstRescue is how far back the very first sweep rescues closed entries.
const firstRescue = 24 * time.Hour

func rescuedSince(f facts) time.Time {
	if f.last.RescuedSince.IsZero() {
		return f.now.Add(-firstRescue)
	}
	return f.last.RescuedSince
}

// clockLeap is a time between two sweeps after which nothing is removed yet: a
// clock that is wrong for a moment must not end what is kept for a month.
const clockLeap = 24 * time.Hour

// judgeFiles: what is torn goes aside, what ended long ago goes.
func judgeFiles(f facts) (todo []decision) {
	for _, d := range f.damaged {
		todo = append(todo, decision{action: setAside, id: d.ID})
	}
	if since := f.now.Sub(f.last.CompletedAt); since > clockLeap || since < 0 {
		return todo
	}
	for _, r := range f.rows {
		if e := r.entry; e.FinishedAt != nil && !newer(e) && expired(*e.FinishedAt, f.now) {
			todo = append(todo, decision{action: pruneEntry, id: e.LedgerID})
		}
	}
	for _, b := range f.briefs {
		if expired(b.FinishedAt, f.now) {
			todo = append(todo, decision{action: pruneEntry, id: b.LedgerID})
		}
	}
	return todo
}

func expired(finished ledger.Stamp, now time.Time) bool {
	return now.Sub(finished.Time) > ledger.FinishedRetention
}
