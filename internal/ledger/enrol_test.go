package ledger

import (
	"errors"
	"os"
	"testing"
	"time"

	"agentwrap/internal/statefile"
)

func processRow(p ProcessFact) *Entry {
	return &Entry{Runtime: "claude", StartedAt: at(1), EnrolledBy: EnrolledByHook, BootID: Ptr(p.BootID), PID: Ptr(p.PID), PIDStartTicks: Ptr(p.StartTicks)}
}

func TestManyWhoEnrolOneProcessMakeOneRow(t *testing.T) {
	s := newStore(t)
	p := ProcessFact{"boot", 7, 70}
	const many = 50
	ids, news := make(chan string, many), make(chan bool, many)
	for range many {
		go func() {
			row, created, err := s.Enrol(processRow(p), statefile.Soon)
			if err != nil {
				t.Error(err)
				row = new(Entry)
			}
			ids <- row.LedgerID
			news <- created
		}()
	}
	first, created := <-ids, 0
	for range many - 1 {
		if id := <-ids; id != first {
			t.Errorf("rows %s and %s", first, id)
		}
	}
	for range many {
		if <-news {
			created++
		}
	}
	if created != 1 {
		t.Errorf("%d say that they made it", created)
	}
	if all, err := s.IDs(); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if row, err := s.Enrolled(p); err != nil || row.LedgerID != first {
		t.Errorf("found %v, %v", row, err)
	}
}

func TestAStepOfTheClockMakesNoSecondRow(t *testing.T) {
	s := newStore(t)
	p := ProcessFact{"boot", 7, 70}
	row, _, err := s.Enrol(processRow(p), statefile.Soon)
	if err != nil {
		t.Fatal(err)
	}
	again := processRow(p)
	again.StartedAt = at(59)
	if same, created, err := s.Enrol(again, statefile.Soon); created || err != nil || same.LedgerID != row.LedgerID {
		t.Errorf("%v, %v, %v", same, created, err)
	}
}

func TestProcessesWhoseDigitsAgreeAreNotOne(t *testing.T) {
	s := newStore(t)
	seen := map[string]ProcessFact{}
	p := ProcessFact{"boot", 7, 0}
	for {
		if _, twice := seen[processDigits(p, 0)]; twice {
			break
		}
		seen[processDigits(p, 0)] = p
		p.StartTicks++
	}
	other := seen[processDigits(p, 0)]
	a, createdA, errA := s.Enrol(processRow(p), statefile.Soon)
	b, createdB, errB := s.Enrol(processRow(other), statefile.Soon)
	if err := errors.Join(errA, errB); err != nil || !createdA || !createdB || a.LedgerID == b.LedgerID {
		t.Fatalf("%v and %v: %v", a, b, err)
	}
	if found, err := s.Enrolled(other); err != nil || found.LedgerID != b.LedgerID {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestAProcessThatIsNotKnownIsNotEnrolled(t *testing.T) {
	s := newStore(t)
	e := processRow(ProcessFact{"boot", 7, 70})
	e.PIDStartTicks = nil
	if _, _, err := s.Enrol(e, statefile.Soon); err == nil {
		t.Error("enrolled without start ticks")
	}
	if _, err := s.Enrolled(ProcessFact{"boot", 7, 70}); !errors.Is(err, ErrNoSession) {
		t.Errorf("got %v", err)
	}
}

func TestARowThatCannotBeReadGetsNoSecondOne(t *testing.T) {
	s := newStore(t)
	p := ProcessFact{"boot", 7, 70}
	row, _, err := s.Enrol(processRow(p), statefile.Soon)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.EntryPath(row.LedgerID), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Enrol(processRow(p), statefile.Soon); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if ids, err := s.IDs(); err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
}

func TestTheStartThatAnIDTells(t *testing.T) {
	at := time.Date(2026, 8, 7, 11, 0, 1, 0, time.UTC)
	for id, want := range map[string]bool{NewID("cursor-agent", at): true, NewID("a.b_c", at): true, "claude-1": false, "x": false, "": false, "claude-20260807T110001Z": false, "claude-20261307T110001Z-123456": false, "claude-20260807T110001Z-1": false} {
		got, ok := IDTime(id)
		if ok != want || want && !got.Equal(at) {
			t.Errorf("%q: %v, %v", id, got, ok)
		}
	}
}
