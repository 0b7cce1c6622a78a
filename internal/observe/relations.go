package observe

import (
	"slices"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
)

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

// Beside are the other sessions that run in the working tree of a row, but for
// those that it launched or was launched by: what share marks for a view, for
// one session and without one.
func Beside(store *ledger.Store, row *ledger.Entry) ([]*ledger.Entry, error) {
	tree := treeOf(row)
	if tree == "" {
		return nil, nil
	}
	loaded, err := store.Load(false)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(loaded.Entries, func(e *ledger.Entry) bool {
		return e.LedgerID == row.LedgerID || e.FinishedAt != nil || treeOf(e) != tree || related(e, row) || !runs(e)
	}), nil
}

// runs tells whether an entry's recorded process is alive.
func runs(e *ledger.Entry) bool {
	p, known := e.Process()
	if !known {
		return false
	}
	alive, err := process.Identity{BootID: p.BootID, PID: p.PID, StartTicks: p.StartTicks}.Alive()
	return err == nil && alive
}
