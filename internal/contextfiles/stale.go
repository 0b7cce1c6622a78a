package contextfiles

import (
	"errors"
	"time"
)

// StaleAfter is how long a session may be inactive before the sweep cleans it.
const StaleAfter = 24 * time.Hour

// Cleaned is what became of one stale session.
type Cleaned struct {
	Plan    CleanPlan
	Deleted []string
	Err     error
}

// CleanStale cleans the sessions of the tree that are stale: inactive for longer
// than StaleAfter, and of no session of the ledger for which open holds true.
// A session without a manifest or a date that can be read is left alone.
func (s Store) CleanStale(open func(ledgerID string) bool) ([]Cleaned, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	var cleaned []Cleaned
	stale := func(m *Manifest) bool { return s.stale(m, open) }
	for _, id := range ids {
		m, err := s.Manifest(id)
		if err != nil || !stale(m) || !s.hasWork(m) {
			continue
		}
		var c Cleaned
		if c.Plan, c.Err = s.PlanClean(id); c.Err == nil {
			c.Deleted, c.Err = s.clean(c.Plan, stale)
		}
		if errors.Is(c.Err, ErrNoSession) {
			continue // another clean-up was first
		}
		cleaned = append(cleaned, c)
	}
	return cleaned, nil
}

func (s Store) stale(m *Manifest, open func(ledgerID string) bool) bool {
	at, err := m.activeAt()
	return err == nil && s.Now().Sub(at) > StaleAfter && (m.LedgerID == nil || !open(*m.LedgerID))
}

// hasWork tells whether there is anything to clean: a session in whose folder
// only untracked files are left stays as it is.
func (s Store) hasWork(m *Manifest) bool {
	return len(m.ContextFiles) > 0 || len(untracked(s.Dir(m.SessionID), m)) == 0
}
