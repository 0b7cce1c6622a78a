package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"agentwrap/internal/enrol"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
	"agentwrap/internal/statefile"
)

// lockWait is how long the sweep waits for one entry: whoever holds it longer
// is served by the next sweep.
const lockWait = 2 * time.Second

// carrier carries decisions out.
type carrier struct {
	*Sweeper
	ctx    context.Context
	view   *observe.View
	report *Report
	// unsaved are the entries whose rescue failed: they are not closed.
	unsaved map[string]bool
	// owed is when the earliest closed entry ended that is still owed a rescue.
	owed time.Time
}

func (c *carrier) carryOut(d decision) {
	var err error
	switch d.action {
	case enrolProcess:
		err = c.enrol(d.candidate)
	case bindProcess:
		err = c.bind(d)
	case bindConversation:
		err = c.bindConversation(d)
	case stampTicks:
		err = c.stamp(d)
	case findHost:
		err = c.host(d)
	case rescueWork:
		err = c.rescue(d.id)
	case closeEntry:
		err = c.close(d)
	case setAside:
		err = c.setAside(d.id)
	case pruneEntry:
		err = c.prune(d.id)
	}
	if err != nil && !errors.Is(err, ledger.ErrNoSession) && !errors.Is(err, process.ErrGone) {
		c.report.Failed = append(c.report.Failed, Failure{d.id, err.Error()})
	}
}

// enrol records a running session. What was seen of it is read once more: the
// process may be another one by now.
func (c *carrier) enrol(p candidate) error {
	subject, err := enrol.Look{Covered: c.Sources.Covered, Profiles: c.Sources.Profiles, Known: c.sessionOf, Recorded: c.Sources.Store.Has}.Process(p.PID, p.runtime, p.args)
	if err != nil || subject.Identity != p.Identity {
		return err
	}
	if !subject.Env.Readable {
		c.report.Unverifiable = append(c.report.Unverifiable, Unverifiable{p.PID, p.runtime, fmt.Sprintf("the environment of process %d cannot be read any more", p.PID)})
		return nil
	}
	e := enrol.Birth(subject)
	e.EnrolledBy = ledger.EnrolledByDiscovery
	e.PID, e.PIDStartTicks = ledger.Ptr(p.PID), ledger.Ptr(p.StartTicks)
	e.Interactive = ledger.Ptr(subject.Interactive())
	c.putHost(e)
	row, created, err := c.Sources.Store.Enrol(e, statefile.Synced)
	if err == nil && created {
		c.report.Enrolled = append(c.report.Enrolled, row.LedgerID)
	}
	return err
}

// sessionOf is the session that an ancestor is.
func (c *carrier) sessionOf(id process.Identity) string {
	if p, ok := c.view.Snapshot.Find(id.PID); ok && p.StartTicks == id.StartTicks {
		if owner := c.view.OwnerOf(p); owner != "" {
			return owner
		}
	}
	row, err := c.Sources.Store.Enrolled(ledger.ProcessFact{BootID: id.BootID, PID: id.PID, StartTicks: id.StartTicks})
	if err != nil {
		return ""
	}
	return row.LedgerID
}

// putHost fills in the multiplexer that an entry's process sits in.
func (c *carrier) putHost(e *ledger.Entry) (found bool) {
	if c.Panes == nil {
		return false
	}
	m, ok := procscan.FindMux(*e.PID, c.Panes)
	if !ok {
		return false
	}
	e.Mux = ledger.Mux{Kind: &m.Kind, Socket: &m.Socket, Target: ledger.Known(m.Target)}
	if m.Kind == procscan.Tmux {
		e.TmuxSession, e.TmuxSocket = &m.Target, &m.Socket
	}
	return true
}

func (c *carrier) host(d decision) error {
	if c.Panes == nil {
		return nil
	}
	// Outside of the entry's lock: a server may take its time.
	found := ledger.Entry{PID: &d.process.PID}
	if !c.putHost(&found) {
		return nil
	}
	return c.update(d.id, statefile.Soon, func(e *ledger.Entry) error {
		if e.Mux.Kind != nil || e.HostSocket != nil || !isProcessOf(e, d.process) {
			return ledger.ErrUnchanged
		}
		e.Mux, e.TmuxSession, e.TmuxSocket = found.Mux, found.TmuxSession, found.TmuxSocket
		return nil
	})
}

