package observe

import (
	"slices"
	"time"

	"agentwrap/internal/ledger"
)

// resumptions tells, for each entry, which later one took it up: by its own
// word, or by carrying the same conversation.
func (v *View) resumptions() func(*ledger.Entry) string {
	byWord := map[string]string{}
	type carrier struct {
		id      string
		started time.Time
	}
	byConversation := map[string][]carrier{}
	note := func(id, sessionID, resumedFrom string, started time.Time) {
		if resumedFrom != "" {
			byWord[resumedFrom] = id
		}
		if sessionID != "" {
			byConversation[sessionID] = append(byConversation[sessionID], carrier{id, started})
		}
	}
	for _, s := range v.Sessions {
		e := s.Entry
		note(e.LedgerID, ledger.Value(e.SessionID), ledger.Value(e.ResumedFrom), ledger.Value(e.StartedAt).Time)
	}
	for _, b := range v.Briefs {
		note(b.LedgerID, b.SessionID, b.ResumedFrom, b.StartedAt.Time)
	}
	return func(e *ledger.Entry) string {
		if id, ok := byWord[e.LedgerID]; ok {
			return id
		}
		started := ledger.Value(e.StartedAt).Time
		for _, c := range byConversation[ledger.Value(e.SessionID)] {
			if c.id != e.LedgerID && c.started.After(started) {
				return c.id
			}
		}
		return ""
	}
}

// share marks the sessions that run beside each other in one working tree. An
// agent and those it launched share theirs on purpose.
func (v *View) share() {
	byTree := map[string][]*Session{}
	for _, s := range v.Sessions {
		if tree := treeOf(s.Entry); tree != "" && s.State.Alive() {
			byTree[tree] = append(byTree[tree], s)
		}
	}
	for _, together := range byTree {
		for _, s := range together {
			s.SharedWith = nil
			for _, other := range together {
				if s != other && !related(s.Entry, other.Entry) {
					s.SharedWith = append(s.SharedWith, other.Entry.LedgerID)
				}
			}
			slices.Sort(s.SharedWith)
		}
	}
}

func treeOf(e *ledger.Entry) string {
	if e.RepoRoot != nil {
		return *e.RepoRoot
	}
	return ledger.Value(e.CWD)
}

func related(a, b *ledger.Entry) bool {
	return ledger.Value(a.ParentLedgerID) == b.LedgerID || ledger.Value(b.ParentLedgerID) == a.LedgerID
}
