package ledger

import (
	"slices"
	"testing"
	"time"

	"agentwrap/internal/statefile"
)

func TestOpenAreTheRowsThatAreNotOver(t *testing.T) {
	s := newStore(t)
	at := func(minute int) *Stamp { return At(time.Date(2026, 8, 7, 11, minute, 0, 0, time.UTC)) }
	row := func(e Entry) string {
		t.Helper()
		if e.Runtime = "claude"; e.StartedAt == nil {
			e.StartedAt = at(0)
		}
		if err := s.Create(&e, statefile.Lazy); err != nil {
			t.Fatal(err)
		}
		return e.LedgerID
	}
	lost := Entry{FinishedAt: at(1), Interactive: Ptr(true), EndedBy: Ptr(EndedByLoss)}
	runs, lostOne := row(Entry{}), row(lost)
	finished := row(Entry{FinishedAt: at(1), Interactive: Ptr(true), EndedBy: Ptr(EndedByUser)})
	headless := row(Entry{FinishedAt: at(1), Interactive: Ptr(false), EndedBy: Ptr(EndedByLoss)})
	resumed := row(lost)
	next := row(Entry{ResumedFrom: Ptr(resumed), FinishedAt: at(2)})
	lost.SessionID = Ptr("conversation")
	retyped := row(lost)
	row(Entry{SessionID: Ptr("conversation"), StartedAt: at(2), FinishedAt: at(3)})
	last := row(Entry{ResumedFrom: Ptr(next)})
	loaded, err := s.Load(false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range loaded.Open() {
		got = append(got, e.LedgerID)
	}
	want := []string{runs, lostOne, last}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("open %q, want %q; finished %s, headless %s, resumed %s, typed again %s", got, want, finished, headless, resumed, retyped)
	}
	e, err := s.Read(last)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Lineage(e), []string{last, next, resumed}; !slices.Equal(got, want) {
		t.Errorf("lineage %q, want %q", got, want)
	}
	e.ResumedFrom = Ptr(last)
	if got := s.Lineage(e); !slices.Equal(got, []string{last}) {
		t.Errorf("of one that continues itself: %q", got)
	}
}
