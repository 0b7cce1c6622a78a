//go:build real

package real

import (
	"strings"
	"syscall"
	"testing"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// hooked runs a test with Claude Code behind the shim and our hooks in its settings.
func hooked(t *testing.T, body func(t *testing.T, w *cli.World)) {
	wrapped(t, claude, func(t *testing.T, w *cli.World) {
		if got := w.Run(t, "", "agent-sessions", "hooks", "install", "claude"); got.Code != 0 {
			t.Fatalf("hooks install: %+v", got)
		}
		w.Model.Add(makeFile, model.Say("say hello", "Hello from the model."))
		body(t, w)
	})
}

// told checks that a row has what only Claude Code's own hooks tell.
func (r row) told(t *testing.T, enrolledBy string) {
	t.Helper()
	if r.EnrolledBy != enrolledBy || r.SessionID == nil || r.TranscriptPath == nil || !strings.HasSuffix(*r.TranscriptPath, *r.SessionID+".jsonl") {
		t.Errorf("the row does not have its conversation: %+v", r)
	}
}

func TestHooksTellOfASessionInATerminal(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		term := w.Open(t, "claude", claude.open[1:]...)
		term.WaitText(claude.ready)
		term.Ask("make a file")
		term.WaitText("The file is made.")
		var r row
		cli.Eventually(t, "turn of the user", func() bool { r = onlyRow(t, w); return r.Turn != nil && *r.Turn == "yours" })
		r.told(t, "shim")
		term.Ask("/exit")
		term.WaitExit()
		end := onlyRow(t, w)
		end.told(t, "shim")
		if end.State != "FINISHED" || end.FinishReason == nil || *end.FinishReason != "exited at the prompt" || end.Title == nil ||
			end.Activity == nil || *end.Activity != "The file is made." {
			t.Errorf("the row in the end: %+v", end)
		}
	})
}

func TestHooksTellOfHeadlessSessions(t *testing.T) {
	for name, how := range map[string]struct {
		command    func(w *cli.World) string
		enrolledBy string
	}{
		"through the shim": {func(*cli.World) string { return "claude" }, "shim"},
		"past the shim":    {func(w *cli.World) string { return w.Bin + "/claude" }, "hook"},
	} {
		t.Run(name, func(t *testing.T) {
			hooked(t, func(t *testing.T, w *cli.World) {
				if got := w.Run(t, "", how.command(w), "-p", "say hello"); got.Stdout != "Hello from the model.\n" || got.Code != 0 {
					t.Errorf("%+v", got)
				}
				r := onlyRow(t, w)
				r.told(t, how.enrolledBy)
				if r.State != "FINISHED" || r.Interactive {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// A new conversation in the same process is the same session.
func TestHooksFollowClear(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		term := w.Open(t, "claude", claude.open[1:]...)
		term.WaitText(claude.ready)
		term.Ask("say hello")
		term.WaitText("Hello from the model.")
		var first row
		cli.Eventually(t, "conversation", func() bool { first = onlyRow(t, w); return first.SessionID != nil })
		term.Ask("/clear")
		cli.Eventually(t, "second conversation", func() bool {
			r := onlyRow(t, w)
			return r.LedgerID == first.LedgerID && len(r.SessionIDs) == 2 && *r.SessionID != *first.SessionID
		})
		term.Ask("/exit")
		term.WaitExit()
		if r := onlyRow(t, w); r.State != "FINISHED" {
			t.Errorf("%+v", r)
		}
	})
}

// A session that a session's tool starts is one of its own, and names its parent.
func TestHooksTellNestedSessionsApart(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		w.Model.Add(model.Script{Prompt: "ask another", Turns: []model.Turn{
			{model.Bash(`claude -p "say hello"`)}, {model.Text("The other said hello.")},
		}})
		if got := run(t, w, claude.ask, "ask another"); got.Stdout != "The other said hello.\n" {
			t.Fatalf("%+v", got)
		}
		all := rows(t, w)
		if len(all) != 2 {
			t.Fatalf("want two sessions, got %+v", all)
		}
		outer, inner := all[0], all[1]
		if outer.ParentLedgerID != nil {
			outer, inner = inner, outer
		}
		outer.told(t, "shim")
		inner.told(t, "shim")
		if inner.ParentLedgerID == nil || *inner.ParentLedgerID != outer.LedgerID || inner.LaunchedBy == nil || *inner.LaunchedBy != "agent" ||
			*inner.SessionID == *outer.SessionID {
			t.Errorf("outer %+v\ninner %+v", outer, inner)
		}
	})
}

// A session whose process was killed goes on where it stopped: the same conversation, a row that names the one before.
func TestAttachResumesWhatWasKilled(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		term := w.Open(t, "claude", claude.open[1:]...)
		term.WaitText(claude.ready)
		term.Ask("say hello")
		term.WaitText("Hello from the model.")
		var first row
		// Claude Code writes its file some time after its answer.
		cli.Eventually(t, "conversation on disk", func() bool { first = onlyRow(t, w); return first.TranscriptPath != nil })
		waitInTranscript(t, *first.TranscriptPath, "Hello from the model.")
		kill(t, first.PID, syscall.SIGKILL)
		term.WaitExit()
		if r := waitState(t, w, "ORPHANED"); !r.Lost {
			t.Errorf("not lost: %+v", r)
		}
		again := w.Open(t, "agent-sessions", "attach", first.LedgerID)
		again.WaitText("Hello from the model.")
		again.Ask("make a file")
		again.WaitText("The file is made.")
		wantEarlier(t, w, "Hello from the model.")
		again.Ask("/exit")
		if got := again.WaitExit(); got != (cli.Status{Known: true}) {
			t.Errorf("attach ended with %+v", got)
		}
		for _, r := range rows(t, w) {
			if r.LedgerID == first.LedgerID {
				if r.Lost {
					t.Errorf("still lost: %+v", r)
				}
			} else if r.ResumedFrom == nil || *r.ResumedFrom != first.LedgerID || r.SessionID == nil || *r.SessionID != *first.SessionID || r.State != "FINISHED" {
				t.Errorf("the row that goes on: %+v", r)
			}
		}
		if n := len(rows(t, w)); n != 2 {
			t.Errorf("%d rows", n)
		}
	})
}
