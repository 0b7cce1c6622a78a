// Package sweep compares the ledger, the kernel and the hosts once: it enrols
// sessions that have no entry, binds processes, closes what is gone after
// saving its work, removes what is old, and tells the user of what was lost. A
// pure judge decides, thin hands carry out, and everything may be repeated.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"agentwrap/internal/attend"
	"agentwrap/internal/ledger"
	"agentwrap/internal/notify"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
	"agentwrap/internal/statefile"
	"agentwrap/internal/tidy"
)

// Sweeper is what a sweep works with.
type Sweeper struct {
	Sources observe.Sources
	// Panes asks a multiplexer's server for its panes. nil: none is found.
	Panes procscan.Panes
	// Rescue saves what a dead session left uncommitted. nil: nothing is saved
	// and nothing is closed that should have been.
	Rescue Rescue
	// Notify tells the user. nil: nobody is told.
	Notify *notify.Notifier
	// Attend gives running sessions what they are owed: messages that wait, an end
	// when they have been idle for long enough. nil: nothing is.
	Attend func(context.Context) (attend.Report, error)
	// Tidy removes what sessions that are over left behind, when it is time to;
	// done is false where it is not. nil: nothing is removed.
	Tidy func() (report tidy.Report, done bool, err error)
}

// Report is what one sweep did.
type Report struct {
	// Busy tells that another sweep was running: this one did nothing.
	Busy     bool         `json:"busy"`
	Enrolled []string     `json:"enrolled"`
	Bound    []string     `json:"bound"`
	Rescued  []RescuedRow `json:"rescued"`
	Closed   []ClosedRow  `json:"closed"`
	SetAside []string     `json:"setAside"`
	Pruned   []string     `json:"pruned"`
	Notified []string     `json:"notified"`
	// Attended is what running sessions were given.
	Attended *attend.Report `json:"attended"`
	// Tidied is what was removed besides, null where it was not time to look.
	Tidied       *tidy.Report   `json:"tidied"`
	Unverifiable []Unverifiable `json:"unverifiable"`
	Failed       []Failure      `json:"failed"`
}

// RescuedRow is a session whose work was saved; Ref is "" where there was none.
type RescuedRow struct {
	ID  string `json:"ledgerId"`
	Ref string `json:"rescueRef"`
}

// ClosedRow is an entry that was closed.
type ClosedRow struct {
	ID     string `json:"ledgerId"`
	Reason string `json:"finishReason"`
}

// Failure is what could not be done this time, for a session or, with an empty
// ID, for none. It is tried again.
type Failure struct {
	ID  string `json:"ledgerId"`
	Why string `json:"why"`
}

func (f Failure) String() string {
	if f.ID == "" {
		return f.Why
	}
	return "session " + f.ID + ": " + f.Why
}

// lockName is the lock of the one sweep at a time.
const lockName = "sweep.lock"

// Run sweeps once. Another sweep at work is no error: Report.Busy. It fails
// with procscan.ErrNamespace in a nested user namespace, where environments
// that cannot be read prove nothing.
func (s *Sweeper) Run(ctx context.Context) (Report, error) {
	r := newReport()
	if err := procscan.InHostNamespace(); err != nil {
		return r, err
	}
	lock, err := s.lock()
	if errors.Is(err, statefile.ErrLocked) {
		r.Busy = true
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("begin a sweep: %w", err)
	}
	defer lock.Release()
	began := s.Sources.Now()
	if err := s.noteBeginning(began, &r); err != nil {
		return r, fmt.Errorf("begin a sweep: %w", err)
	}
	view, err := observe.All(ctx, s.Sources, observe.Want{})
	if err != nil {
		return r, fmt.Errorf("sweep: %w", err)
	}
	todo, blind := judge(s.facts(view, began))
	r.Unverifiable = append(r.Unverifiable, blind...)
	c := carrier{Sweeper: s, ctx: ctx, view: view, report: &r, unsaved: map[string]bool{}}
	for _, d := range todo {
		if ctx.Err() != nil {
			return r, fmt.Errorf("sweep: %w", ctx.Err())
		}
		c.carryOut(d)
	}
	s.syncRecent(view)
	s.removeLeftovers(began)
	err = s.Sources.Store.NoteSweep(ledger.LastSweep{BegunAt: began, CompletedAt: s.Sources.Now(), RescuedSince: c.rescuedUpTo(began)})
	if err != nil {
		return r, fmt.Errorf("sweep: %w", err)
	}
	err = s.tell(ctx, &r)
	s.attend(ctx, &r)
	s.tidyUp(ctx, &r)
	return r, err
}

