package main

import (
	"cmp"
	"fmt"

	"agentwrap/internal/focus"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
)

// focusOf are the records of the sessions that said what they do, by ledgerId.
// What cannot be read is told by doctor.
func (a *app) focusOf(sessions []*observe.Session) map[string]focus.Record {
	root, err := ledger.Root(a.getenv)
	if err != nil {
		return nil
	}
	said, trees := map[string]focus.Record{}, map[string]map[string]focus.Record{}
	for _, s := range sessions {
		tree := cmp.Or(ledger.Value(s.Entry.RepoRoot), ledger.Value(s.Entry.CWD))
		if tree == "" {
			continue
		}
		if _, read := trees[tree]; !read {
			trees[tree] = map[string]focus.Record{}
			records, _, _ := focus.Open(root, tree).Load()
			for _, r := range records {
				trees[tree][r.ID] = r
			}
		}
		if r, ok := trees[tree][focus.ID(s.Entry.LedgerID)]; ok {
			said[s.Entry.LedgerID] = r
		}
	}
	return said
}

// waitingFor says how many messages wait for a session, "" for none.
func (a *app) waitingFor(id string) string {
	runs, err := a.runs()
	if err != nil {
		return ""
	}
	queue, err := runs.Queue(id)
	if err != nil || len(queue) == 0 {
		return ""
	}
	unconfirmed := 0
	for _, q := range queue {
		if q.Unconfirmed {
			unconfirmed++
		}
	}
	text := fmt.Sprintf("%d wait", len(queue)-unconfirmed)
	if unconfirmed > 0 {
		text += fmt.Sprintf(", %d never seen to arrive", unconfirmed)
	}
	return text + ": agent-sessions messages " + id
}

// details are what show says of a session.
func (a *app) details(s *observe.Session) details {
	d := details{Session: s, now: a.now(), waits: a.waitingFor(s.Entry.LedgerID)}
	if r, ok := a.focusOf([]*observe.Session{s})[s.Entry.LedgerID]; ok {
		d.said = focusLine(r, a.now())[len("- "):]
	}
	return d
}
