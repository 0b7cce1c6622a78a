//go:build real

package real

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// What claude's own tool writes into its scratch folder is there when the conversation is resumed, and goes a week after
// the session has ended.
func TestScratchOfASession(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		const command = `echo noted >> "$OPENAGENTS_SCRATCH/notes" && echo "$OPENAGENTS_SCRATCH" > folder.txt`
		for _, what := range []string{"notes", "more"} {
			w.Model.Add(model.Script{Prompt: "keep " + what, Turns: []model.Turn{{model.Text("I do."), model.Bash(command)}, {model.Text("Kept: " + what + ".")}}})
		}
		folder := func(what string, started *cli.Terminal) string {
			t.Helper()
			started.WaitText(claude.ready)
			started.Ask("keep " + what)
			started.WaitText("Kept: " + what + ".")
			started.Ask(claude.quit)
			if got := started.WaitExit(); got.Code != 0 {
				t.Fatalf("claude ended with %+v", got)
			}
			raw, err := os.ReadFile(filepath.Join(w.Work, "folder.txt"))
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(string(raw))
		}
		dir := folder("notes", w.Open(t, claude.open[0], claude.open[1:]...))
		first := onlyRow(t, w)
		if want := filepath.Join(w.Home, ".openagents", "scratch", first.LedgerID); dir != want {
			t.Errorf("the folder is %s, want %s", dir, want)
		}
		if again := folder("more", w.Open(t, "agent-sessions", "attach", first.LedgerID)); again != dir {
			t.Errorf("resumed, it is %s, was %s", again, dir)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, "notes")); string(raw) != "noted\nnoted\n" {
			t.Errorf("the notes: %q, %v", raw, err)
		}
		for _, days := range []time.Duration{6, 8} {
			age(t, w, dir, days*24*time.Hour)
			does(t, w, "sweep")
			if _, err := os.Lstat(filepath.Join(dir, "notes")); (err == nil) != (days == 6) {
				t.Errorf("unchanged for %d days: %v", days, err)
			}
		}
	})
}

// age sets the modification times in a folder back, and lets the next sweep look at it.
func age(t *testing.T, w *cli.World, dir string, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, at, at))
	})
	stamp := filepath.Join(w.Home, ".local", "state", "agent-sessions", "tidied")
	if err := errors.Join(err, os.Remove(stamp)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}
