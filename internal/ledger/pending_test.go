package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"agentwrap/internal/statefile"
)

// locked creates an entry and keeps its lock until release.
func locked(t *testing.T, s *Store) (e *Entry, release func()) {
	t.Helper()
	e = created(t, s)
	held, err := statefile.Acquire(s.lockPath(e.LedgerID), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Release)
	return e, held.Release
}

func deferFact(t *testing.T, s *Store, id string, f Fact) {
	t.Helper()
	if deferred, err := s.Record(id, f, 0); !deferred || err != nil {
		t.Fatalf("deferred %v, %v", deferred, err)
	}
}

func factNames(t *testing.T, s *Store, id string) []string {
	t.Helper()
	names, err := readNames(s.pendingDir(id))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestWhatALockKeepsOutWaitsInOrder(t *testing.T) {
	s := newStore(t)
	e, release := locked(t, s)
	for i := range 20 {
		// The wall clock runs backwards here; the order is not its.
		deferFact(t, s, e.LedgerID, Fact{At: at(40 - i), Order: uint64(i), Begins: true, Conversation: says(fmt.Sprint("c", i), "")})
	}
	if ids, err := s.PendingIDs(); err != nil || len(ids) != 1 || ids[0] != e.LedgerID {
		t.Errorf("pending: %v, %v", ids, err)
	}
	if shown, err := s.Read(e.LedgerID); err != nil || Value(shown.SessionID) != "c19" || len(factNames(t, s, e.LedgerID)) != 20 {
		t.Errorf("a reader sees %v, %v", Value(shown.SessionID), err)
	}
	release()
	err := s.Update(e.LedgerID, Within(time.Second), func(e *Entry) error {
		if Value(e.SessionID) != "c19" || len(e.SessionIDs) != 20 {
			t.Errorf("the next writer works on %d conversations, %s the last", len(e.SessionIDs), Value(e.SessionID))
		}
		return ErrUnchanged
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := s.readFile(e.LedgerID)
	if err != nil || Value(raw.SessionID) != "c19" || *raw.LastHeartbeat != *at(40) {
		t.Errorf("the file holds %v, %v", raw, err)
	}
	if _, err := os.Lstat(s.pendingDir(e.LedgerID)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

func TestAFactIsTakenInOnceWhateverEndsTheWriter(t *testing.T) {
	for _, op := range []string{"open", "write", "rename", "unlink"} {
		s := newStore(t)
		e, release := locked(t, s)
		// Taken in twice, the first end would give the last one its reason.
		deferFact(t, s, e.LedgerID, Fact{At: at(1), Order: 1, End: &End{Reason: Ptr("resume")}})
		deferFact(t, s, e.LedgerID, Fact{At: at(2), Order: 2, Turn: TurnIts})
		deferFact(t, s, e.LedgerID, Fact{At: at(3), Order: 3, End: &End{}})
		release()
		restore := statefile.Inject(func(got, path string) error {
			// A deletion that fails is as far as a writer killed before it gets.
			if got == op && (op != "open" || filepath.Dir(path) == s.sessions() && filepath.Base(path)[0] == '.') {
				return syscall.ENOSPC
			}
			return nil
		})
		err := s.Update(e.LedgerID, Within(time.Second), func(*Entry) error { t.Errorf("%s: changed all the same", op); return nil })
		restore()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: got %v", op, err)
		}
		if n := len(factNames(t, s, e.LedgerID)); n != 3 {
			t.Errorf("%s: %d facts left", op, n)
		}
		if _, err := s.Record(e.LedgerID, Fact{At: at(3)}, time.Second); err != nil {
			t.Fatal(err)
		}
		got, err := s.readFile(e.LedgerID)
		if err != nil || got.FinishedAt == nil || *got.FinishedAt != *at(3) || got.FinishReason != nil || len(got.TakenFacts) != 0 {
			t.Errorf("%s: %+v, %v", op, got, err)
		}
		if n := len(factNames(t, s, e.LedgerID)); n != 0 {
			t.Errorf("%s: %d facts left at the end", op, n)
		}
	}
}

func TestAFileThatHoldsNoFactIsSetAside(t *testing.T) {
	s := newStore(t)
	e, release := locked(t, s)
	deferFact(t, s, e.LedgerID, Fact{At: at(9)})
	release()
	for name, raw := range map[string]string{"1.json": `{"at":`, "2.json": `{}`, "3.json": `{"at":"2026-08-07T11:00:01Z","told":7}`} {
		if err := os.WriteFile(filepath.Join(s.pendingDir(e.LedgerID), name), []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if shown, err := s.Read(e.LedgerID); err != nil || *shown.LastHeartbeat != *at(9) {
		t.Errorf("a reader: %+v, %v", shown, err)
	}
	if _, err := s.Record(e.LedgerID, Fact{At: at(10)}, time.Second); err != nil {
		t.Fatal(err)
	}
	aside, err := readNames(s.DamagedDir())
	if err != nil || len(aside) != 3 || len(factNames(t, s, e.LedgerID)) != 0 {
		t.Errorf("set aside %v, %v", aside, err)
	}
}

func TestAnEntryGoesWithItsFacts(t *testing.T) {
	s := newStore(t)
	e, release := locked(t, s)
	deferFact(t, s, e.LedgerID, Fact{At: at(1), End: exited})
	release()
	if gone, err := s.Remove(e.LedgerID, func(e *Entry) bool { return e.FinishedAt != nil }); !gone || err != nil {
		t.Errorf("removed %v, %v", gone, err)
	}
	if ids, err := s.PendingIDs(); err != nil || len(ids) != 0 {
		t.Errorf("left %v, %v", ids, err)
	}
	e, release = locked(t, s)
	deferFact(t, s, e.LedgerID, Fact{At: at(1)})
	release()
	if err := os.WriteFile(s.EntryPath(e.LedgerID), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetAside(e.LedgerID, at(1).Time); err != nil {
		t.Fatal(err)
	}
	if aside, err := readNames(s.DamagedDir()); err != nil || len(aside) != 2 {
		t.Errorf("set aside %v, %v", aside, err)
	}
}

func TestFactsFromManyAtOnceAreAllThere(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	const writers, each = 8, 25
	errs := make(chan error, writers)
	for w := range writers {
		go func() {
			var all error
			for i := range each {
				_, err := s.Record(e.LedgerID, Fact{At: at(1), Told: []string{fmt.Sprintf("%d-%d", w, i)}}, 0)
				all = errors.Join(all, err)
			}
			errs <- all
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if err := s.Update(e.LedgerID, Within(time.Second), func(*Entry) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got, err := s.readFile(e.LedgerID); err != nil || len(got.Told) != writers*each || len(factNames(t, s, e.LedgerID)) != 0 {
		t.Errorf("%d facts of %d, %v", len(got.Told), writers*each, err)
	}
}

func TestNoFactWaitsForASessionThatIsNotThere(t *testing.T) {
	s := newStore(t)
	for _, id := range []string{"claude-nobody", "../x", ""} {
		if deferred, err := s.Record(id, Fact{At: at(1)}, 0); deferred || !errors.Is(err, ErrNoSession) {
			t.Errorf("%q: %v, %v", id, deferred, err)
		}
	}
}
