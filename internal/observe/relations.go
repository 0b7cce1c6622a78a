package observe

import (
	"slices"

	"agentwrap/internal/ledger"
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
