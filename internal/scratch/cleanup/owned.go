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

// owned gathers what the open rows of a ledger have. A row is open until it has
// ended, and a lost one until somebody has resumed or dismissed it. It has the
// folder that it names; one that names none has its launcher's; and it has what
// the rows had that it continues.
func owned(store *ledger.Store) (Owned, error) {
	rows, err := readAll(store)
	if err != nil {
		return Owned{}, err
	}
	resumedBy := map[string]string{}
	for id, e := range rows {
		if from := ledger.Value(e.ResumedFrom); from != "" {
			resumedBy[from] = id
		}
	}
	o := Owned{ByFolder: map[statefile.FileID]string{}, ByPlace: map[Place]string{}, BySession: map[string]string{}}
	for id, e := range rows {
		if e.FinishedAt == nil || ledger.Classify(e, ledger.Facts{ResumedBy: resumedBy[id]}).Lost {
			o.addWithOrigins(rows, id)
		}
	}
	return o, nil
}

func readAll(store *ledger.Store) (map[string]*ledger.Entry, error) {
	ids, err := store.IDs()
	if err != nil {
		return nil, err
	}
	rows := make(map[string]*ledger.Entry, len(ids))
	for _, id := range ids {
		e, err := store.Read(id)
		if err != nil {
			return nil, fmt.Errorf("whose it is cannot be told: %w", err)
		}
		rows[id] = e
	}
	return rows, nil
}

// addWithOrigins adds what an open row has: its own, and its origins'.
func (o Owned) addWithOrigins(rows map[string]*ledger.Entry, id string) {
	seen := map[string]bool{}
	var add func(of string)
	add = func(of string) {
		e := rows[of]
		if e == nil || seen[of] {
			return
		}
		seen[of] = true
		o.add(e, id)
		add(ledger.Value(e.ResumedFrom))
		if e.Scratch == nil {
			add(ledger.Value(e.ParentLedgerID))
		}
	}
	add(id)
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
