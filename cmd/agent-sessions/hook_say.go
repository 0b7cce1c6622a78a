package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"agentwrap/internal/deliver"
	"agentwrap/internal/focus"
	"agentwrap/internal/hookadopt"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
	"agentwrap/internal/runstore"
)

// hookWait is how long a hook may wait for others' changes in the run store: an
// agent waits for it.
const hookWait = 20 * time.Millisecond

// hookRuns is the run store for a hook, nil where there is none.
func hookRuns(getenv func(string) string) *runstore.FileStore {
	runs, err := runstore.NewFileStore("", getenv)
	if err != nil {
		return nil
	}
	return runs.Within(hookWait)
}

// hookJournal writes what a hook changes in the ledger into the event logs.
func hookJournal(getenv func(string) string) func(before, after *ledger.Entry) {
	if runs := hookRuns(getenv); runs != nil {
		return runs.Journal
	}
	return nil
}

// hookMessages are the messages that a hook hands over: the session's own, after
// those that wait for the sessions it continues.
type hookMessages struct {
	desk   deliver.Desk
	ledger *ledger.Store
}

func newHookMessages(getenv func(string) string, now func() time.Time) hookadopt.Messages {
	runs, root, err := hookRuns(getenv), "", error(nil)
	if root, err = ledger.Root(getenv); err != nil || runs == nil {
		return nil
	}
	return hookMessages{deliver.Desk{Store: runs, Now: now}, ledger.Open(root)}
}

// each does something for a session and those it continues, the oldest first.
func (m hookMessages) each(row *ledger.Entry, do func(id string) (done bool, err error)) error {
	ids := []string{row.LedgerID}
	if row.ResumedFrom != nil {
		ids = m.ledger.Lineage(row)
	}
	for i := len(ids) - 1; i >= 0; i-- {
		if done, err := do(ids[i]); done || err != nil {
			return err
		}
	}
	return nil
}

func (m hookMessages) AtStop(row *ledger.Entry, transcript string, again bool) (text string, err error) {
	err = m.each(row, func(id string) (bool, error) {
		var err error
		text, err = m.desk.AtStop(deliver.Moment{SessionID: id, Transcript: cmp.Or(transcript, ledger.Value(row.TranscriptPath)), Again: again})
		return text != "", err
	})
	return text, err
}

func (m hookMessages) Heard(row *ledger.Entry, transcript, prompt string) error {
	return m.each(row, func(id string) (bool, error) {
		return false, m.desk.Settle(deliver.Moment{SessionID: id, Transcript: cmp.Or(transcript, ledger.Value(row.TranscriptPath)), Prompt: prompt}, prompt == "")
	})
}

// rescueWaits tells the model of the newest work of a lost session that was
// saved in its repository.
func rescueWaits(getenv func(string) string) hookadopt.Speaker {
	return hookadopt.Speaker{Key: "rescue", Say: func(ctx context.Context, row *ledger.Entry) string {
		root, err := ledger.Root(getenv)
		if err != nil || row.GitCommonDir == nil {
			return ""
		}
		// A ledger that cannot be read is told of by doctor.
		e, _ := observe.RescuedIn(ctx, ledger.Open(root), row)
		if e == nil {
			return ""
		}
		return fmt.Sprintf("Work that a lost session (%s) left uncommitted in this repository, %d file(s), was saved as %s. It is shown by 'agent-sessions rescue show %s' and brought back by 'agent-sessions rescue restore %s': ask the user first.",
			e.LedgerID, len(e.RescuedPaths), *e.RescueRef, e.LedgerID, e.LedgerID)
	}}
}

// othersHere tells the model of other sessions that run in its working tree
// (cc#95355, cc#50817).
func othersHere(getenv func(string) string, now func() time.Time) hookadopt.Speaker {
	return hookadopt.Speaker{Key: "tree", Say: func(_ context.Context, row *ledger.Entry) string {
		root, err := ledger.Root(getenv)
		if err != nil {
			return ""
		}
		// A ledger that cannot be read is told of by doctor.
		others, _ := observe.Beside(ledger.Open(root), row)
		if len(others) == 0 {
			return ""
		}
		var named []string
		for _, e := range others[:min(len(others), focusShown)] {
			named = append(named, fmt.Sprintf("%s (begun %s ago)", e.LedgerID, present.Age(now().Sub(ledger.Value(e.StartedAt).Time))))
		}
		return fmt.Sprintf("%d other agent session(s) run in this same working tree: %s. Files may change under you, and what is not committed may be theirs: do not discard, stash or overwrite work that you did not do.",
			len(others), strings.Join(named, ", "))
	}}
}

// focusShown bounds how many others' focus the model is told of, and wordsShown
// how much of each, in characters.
const (
	focusShown = 5
	wordsShown = 160
)

// othersFocus tells the model what other sessions of its working tree are doing.
func othersFocus(getenv func(string) string, now func() time.Time) hookadopt.Speaker {
	return hookadopt.Speaker{Key: "focus", Say: func(_ context.Context, row *ledger.Entry) string {
		root, err := ledger.Root(getenv)
		tree := cmp.Or(ledger.Value(row.RepoRoot), ledger.Value(row.CWD))
		if err != nil || tree == "" {
			return ""
		}
		// What cannot be read is told by doctor.
		records, _, _ := focus.Open(root, tree).Load()
		var lines []string
		for _, r := range records {
			if r.ID != focus.ID(row.LedgerID) && len(lines) < focusShown {
				lines = append(lines, focusLine(r, now()))
			}
		}
		if len(lines) == 0 {
			return ""
		}
		return "Other sessions in this working tree said what they are doing:\n" + strings.Join(lines, "\n")
	}}
}

func focusLine(r focus.Record, now time.Time) string {
	line := "- " + r.ID + ": " + present.Cut(present.Line(r.Focus), wordsShown)
	if r.TicketID != "" {
		line += " (" + present.Cut(present.Line(r.TicketID), wordsShown) + ")"
	}
	age, ok := r.Age(now)
	switch {
	case !ok:
		return line + ", at an unknown time"
	case r.Stale(now):
		return line + fmt.Sprintf(", %s ago: it may be over", present.Age(age))
	}
	return line + fmt.Sprintf(", %s ago", present.Age(age))
}
