//go:build real

package real

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// eventuallyRow waits until the one session's row is as wanted: Claude Code does not wait for all of its hooks.
func eventuallyRow(t *testing.T, w *cli.World, what string, wanted func(row) bool) row {
	t.Helper()
	var r row
	cli.Eventually(t, what, func() bool {
		all := rows(t, w)
		if len(all) > 1 {
			t.Fatalf("want one session, got %+v", all)
		}
		if len(all) == 1 {
			r = all[0]
		}
		return len(all) == 1 && wanted(r)
	})
	return r
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Claude Code started in each way there is has exactly one row, with its conversation; the sweep finds nothing to add.
func TestEachWayOfStartingIsOneRow(t *testing.T) {
	direct := func(w *cli.World) string { return filepath.Join(w.Bin, "claude") }
	ask := func(w *cli.World, name string) func(t *testing.T) {
		return func(t *testing.T) { run(t, w, append([]string{name}, claude.ask[1:]...), "say hello") }
	}
	type way struct {
		name  string
		start func(t *testing.T, w *cli.World)
		// rows are how each row was enrolled, the one that launched the others first.
		rows []string
	}
	open := func(t *testing.T, w *cli.World, name string, words ...string) *cli.Terminal {
		term := w.Open(t, name, append(claude.open[1:len(claude.open):len(claude.open)], words...)...)
		term.WaitText(claude.ready)
		return term
	}
	for _, way := range []way{
		{"shim in a terminal", func(t *testing.T, w *cli.World) {
			term := open(t, w, "claude")
			term.Ask("say hello")
			term.WaitText("Hello from the model.")
		}, []string{"shim"}},
		{"shim headless", func(t *testing.T, w *cli.World) { ask(w, "claude")(t) }, []string{"shim"}},
		{"binary in a terminal", func(t *testing.T, w *cli.World) {
			term := open(t, w, direct(w))
			term.Ask("say hello")
			term.WaitText("Hello from the model.")
		}, []string{"hook"}},
		{"binary headless", func(t *testing.T, w *cli.World) { ask(w, direct(w))(t) }, []string{"hook"}},
		{"in the background", func(t *testing.T, w *cli.World) {
			if got := w.Run(t, "", "claude", "--bg", "say hello"); got.Code != 0 {
				t.Fatalf("%+v", got)
			}
		}, []string{"hook"}},
		{"nested in a tool", func(t *testing.T, w *cli.World) {
			nest(t, w, open(t, w, "claude"), "claude")
		}, []string{"shim", "shim"}},
		{"binary nested in a tool", func(t *testing.T, w *cli.World) {
			nest(t, w, open(t, w, "claude"), direct(w))
		}, []string{"shim", "hook"}},
		{"binary nested in a binary", func(t *testing.T, w *cli.World) {
			nest(t, w, open(t, w, direct(w)), direct(w))
		}, []string{"hook", "hook"}},
	} {
		t.Run(way.name, func(t *testing.T) {
			hooked(t, func(t *testing.T, w *cli.World) {
				way.start(t, w)
				var all []row
				cli.Eventually(t, "transcript in each row", func() bool {
					all = rows(t, w)
					for _, r := range all {
						if r.TranscriptPath == nil {
							return false
						}
					}
					return len(all) > 0
				})
				wantRows(t, all, way.rows)
				sweep(t, w)
				if again := rows(t, w); len(again) != len(all) {
					t.Errorf("after a sweep: %+v", again)
				}
			})
		})
	}
}

// nest has a session run another one by its shell tool.
func nest(t *testing.T, w *cli.World, term *cli.Terminal, inner string) {
	t.Helper()
	w.Model.Add(model.Script{Prompt: "run another", Turns: []model.Turn{
		{model.Bash(inner + " --permission-mode default -p 'say hello'")}, {model.Text("The other one is done.")},
	}})
	term.Ask("run another")
	term.WaitText("The other one is done.")
}

func wantRows(t *testing.T, all []row, enrolled []string) {
	t.Helper()
	if len(all) != len(enrolled) {
		t.Fatalf("want %d rows, got %+v", len(enrolled), all)
	}
	outer := ""
	for _, r := range all {
		if r.ParentLedgerID == nil {
			outer = r.LedgerID
		}
		r.told(t, r.EnrolledBy)
	}
	got := map[string]int{}
	for _, r := range all {
		got[r.EnrolledBy]++
		if r.LedgerID != outer && (deref(r.ParentLedgerID) != outer || deref(r.LaunchedBy) != "agent") {
			t.Errorf("the nested row: launched by %s, parent %s, want %s", deref(r.LaunchedBy), deref(r.ParentLedgerID), outer)
		}
	}
	for _, by := range enrolled {
		got[by]--
	}
	if len(all) == 2 && *all[0].SessionID == *all[1].SessionID {
		t.Errorf("both carry %s", *all[0].SessionID)
	}
	for by, n := range got {
		if n != 0 {
			t.Errorf("%d rows too many by %s", n, by)
		}
	}
}

// One process stays one row, whatever becomes of its conversation and its folder; the row follows.
func TestOneProcessStaysOneRow(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		w.Model.Add(model.Say("say more", "There is more."))
		for _, dir := range []string{"one", "two"} {
			if err := os.Mkdir(filepath.Join(w.Work, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		w.Model.Add(model.Script{Prompt: "go one down", Turns: []model.Turn{{model.Bash("cd one && pwd")}, {model.Text("I am one down.")}}})
		term := w.Open(t, "claude", claude.open[1:]...)
		term.WaitText(claude.ready)
		term.Ask("say hello")
		term.WaitText("Hello from the model.")
		first := eventuallyRow(t, w, "transcript", func(r row) bool { return r.TranscriptPath != nil })
		carried := func(n int) func(row) bool {
			return func(r row) bool { return len(r.SessionIDs) == n && r.State != "FINISHED" }
		}

		// A cd of its tool's does not move the session.
		term.Ask("go one down")
		term.WaitText("I am one down.")
		term.Ask("/clear")
		cleared := eventuallyRow(t, w, "new conversation after /clear", carried(2))
		if deref(cleared.CWD) != w.Work || deref(cleared.SessionID) == deref(first.SessionID) {
			t.Errorf("after /clear: in %s, conversation %s", deref(cleared.CWD), deref(cleared.SessionID))
		}
		// Its own /cd does, with its transcript.
		term.Ask("say more")
		term.WaitText("There is more.")
		term.Ask("/cd " + filepath.Join(w.Work, "two"))
		term.WaitText("Moved to")
		term.Ask("say hello")
		term.WaitText("Hello from the model.")
		moved := eventuallyRow(t, w, "new folder after /cd", func(r row) bool {
			return deref(r.CWD) == filepath.Join(w.Work, "two") && strings.Contains(deref(r.TranscriptPath), "-two/")
		})
		if deref(moved.SessionID) != deref(cleared.SessionID) {
			t.Errorf("after /cd: conversation %s", deref(moved.SessionID))
		}
		// A fork goes on in the same process, under a new id.
		term.Ask("/branch")
		term.WaitText("Branched session")
		forked := eventuallyRow(t, w, "new conversation after /branch", carried(3))
		// And back.
		term.Ask("/resume " + deref(moved.SessionID))
		back := eventuallyRow(t, w, "earlier conversation after /resume", func(r row) bool {
			return deref(r.SessionID) == deref(moved.SessionID) && r.State != "FINISHED"
		})
		if len(back.SessionIDs) != 3 || back.SessionIDs[2].ID != deref(moved.SessionID) || deref(forked.SessionID) == deref(moved.SessionID) {
			t.Errorf("in the end: %+v", back)
		}
		if back.LedgerID != first.LedgerID || back.PID != first.PID {
			t.Errorf("first %+v, last %+v", first, back)
		}
	})
}

// Claude Code's own worktree is where the session works.
func TestARowFollowsIntoAWorktree(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		term := w.Open(t, "claude", append(claude.open[1:len(claude.open):len(claude.open)], "--worktree", "side")...)
		term.WaitText("side")
		term.Ask("say hello")
		term.WaitText("Hello from the model.")
		r := eventuallyRow(t, w, "transcript", func(r row) bool { return r.TranscriptPath != nil })
		if want := filepath.Join(w.Work, ".claude", "worktrees", "side"); deref(r.CWD) != want || !deref(r.Worktree) || deref(r.Branch) == "main" {
			t.Errorf("it works in %s, a worktree %t, on %s; want %s", deref(r.CWD), deref(r.Worktree), deref(r.Branch), want)
		}
		r.told(t, r.EnrolledBy)
	})
}