func (s *Sweeper) attend(ctx context.Context, r *Report) {
	if s.Attend == nil {
		return
	}
	report, err := s.Attend(ctx)
	if err != nil {
		r.Failed = append(r.Failed, Failure{Why: err.Error()})
	}
	r.Attended = &report
	for _, why := range report.Failed {
		r.Failed = append(r.Failed, Failure{Why: why})
	}
}

// tidyUp comes last: it may take long.
func (s *Sweeper) tidyUp(ctx context.Context, r *Report) {
	if s.Tidy == nil {
		return
	}
	report, done, err := s.Tidy()
	if err != nil {
		r.Failed = append(r.Failed, Failure{Why: err.Error()})
	}
	if !done {
		return
	}
	r.Tidied = &report
	for _, why := range report.Failed {
		r.Failed = append(r.Failed, Failure{Why: why})
	}
	if s.Notify == nil {
		return
	}
	for _, l := range report.Large {
		s.Notify.Say(ctx, notify.Notice{
			LedgerID: l.Session, Event: notify.Large, Summary: "A scratch folder has grown large",
			Text: fmt.Sprintf("%s of session %s holds %d MB. See them all with: agent-sessions scratch list", l.Path, l.Session, l.Bytes>>20),
		})
		r.Notified = append(r.Notified, notify.Large+" "+l.Session)
	}
}

// noteBeginning keeps others from starting a sweep while this one is at work. A
// torn sweep.json is set aside: the sweep begins as if it were the first.
func (s *Sweeper) noteBeginning(at time.Time, r *Report) error {
	store := s.Sources.Store
	last, err := store.LastSweep()
	if errors.Is(err, ledger.ErrDamaged) {
		var to string
		to, err = store.SetSweepAside(at)
		r.SetAside = append(r.SetAside, to)
	}
	if err != nil {
		return err
	}
	last.BegunAt = at
	return store.NoteSweep(last)
}

func newReport() Report {
	return Report{Enrolled: []string{}, Bound: []string{}, Rescued: []RescuedRow{}, Closed: []ClosedRow{}, SetAside: []string{}, Pruned: []string{},
		Notified: []string{}, Unverifiable: []Unverifiable{}, Failed: []Failure{}}
}

func (s *Sweeper) lock() (*statefile.Lock, error) {
	dir := s.Sources.Store.Dir()
	if err := statefile.MakeDir(dir); err != nil {
		return nil, err
	}
	return statefile.Acquire(filepath.Join(dir, lockName), 0)
}

// facts are what a view tells the judge.
func (s *Sweeper) facts(v *observe.View, now time.Time) facts {
	f := facts{now: now, briefs: v.Briefs, damaged: v.Damaged, last: v.LastSweep}
	for _, session := range v.Sessions {
		r := row{entry: session.Entry, where: session.Whereabouts}
		if session.Entry.FinishedAt != nil {
			r.where = v.WhereIs(session.Entry)
		}
		r.ticks, r.read = session.Ticks()
		if session.Entry.FinishedAt == nil {
			r.conversation = v.Conversation(session)
		}
		f.rows = append(f.rows, r)
	}
	f.rows = append(f.rows, s.closedSince(v, rescuedSince(f))...)
	for i := range v.Snapshot.Processes {
		if p := &v.Snapshot.Processes[i]; s.Sources.Covered(p.Runtime) {
			f.candidates = append(f.candidates, s.candidate(v, p))
		}
	}
	return f
}

// closedSince are the finished entries that may still be owed a rescue, read
// in full.
func (s *Sweeper) closedSince(v *observe.View, since time.Time) (rows []row) {
	for _, b := range v.Briefs {
		if b.Rescued || b.EndedBy == ledger.EndedByUser || b.FinishedAt.Before(since.Add(-ledger.ClockSlack)) {
			continue
		}
		if e, err := s.Sources.Store.Read(b.LedgerID); err == nil && e.FinishedAt != nil {
			rows = append(rows, row{entry: e, where: v.WhereIs(e)})
		}
	}
	return rows
}

func (s *Sweeper) candidate(v *observe.View, p *procscan.Process) candidate {
	c := candidate{
		Identity: process.Identity{BootID: v.Snapshot.BootID, PID: p.PID, StartTicks: p.StartTicks},
		runtime:  p.Runtime, args: p.Args, owner: v.OwnerOf(p), unreadable: p.Unreadable,
	}
	if c.owner == "" && p.Unreadable == nil && p.LedgerID != "" {
		// Read after the scan: a launch may have written it since the ledger was.
		if e, err := s.Sources.Store.Read(p.LedgerID); err == nil {
			c.carries = e
		}
	}
	return c
}
