package cleanup

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/scratch"
	"agentwrap/internal/statefile"
)

// owned gathers what the open rows of a ledger have. A row has the folder that
// it names; one that names none has its launcher's; and it has what the rows
// had that it continues.
func owned(store *ledger.Store) (Owned, error) {
	loaded, err := store.Load(false)
	if err != nil {
		return Owned{}, err
	}
	if len(loaded.Damaged) > 0 {
		return Owned{}, fmt.Errorf("whose it is cannot be told: %w", loaded.Damaged[0].Err)
	}
	o := Owned{ByFolder: map[statefile.FileID]string{}, ByPlace: map[Place]string{}, BySession: map[string]string{}}
	for _, e := range loaded.Open() {
		o.addWithOrigins(store, e)
	}
	return o, nil
}

func (o Owned) addWithOrigins(store *ledger.Store, e *ledger.Entry) {
	owner, seen := e.LedgerID, map[string]bool{}
	for e != nil && !seen[e.LedgerID] {
		seen[e.LedgerID] = true
		o.add(e, owner)
		from := ledger.Value(e.ResumedFrom)
		if from == "" && e.Scratch == nil {
			from = ledger.Value(e.ParentLedgerID)
		}
		e, _ = store.Read(from) // one that is gone has nothing to tell
	}
}

func (o Owned) add(e *ledger.Entry, owner string) {
	for _, name := range names(e.LedgerID) {
		o.BySession[name] = owner
	}
	for _, c := range e.SessionIDs {
		o.addConversation(c.ID, owner)
	}
	o.addConversation(ledger.Value(e.SessionID), owner)
	if dir := ledger.Value(e.Scratch); dir != "" {
		if id, ok := idOf(dir); ok {
			o.ByFolder[id] = owner
		}
		if parent, ok := idOf(filepath.Dir(dir)); ok {
			o.ByPlace[Place{parent, filepath.Base(dir)}] = owner
		}
	}
}

func idOf(path string) (statefile.FileID, bool) {
	f, err := os.OpenFile(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return statefile.FileID{}, false
	}
	defer f.Close()
	id, err := statefile.IDOf(f)
	return id, err == nil
}

// addConversation adds the names under which a folder may have been asked for
// from within a conversation.
func (o Owned) addConversation(id, owner string) {
	if id == "" {
		return
	}
	for _, runtime := range []string{"claude-code:", "codex:"} {
		for _, name := range names(runtime + id) {
			o.BySession[name] = owner
		}
	}
}

// names are what a session's folder may be known by: the session, and, where
// its .session is gone, its own name.
func names(session string) []string { return []string{session, scratch.Name(session)} }