// A resume is a row of its own that carries the earlier conversation.
func TestAResumeIsOneRow(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		w.Model.Add(model.Say("say more", "There is more."))
		run(t, w, claude.ask, "say hello")
		first := onlyRow(t, w)
		term := w.Open(t, "claude", append(claude.open[1:len(claude.open):len(claude.open)], "--resume", deref(first.SessionID))...)
		term.WaitText("Hello from the model.")
		term.Ask("say more")
		term.WaitText("There is more.")
		var all []row
		cli.Eventually(t, "second row with its transcript", func() bool {
			all = rows(t, w)
			return len(all) == 2 && all[0].TranscriptPath != nil && all[1].TranscriptPath != nil
		})
		for _, r := range all {
			r.told(t, r.EnrolledBy)
			if deref(r.SessionID) != deref(first.SessionID) {
				t.Errorf("a row carries %s, want %s", deref(r.SessionID), deref(first.SessionID))
			}
		}
	})
}

// Whose turn it is stands in the row at once.
func TestWhoseTurnItIs(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		answers, asks := model.NewGate(), model.NewGate()
		w.Model.Add(
			model.Script{Prompt: "think long", Turns: []model.Turn{{model.Text("First this.\n\n"), answers, model.Text("Then that.")}}},
			model.Script{Prompt: "ask me", Turns: []model.Turn{{model.Text("May I?"), asks, model.Bash("touch asked")}, {model.Text("I could.")}}},
		)
		term := w.Open(t, "claude", "--permission-mode", "default")
		term.WaitText(claude.ready)
		turn := func(whose string) {
			t.Helper()
			eventuallyRow(t, w, "turn "+whose, func(r row) bool { return deref(r.Turn) == whose })
		}
		term.Ask("think long")
		<-answers.Reached()
		turn("its")
		answers.Open()
		term.WaitText("Then that.")
		turn("yours")
		term.Ask("ask me")
		<-asks.Reached()
		turn("its")
		asks.Open()
		term.WaitText("Do you want to proceed?")
		turn("yours")
	})
}
