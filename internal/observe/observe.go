// Package observe gathers what classification needs to know of every session
// at once, for every view (list, show, the board, the sweep), so that all of
// them tell the same.
package observe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
	"agentwrap/internal/procscan"
	"agentwrap/internal/runtimes"
)

// Sources are where the facts come from.
type Sources struct {
	Store *ledger.Store
	// Covered tells a covered runtime's name: one that has a shim.
	Covered func(name string) bool
	// Profiles are the user's.
	Profiles runtimes.Profiles
	// Home is the user's home folder, "" where there is none.
	Home string
	// OpencodeStore is the database that opencode keeps all its sessions in, ""
	// for none.
	OpencodeStore string
	// Hosts is asked who is attached. nil: that stays unknown.
	Hosts Hosts
	// Dirty counts the uncommitted files of working trees, several at a time and
	// within a time that it knows; only for Want.Dirty.
	Dirty func(ctx context.Context, folders []string) map[string]git.Dirty
	// Now is the clock.
	Now func() time.Time
}

// Hosts asks the places that sessions are hosted in. Each call is bounded by
// its context.
type Hosts interface {
	// HolderClients is how many terminals are on the holder at a socket.
	HolderClients(ctx context.Context, socket string) (int, error)
	// AttachedSessions are the sessions of the multiplexer server at a socket,
	// each with how many terminals are on it.
	AttachedSessions(ctx context.Context, socket string) (map[string]int, error)
}

// Want is how much a view asks for.
type Want struct {
	// Finished asks for finished sessions too; without it only those that were
	// lost come.
	Finished bool
	// Clients asks the hosts who is attached.
	Clients bool
	// Texts asks for titles and activity.
	Texts bool
	// Costs asks for memory and cpu time of each session's processes.
	Costs bool
	// Dirty asks for the number of uncommitted files.
	Dirty bool
}

// View is every session at one moment.
type View struct {
	// Sessions, the newest first.
	Sessions []*Session
	// Briefs are the finished entries that were not asked for.
	Briefs []ledger.Brief
	// Damaged are files that hold no entry.
	Damaged []ledger.Damaged
	// Snapshot are the processes that run sessions, enrolled or not.
	Snapshot *procscan.Snapshot
	// LastSweep is when the last sweep ended.
	LastSweep ledger.LastSweep

	sources   Sources
	processes *processes
}

// All looks at every session. It never waits for a second reading of the cpu:
// that is View.Sample.
func All(ctx context.Context, src Sources, want Want) (*View, error) {
	loaded, err := src.Store.Load(want.Finished)
	if err != nil {
		return nil, err
	}
	return src.view(ctx, loaded, want)
}

// One looks at one session, in the light of all others. The error wraps
// ledger.ErrNoSession or ledger.ErrDamaged.
func One(ctx context.Context, src Sources, id string, want Want) (*Session, *View, error) {
	loaded, err := src.Store.Load(false)
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(loaded.Entries, func(e *ledger.Entry) bool { return e.LedgerID == id }) {
		e, err := src.Store.Read(id)
		if err != nil {
			return nil, nil, err
		}
		loaded.Entries = append(loaded.Entries, e)
	}
	// What costs something is gathered for the one alone.
	view, err := src.view(ctx, loaded, Want{})
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(view.Sessions, func(s *Session) bool { return s.Entry.LedgerID == id })
	view.enrich(ctx, view.Sessions[at:at+1], want)
	return view.Sessions[at], view, nil
}

func (src Sources) view(ctx context.Context, loaded ledger.Loaded, want Want) (*View, error) {
	v := &View{Briefs: loaded.Briefs, Damaged: loaded.Damaged, sources: src}
	v.LastSweep, _ = src.Store.LastSweep() // unknown: there is no earlier reading
	for _, e := range loaded.Entries {
		v.Sessions = append(v.Sessions, &Session{Entry: e})
	}
	slices.SortStableFunc(v.Sessions, func(a, b *Session) int {
		return ledger.Value(b.Entry.StartedAt).Compare(ledger.Value(a.Entry.StartedAt).Time)
	})
	var err error
	if v.Snapshot, err = procscan.Take(src.knownFrom(loaded.Entries), src.Profiles); err != nil {
		return nil, fmt.Errorf("look at the processes: %w", err)
	}
	v.locate(src.Now())
	resumed := loaded.ResumedBy()
	for _, s := range v.Sessions {
		s.facts.ResumedBy = resumed(s.Entry)
	}
	v.enrich(ctx, v.Sessions, want)
	v.share()
	return v, nil
}

// enrich gathers the facts that cost something, for some of the sessions, and
// classifies these.
func (v *View) enrich(ctx context.Context, sessions []*Session, want Want) {
	v.readTranscripts(ctx, sessions, want.Texts)
	if want.Clients {
		v.askHosts(ctx, sessions)
	}
	for _, s := range sessions {
		s.facts.CPU = v.earlierReading(s)
		s.Classification = ledger.Classify(s.Entry, s.facts)
	}
	if want.Costs {
		v.weigh(sessions)
	}
	if want.Dirty && v.sources.Dirty != nil {
		v.countDirty(ctx, sessions)
	}
}

// knownFrom are the covered runtimes and those of the entries: a session that
// runs is still one when its runtime's shim is taken away.
func (src Sources) knownFrom(entries []*ledger.Entry) func(name string) bool {
	recorded := map[string]bool{}
	for _, e := range entries {
		recorded[e.Runtime] = true
	}
	return func(name string) bool { return recorded[name] || src.Covered(name) }
}
