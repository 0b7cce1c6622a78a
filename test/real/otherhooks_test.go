//go:build real

package real

import (
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// How the other CLIs with hooks are started so that these run: codex passes hooks over that its user has not trusted, and
// those of a screen that shares the daemon prove no process.
var hookedOthers = []struct {
	driver
	headless, screen []string
}{
	{codex, []string{"codex", "exec", "--dangerously-bypass-hook-trust"}, []string{"codex", "--no-daemon", "--dangerously-bypass-hook-trust"}},
	{gemini, gemini.ask, gemini.open},
}

func hookedCLI(t *testing.T, d driver, body func(t *testing.T, w *cli.World)) {
	wrapped(t, d, func(t *testing.T, w *cli.World) {
		if got := w.Run(t, "", "agent-sessions", "hooks", "install", d.program.Name); got.Code != 0 {
			t.Fatalf("install the hooks: %+v", got)
		}
		body(t, w)
	})
}

// The other CLIs' hooks bind the conversation of a session too, started by the shim or past it, and tell its turns and end.
func TestTheOtherCLIsHooks(t *testing.T) {
	for _, d := range hookedOthers {
		for _, by := range []string{"shim", "hook"} {
			name := func(w *cli.World, words []string) []string {
				if by == "hook" {
					words = append([]string{filepath.Join(w.Bin, words[0])}, words[1:]...)
				}
				return words
			}
			t.Run(d.program.Name+" headless by "+by, func(t *testing.T) {
				hookedCLI(t, d.driver, func(t *testing.T, w *cli.World) {
					w.Model.Add(model.Say("say hello", "Hello, I am here."))
					if got := run(t, w, name(w, d.headless), "say hello"); got.Code != 0 || !strings.Contains(got.Stdout, "Hello, I am here.") {
						t.Fatalf("%+v", got)
					}
					wantOther(t, eventuallyRow(t, w, "transcript", func(r row) bool { return r.TranscriptPath != nil }), by)
				})
			})
			t.Run(d.program.Name+" in a terminal by "+by, func(t *testing.T) {
				hookedCLI(t, d.driver, func(t *testing.T, w *cli.World) {
					w.Model.Add(model.Say("say hello", "Hello, I am here."))
					words := name(w, d.screen)
					term := w.Open(t, words[0], words[1:]...)
					term.WaitText(d.ready)
					term.Ask("say hello")
					term.WaitText("Hello, I am here.")
					r := eventuallyRow(t, w, "transcript and turn", func(r row) bool { return r.TranscriptPath != nil && deref(r.Turn) == "yours" })
					wantOther(t, r, by)
					if r.PID != term.CommandPID() && by == "hook" {
						t.Errorf("process %d was enrolled as %d", term.CommandPID(), r.PID)
					}
					term.Ask(d.quit)
					term.WaitExit()
					eventuallyRow(t, w, "end", func(r row) bool { return r.State == "FINISHED" })
				})
			})
		}
	}
}

func wantOther(t *testing.T, r row, by string) {
	t.Helper()
	id := deref(r.SessionID)
	if r.EnrolledBy != by || len(id) != 36 || !strings.Contains(deref(r.TranscriptPath), id[:8]) || len(r.SessionIDs) != 1 {
		t.Errorf("by %s, conversation %s in %s: %+v", r.EnrolledBy, id, deref(r.TranscriptPath), r.SessionIDs)
	}
}
