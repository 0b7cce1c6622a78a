package ledger

import "time"

// ResumedBy tells, for each of the Entries, which later one took it up: by its own word,
// or by carrying the same conversation; "" for none.
func (l Loaded) ResumedBy() func(*Entry) string {
	byWord := map[string]string{}
	type carrier struct {
		id      string
		started time.Time
	}
	byConversation := map[string][]carrier{}
	for _, e := range l.Entries {
		// Nobody asks about those that were not read in full.
		byConversation[Value(e.SessionID)] = nil
	}
	note := func(id, sessionID, resumedFrom string, started time.Time) {
		if resumedFrom != "" {
			byWord[resumedFrom] = id
		}
		if all, asked := byConversation[sessionID]; asked && sessionID != "" {
			byConversation[sessionID] = append(all, carrier{id, started})
		}
	}
	for _, e := range l.Entries {
		note(e.LedgerID, Value(e.SessionID), Value(e.ResumedFrom), Value(e.StartedAt).Time)
	}
	for _, b := range l.Briefs {
		note(b.LedgerID, b.SessionID, b.ResumedFrom, b.StartedAt.Time)
	}
	return func(e *Entry) string {
		if id, ok := byWord[e.LedgerID]; ok {
			return id
		}
		started := Value(e.StartedAt).Time
		for _, c := range byConversation[Value(e.SessionID)] {
			if c.id != e.LedgerID && c.started.After(started) {
				return c.id
			}
		}
		return ""
	}
}

// Open are the entries that are not over: those without an end, and the lost
// ones that nobody has resumed or dismissed. What belongs to such a session
// stays.
func (l Loaded) Open() []*Entry {
	resumedBy := l.ResumedBy()
	var open []*Entry
	for _, e := range l.Entries {
		if e.FinishedAt == nil || lostInTerminal(e) && resumedBy(e) == "" {
			open = append(open, e)
		}
	}
	return open
}

// Lineage is an entry's id and those of the entries that it continues, nearest
// first, as far as they are there.
func (s *Store) Lineage(e *Entry) []string {
	var ids []string
	seen := map[string]bool{}
	for e != nil && !seen[e.LedgerID] {
		ids, seen[e.LedgerID] = append(ids, e.LedgerID), true
		e, _ = s.Read(Value(e.ResumedFrom)) // one that is gone ends the line
	}
	return ids
}
