package runstore

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

func TestWhatChangedInAnEntryIsInItsLog(t *testing.T) {
	s := newStore(t)
	rows := ledger.Open(t.TempDir() + "/ledger")
	rows.Watch(s.Journal)
	at := ledger.At(now)
	e := &ledger.Entry{Runtime: "claude", StartedAt: at, EnrolledBy: ledger.EnrolledByHook, CWD: ledger.Ptr("/w"), LaunchedBy: ledger.Ptr("user")}
	must(t, rows.Create(e, statefile.Lazy))
	change := func(f func(*ledger.Entry)) {
		t.Helper()
		must(t, rows.Update(e.LedgerID, ledger.Within(time.Minute), func(e *ledger.Entry) error { f(e); return nil }))
	}
	change(func(e *ledger.Entry) {
		e.PID, e.PIDStartTicks, e.BootID = ledger.Ptr(7), ledger.Ptr(uint64(9)), ledger.Ptr("b")
	})
	change(func(e *ledger.Entry) { e.SessionID = ledger.Ptr("abc") })
	change(func(e *ledger.Entry) { e.Turn, e.TurnAt = ledger.Ptr(ledger.TurnIts), at })
	change(func(e *ledger.Entry) { e.LastHeartbeat = at })
	change(func(e *ledger.Entry) { e.Turn, e.TurnAt = ledger.Ptr(ledger.TurnYours), at })
	change(func(e *ledger.Entry) {
		e.RescuedAt, e.RescueRef, e.RescuedPaths = at, ledger.Ptr("refs/rescued/x"), []string{"a", "b"}
	})
	change(func(e *ledger.Entry) {
		e.FinishedAt, e.FinishReason, e.ExitStatus = at, ledger.Ptr("exited"), &ledger.ExitStatus{Code: ledger.Ptr(7)}
	})
	change(func(e *ledger.Entry) { e.FinishedAt, e.FinishReason, e.ExitStatus = nil, nil, nil })
	change(func(e *ledger.Entry) { e.ExitStatus = &ledger.ExitStatus{Signal: ledger.Ptr(9)} })
	if _, err := rows.Record(e.LedgerID, ledger.Fact{At: at, Conversation: &ledger.Conversation{ID: "def"}, Begins: true}, time.Minute); err != nil {
		t.Fatal(err)
	}
	events, _, err := s.ReadEvents(e.LedgerID, 0)
	must(t, err)
	var got []string
	for _, ev := range events {
		got = append(got, strings.TrimSpace(ev.Type+" "+ev.Text))
		if ev.Timestamp != "2026-08-07T12:00:00Z" {
			t.Errorf("%+v", ev)
		}
	}
	want := []string{
		"birth claude, enrolled by hook, in /w, launched by user", "adopted process 7", "conversation abc", "state its turn", "state your turn",
		"rescue 2 paths under refs/rescued/x", "end exited", "state open again", "end killed by signal 9", "conversation def",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if code := events[6].ExitCode; code == nil || *code != 7 {
		t.Errorf("exit code %v", code)
	}
}

func TestALogThatHasNotBegunBeginsWithTheBirth(t *testing.T) {
	s := newStore(t)
	e := &ledger.Entry{LedgerID: id, Runtime: "codex", EnrolledBy: ledger.EnrolledByShim, StartedAt: ledger.At(now.Add(-time.Hour))}
	after := *e
	after.SessionID = ledger.Ptr("abc")
	s.Journal(e, &after)
	events, _, err := s.ReadEvents(id, 0)
	if err != nil || len(events) != 2 || events[0].Type != EventBirth || events[0].Timestamp != "2026-08-07T11:00:00Z" || events[1].Type != EventConversation {
		t.Errorf("got %+v, %v", events, err)
	}
}