func (c *carrier) update(id string, d statefile.Durability, change func(*ledger.Entry) error) error {
	return c.Sources.Store.Update(id, ledger.UpdateOptions{Wait: lockWait, Durability: d}, change)
}

// bind names the process of an entry that has none, or whose wrapper is gone.
func (c *carrier) bind(d decision) error {
	bound := false
	err := c.update(d.id, statefile.Synced, func(e *ledger.Entry) error {
		alive, err := d.process.Alive()
		if err != nil || !alive || e.FinishedAt != nil || isProcessOf(e, d.process) || c.view.WhereIs(e).Process != d.process {
			return errors.Join(err, ledger.ErrUnchanged)
		}
		e.BootID, e.PID, e.PIDStartTicks = &d.process.BootID, &d.process.PID, &d.process.StartTicks
		e.CPUTicks, bound = nil, true
		return nil
	})
	if bound && err == nil {
		c.report.Bound = append(c.report.Bound, d.id)
	}
	return err
}

// bindConversation takes into an entry what was found of its conversation,
// unless a hook has told of another one meanwhile.
func (c *carrier) bindConversation(d decision) error {
	return c.update(d.id, statefile.Synced, func(e *ledger.Entry) error {
		if e.FinishedAt != nil || ledger.Value(e.SessionID) != d.sessionID {
			return ledger.ErrUnchanged
		}
		// Without a time: a sweep is no sign of life of the session's.
		if !ledger.Apply(e, ledger.Fact{Conversation: d.conversation, Begins: true}) {
			return ledger.ErrUnchanged
		}
		if last := &e.SessionIDs[len(e.SessionIDs)-1]; last.Since == nil {
			last.Since = ledger.At(c.Sources.Now())
		}
		return nil
	})
}

func (c *carrier) stamp(d decision) error {
	return c.update(d.id, statefile.Soon, func(e *ledger.Entry) error {
		if e.FinishedAt != nil || e.TranscriptPath != nil {
			return ledger.ErrUnchanged
		}
		e.CPUTicks = &d.ticks
		if d.active != nil {
			e.LastActiveAt = d.active
		}
		return nil
	})
}

// close ends an entry whose process is still gone and whose work is safe.
func (c *carrier) close(d decision) error {
	if c.unsaved[d.id] {
		return nil
	}
	closed := false
	err := c.update(d.id, statefile.Synced, func(e *ledger.Entry) error {
		if e.FinishedAt != nil || c.view.WhereIs(e).Presence != ledger.Gone {
			return ledger.ErrUnchanged
		}
		e.FinishedAt, e.FinishReason = ledger.At(c.Sources.Now()), &d.reason
		if e.EndedBy == nil {
			e.EndedBy = &d.endedBy
		}
		closed = true
		return nil
	})
	if closed && err == nil {
		c.report.Closed = append(c.report.Closed, ClosedRow{d.id, d.reason})
	}
	return err
}

func (c *carrier) setAside(id string) error {
	to, err := c.Sources.Store.SetAside(id, c.Sources.Now())
	if err == nil {
		c.report.SetAside = append(c.report.SetAside, to)
	}
	return err
}

func (c *carrier) prune(id string) error {
	now := c.Sources.Now()
	removed, err := c.Sources.Store.Remove(id, func(e *ledger.Entry) bool { return e.FinishedAt != nil && expired(*e.FinishedAt, now) })
	if removed {
		c.report.Pruned = append(c.report.Pruned, id)
	}
	return err
}

// syncRecent makes the entries durable that launches have written since the
// last sweep: a launch does not wait for the disk.
func (s *Sweeper) syncRecent(v *observe.View) {
	recent := slices.DeleteFunc(slices.Clone(v.Sessions), func(o *observe.Session) bool {
		return o.Entry.StartedAt != nil && o.Entry.StartedAt.Before(v.LastSweep.CompletedAt.Add(-ledger.ClockSlack))
	})
	for _, o := range recent {
		// One that is gone by now has nothing to lose; a failing disk shows in
		// the writes.
		_ = statefile.SyncFile(s.Sources.Store.EntryPath(o.Entry.LedgerID))
	}
	if len(recent) > 0 {
		_ = statefile.SyncDir(filepath.Dir(s.Sources.Store.EntryPath("x")))
	}
}
