package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"agentwrap/internal/ledger"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

const (
	first  = "01a22907-c539-7702-92a9-21e5e7e1e1bd" // of 2026-11-29
	second = "aaaaaaaa-0b0a-4908-8706-050403020100"
)

// file makes a file below the home folder.
func (w *world) file(name string) string {
	w.Helper()
	path := filepath.Join(w.Sources.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// holding is a node package's codex whose native program holds locks.
func (w *world) holding(ids ...string) actor.Program {
	w.Helper()
	open := ""
	for i, id := range ids {
		open += fmt.Sprintf("exec %d<>%q; ", 20+i, w.file(".codex/thread-writer-locks/"+id+".lock"))
	}
	script := actor.Script(w, "codex", `(`+open+`exec -a codex "$SELF" "$@"); true`)
	return actor.Program{Path: "/bin/bash", Argv: []string{"bash", script}}
}

func TestAConversationThatItsProcessShows(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.holding(first).Start(t)
		if got := w.run().Enrolled; len(got) != 1 {
			t.Fatalf("enrolled %v", got)
		}
		w.run()
		id := w.ids()[0]
		e := w.read(id)
		if ledger.Value(e.SessionID) != first || e.TranscriptPath != nil || len(e.SessionIDs) != 1 || e.SessionIDs[0].Since == nil || e.LastHeartbeat != nil {
			t.Fatalf("%+v", e)
		}
		// The file comes with the first prompt.
		path := w.file(".codex/sessions/2026/11/29/rollout-2026-11-29T20-38-24-" + first + ".jsonl")
		w.run()
		if e = w.read(id); ledger.Value(e.TranscriptPath) != path || len(e.SessionIDs) != 1 {
			t.Errorf("%+v", e)
		}
		raw, err := os.ReadFile(w.Sources.Store.EntryPath(id))
		if err != nil {
			t.Fatal(err)
		}
		w.run()
		if again, err := os.ReadFile(w.Sources.Store.EntryPath(id)); err != nil || string(again) != string(raw) {
			t.Errorf("written again without need: %s, %v", again, err)
		}
	})
}

// A screen that went on with another conversation: the earlier one stays known.
func TestAConversationThatFollowsAnother(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.holding(second).Start(t)
		id := w.row("codex", of(p), func(e *ledger.Entry) {
			e.SessionID, e.TranscriptPath = ledger.Ptr(first), ledger.Ptr("/t/"+first)
			e.SessionIDs = []ledger.Conversation{{ID: first, TranscriptPath: e.TranscriptPath}}
		})
		w.run()
		if e := w.read(id); ledger.Value(e.SessionID) != second || e.TranscriptPath != nil || len(e.SessionIDs) != 2 || ledger.Value(e.SessionIDs[0].TranscriptPath) != "/t/"+first {
			t.Errorf("%+v", e)
		}
	})
}

func TestAProcessThatShowsNoConversation(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.holding(first, second).Start(t) // as the shared daemon does
		w.holding().Start(t)              // as a screen that uses it does
		w.run()
		w.run()
		for _, id := range w.ids() {
			if e := w.read(id); e.SessionID != nil {
				t.Errorf("%+v", e)
			}
		}
	})
}
