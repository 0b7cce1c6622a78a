package ledger

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"agentwrap/internal/statefile"
)

// finished is an entry in which everything is set that skim looks for.
func finished(change func(*Entry)) *Entry {
	e := &Entry{
		SchemaVersion: SchemaVersion, LedgerID: "claude-x", Runtime: "claude", StartedAt: before(time.Hour), CWD: Ptr("/a \"finishedAt\": null\n  \"finishedAt\": \"x"),
		SessionID: Ptr("s1"), FinishedAt: before(time.Minute), RescuedAt: before(0), EndedBy: Ptr(EndedByUser), ResumedFrom: Ptr("claude-w"),
	}
	if change != nil {
		change(e)
	}
	return e
}

func TestSkimKnowsAFinishedEntryWithoutDecodingIt(t *testing.T) {
	for _, tc := range []struct {
		name  string
		entry *Entry
		want  bool
	}{
		{"finished", finished(nil), true},
		{"finished, nothing else known", finished(func(e *Entry) { *e = Entry{SchemaVersion: 1, LedgerID: "claude-x", FinishedAt: before(0)} }), true},
		{"with a later version's field of the same name", finished(func(e *Entry) {
			e.unknown = []unknownField{{"future", []byte("{\n  \"finishedAt\": null,\n  \"sessionId\": \"z\"\n}")}}
		}), true},
		{"lost without a terminal", finished(func(e *Entry) { e.EndedBy, e.Interactive = Ptr(EndedByLoss), Ptr(false) }), true},
		{"open", finished(func(e *Entry) { e.FinishedAt = nil }), false},
		{"lost in a terminal", finished(func(e *Entry) { e.EndedBy, e.Interactive = Ptr(EndedByLoss), Ptr(true) }), false},
		{"another's name", finished(func(e *Entry) { e.LedgerID = "claude-y" }), false},
		{"escapes where none belong", finished(func(e *Entry) { e.SessionID = Ptr("a\"b") }), false},
		{"a later schema", finished(func(e *Entry) { e.SchemaVersion = 2 }), false},
	} {
		raw, err := Encode(tc.entry)
		if err != nil {
			t.Fatal(err)
		}
		b, ok := skim(raw, "claude-x")
		if ok != tc.want {
			t.Errorf("%s: skimmed %v: %+v", tc.name, ok, b)
		}
		e := tc.entry
		want := Brief{e.LedgerID, Value(e.SessionID), Value(e.ResumedFrom), Value(e.StartedAt), Value(e.FinishedAt), Value(e.EndedBy), e.RescuedAt != nil}
		if ok && b != want {
			t.Errorf("%s: %+v, want %+v", tc.name, b, want)
		}
		for cut := range raw {
			if len(e.unknown) > 0 {
				break // whose own end may look like the entry's
			}
			if _, ok := skim(raw[:cut], "claude-x"); ok {
				t.Fatalf("%s: torn after %d bytes it is still skimmed", tc.name, cut)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	s := newStore(t)
	var open []string
	for n := range 300 {
		e := &Entry{Runtime: "claude", StartedAt: before(time.Duration(n) * time.Second), SessionID: Ptr(fmt.Sprint(n)), Interactive: Ptr(true)}
		if n%10 == 0 {
			e.EndedBy = Ptr(EndedByLoss)
		}
		if n%3 != 0 {
			e.FinishedAt = before(0)
		}
		if err := s.Create(e, statefile.Soon); err != nil {
			t.Fatal(err)
		}
		if e.FinishedAt == nil || e.EndedBy != nil {
			open = append(open, e.LedgerID)
		}
	}
	if err := os.WriteFile(s.EntryPath("claude-torn"), []byte(`{"schemaVersion":1`), 0o600); err != nil {
		t.Fatal(err)
	}
	some, err := s.Load(false)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(open)
	var got []string
	for _, e := range some.Entries {
		got = append(got, e.LedgerID)
	}
	if !slices.Equal(got, open) || len(some.Briefs) != 300-len(open) {
		t.Errorf("%d in full and %d briefs, want %d and %d", len(got), len(some.Briefs), len(open), 300-len(open))
	}
	for _, b := range some.Briefs {
		if b.SessionID == "" || b.FinishedAt.IsZero() {
			t.Errorf("%+v", b)
		}
	}
	if len(some.Damaged) != 1 || some.Damaged[0].ID != "claude-torn" || !errors.Is(some.Damaged[0].Err, ErrDamaged) {
		t.Errorf("damaged: %+v", some.Damaged)
	}
	all, err := s.Load(true)
	if err != nil || len(all.Entries) != 300 || len(all.Briefs) != 0 {
		t.Errorf("all: %d in full, %d briefs, %v", len(all.Entries), len(all.Briefs), err)
	}
}

func TestLoadTakesInWhatWaits(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	held, err := statefile.Acquire(s.lockPath(e.LedgerID), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if deferred, err := s.Record(e.LedgerID, Fact{At: before(0), Turn: TurnIts}, time.Millisecond); err != nil || !deferred {
		t.Fatal(deferred, err)
	}
	l, err := s.Load(false)
	if err != nil || len(l.Entries) != 1 || Value(l.Entries[0].Turn) != TurnIts {
		t.Errorf("%+v, %v", l, err)
	}
	if none, err := Open(t.TempDir() + "/none").Load(false); err != nil || len(none.Entries) != 0 {
		t.Errorf("no ledger: %+v, %v", none, err)
	}
}
