package runstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"agentwrap/internal/ledger"
)

// Journal writes what changed in an entry into its session's event log: for
// ledger.Store.Watch. A log that has not begun begins with the birth. The log is
// information: what cannot be written is not.
func (s *FileStore) Journal(before, after *ledger.Entry) {
	var events []Event
	if _, err := os.Lstat(s.eventsPath(after.LedgerID)); errors.Is(err, fs.ErrNotExist) {
		events = append(events, birth(after))
	}
	if before != nil {
		events = append(events, Changes(before, after)...)
	}
	for _, ev := range events {
		if s.AppendEvent(after.LedgerID, ev) != nil {
			return
		}
	}
}

func birth(e *ledger.Entry) Event {
	said := []string{e.Runtime, "enrolled by " + e.EnrolledBy}
	for _, f := range []struct {
		what  string
		value *string
	}{{"in ", e.CWD}, {"launched by ", e.LaunchedBy}, {"continues ", e.ResumedFrom}} {
		if f.value != nil {
			said = append(said, f.what+*f.value)
		}
	}
	return Event{Type: EventBirth, Text: strings.Join(said, ", "), Timestamp: stampOf(e.StartedAt)}
}

// Changes are the events in what changed in an entry (docs/runstore.md,
// "Events").
func Changes(before, after *ledger.Entry) []Event {
	var events []Event
	add := func(kind, at, format string, args ...any) {
		events = append(events, Event{Type: kind, Timestamp: at, Text: fmt.Sprintf(format, args...)})
	}
	if pid := ledger.Value(after.PID); pid != ledger.Value(before.PID) {
		add(EventAdopted, "", "process %d", pid)
	}
	if id := ledger.Value(after.SessionID); id != ledger.Value(before.SessionID) {
		add(EventConversation, "", "%s", id)
	}
	if before.FinishedAt != nil && after.FinishedAt == nil {
		add(EventState, "", "open again")
	}
	if turn := ledger.Value(after.Turn); turn != ledger.Value(before.Turn) && turn != "" {
		add(EventState, stampOf(after.TurnAt), "%s turn", map[string]string{ledger.TurnYours: "your", ledger.TurnIts: "its"}[turn])
	}
	if before.RescuedAt == nil && after.RescuedAt != nil && after.RescueRef != nil {
		add(EventRescue, stampOf(after.RescuedAt), "%d paths under %s", len(after.RescuedPaths), *after.RescueRef)
	}
	if before.FinishedAt == nil && after.FinishedAt != nil || before.ExitStatus == nil && after.ExitStatus != nil {
		events = append(events, end(after))
	}
	return events
}

func end(e *ledger.Entry) Event {
	ev := Event{Type: EventEnd, Timestamp: stampOf(e.FinishedAt), Text: ledger.Value(e.FinishReason)}
	if e.ExitStatus != nil {
		ev.ExitCode = e.ExitStatus.Code
		if e.ExitStatus.Signal != nil {
			ev.Text = strings.TrimPrefix(fmt.Sprintf("%s, killed by signal %d", ev.Text, *e.ExitStatus.Signal), ", ")
		}
	}
	return ev
}

func stampOf(t *ledger.Stamp) string {
	if t == nil {
		return ""
	}
	return t.String()
}
