package observe

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/statefile"
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

// RescuedIn is the newest lost session whose work was saved in the repository of
// a row and is still there, nil for none. It looks at the ledger and at the
// ref's own file, and starts no git.
func RescuedIn(ctx context.Context, store *ledger.Store, row *ledger.Entry) (newest *ledger.Entry, err error) {
	loaded, err := store.Load(false)
	if err != nil {
		return nil, err
	}
	rows := loaded.Entries
	for _, b := range loaded.Briefs {
		if b.Rescued && ctx.Err() == nil {
			if e, err := store.Read(b.LedgerID); err == nil {
				rows = append(rows, e)
			}
		}
	}
	for _, e := range rows {
		waits := e.RescueRef != nil && e.ResumedBy == nil && e.LedgerID != row.LedgerID && ledger.Value(e.GitCommonDir) == ledger.Value(row.GitCommonDir)
		if waits && (newest == nil || e.RescuedAt.After(newest.RescuedAt.Time)) && refThere(*e.GitCommonDir, *e.RescueRef) {
			newest = e
		}
	}
	return newest, nil
}

// packedLimit bounds what is read of a repository's packed refs, in bytes.
const packedLimit = 4 << 20

func refThere(commonDir, ref string) bool {
	if _, err := os.Lstat(filepath.Join(commonDir, ref)); err == nil {
		return true
	}
	packed, err := statefile.Read(filepath.Join(commonDir, "packed-refs"), packedLimit)
	return err == nil && bytes.Contains(packed, []byte(" "+ref+"\n"))
}
