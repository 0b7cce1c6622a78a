//go:build real

package real

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentwrap/test/cli"
)

// However Claude Code ends, its row has the state and the reason that the CLI gave.
func TestEachEndWithHooks(t *testing.T) {
	signal := func(s syscall.Signal) func(*testing.T, *cli.World, *cli.Terminal, int) {
		return func(t *testing.T, _ *cli.World, _ *cli.Terminal, pid int) { kill(t, pid, s) }
	}
	again := func(key string) func(*testing.T, *cli.World, *cli.Terminal, int) {
		return func(_ *testing.T, _ *cli.World, term *cli.Terminal, _ int) { term.PressToEnd(key) }
	}
	quit := func(_ *testing.T, _ *cli.World, term *cli.Terminal, _ int) { term.Ask("/exit") }
	const atPrompt = "exited at the prompt"
	for _, tc := range []struct {
		name          string
		end           func(t *testing.T, w *cli.World, term *cli.Terminal, pid int)
		state, reason string
		by            string
		lost          bool
	}{
		{"exit command", quit, "FINISHED", atPrompt, "user", false},
		{"Ctrl-C twice", again("\x03"), "FINISHED", atPrompt, "user", false},
		{"Ctrl-D twice", again("\x04"), "FINISHED", atPrompt, "user", false},
		{"SIGTERM", signal(syscall.SIGTERM), "FINISHED", "", "loss", true},
		{"SIGHUP", signal(syscall.SIGHUP), "FINISHED", "", "loss", true},
		{"SIGINT", signal(syscall.SIGINT), "FINISHED", "", "loss", true},
		{"SIGQUIT", signal(syscall.SIGQUIT), "ORPHANED", "", "loss", true},
		{"SIGKILL", signal(syscall.SIGKILL), "ORPHANED", "", "loss", true},
	} {
		for _, start := range []string{"hosted", "direct"} {
			t.Run(tc.name+", "+start, func(t *testing.T) {
				hooked(t, func(t *testing.T, w *cli.World) {
					name := map[string]string{"hosted": "claude", "direct": filepath.Join(w.Bin, "claude")}[start]
					term := w.Open(t, name, claude.open[1:]...)
					term.WaitText(claude.ready)
					r := eventuallyRow(t, w, "conversation", func(r row) bool { return r.SessionID != nil })
					tc.end(t, w, term, r.PID)
					term.WaitExit()
					r = eventuallyRow(t, w, "state "+tc.state, func(r row) bool { return r.State == tc.state })
					by := tc.by
					if start == "direct" && tc.state == "ORPHANED" {
						by = "" // nobody saw it
					}
					if deref(r.FinishReason) != tc.reason || deref(r.EndedBy) != by || r.Lost != tc.lost {
						t.Errorf("reason %q, ended by %q, lost %t: %+v", deref(r.FinishReason), deref(r.EndedBy), r.Lost, r)
					}
				})
			})
		}
	}
}

// A session in the background is nobody's loss: it has no terminal that anyone sits before.
func TestABackgroundSessionIsStopped(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		got := w.Run(t, "", "claude", "--bg", "say hello")
		r := eventuallyRow(t, w, "transcript", func(r row) bool { return r.TranscriptPath != nil })
		if r.Interactive || !strings.Contains(got.Stdout, deref(r.SessionID)[:8]) {
			t.Errorf("%s\nis %+v", got.Stdout, r)
		}
		if got := w.Run(t, "", "claude", "stop", deref(r.SessionID)[:8]); got.Code != 0 {
			t.Fatalf("stop: %+v", got)
		}
		if r := eventuallyRow(t, w, "end", func(r row) bool { return r.State == "FINISHED" }); r.Lost || r.State != "FINISHED" {
			t.Errorf("stopped: %+v", r)
		}
	})
}

// The other ways out have no terminal to come back to.
func TestEachEndWithoutATerminal(t *testing.T) {
	t.Run("answered", func(t *testing.T) {
		hooked(t, func(t *testing.T, w *cli.World) {
			run(t, w, claude.ask, "say hello")
			if r := onlyRow(t, w); r.State != "FINISHED" || r.FinishReason != nil || r.Lost {
				t.Errorf("%+v", r)
			}
		})
	})
	t.Run("resume of an unknown id", func(t *testing.T) {
		hooked(t, func(t *testing.T, w *cli.World) {
			const id = "aaaaaaaa-0000-4000-8000-00000000dead"
			if got := w.Run(t, "", "claude", "-p", "--resume", id, "say hello"); got.Code == 0 {
				t.Errorf("%+v", got)
			}
			sweep(t, w)
			if r := onlyRow(t, w); r.State != "FINISHED" || r.Lost {
				t.Errorf("%+v", r)
			}
		})
	})
	t.Run("trust refused", func(t *testing.T) {
		hooked(t, func(t *testing.T, w *cli.World) {
			if err := os.Mkdir(filepath.Join(w.Work, "other"), 0o700); err != nil {
				t.Fatal(err)
			}
			if got := w.Run(t, "", "git", "init", "-q", "other"); got.Code != 0 {
				t.Fatal(got)
			}
			term := w.Open(t, "bash", "--norc", "-c", "cd other && exec claude")
			term.WaitText("Enter to confirm")
			term.PressToEnd(cli.Enter)
			sweep(t, w)
			r := onlyRow(t, w)
			if r.State != "FINISHED" || r.SessionID != nil || deref(r.FinishReason) != "process exited, nothing was recorded to recover" {
				t.Errorf("%+v", r)
			}
		})
	})
	t.Run("terminal gone", func(t *testing.T) {
		hooked(t, func(t *testing.T, w *cli.World) {
			term := w.Open(t, filepath.Join(w.Bin, "claude"), claude.open[1:]...)
			term.WaitText(claude.ready)
			eventuallyRow(t, w, "conversation", func(r row) bool { return r.SessionID != nil })
			term.Kill()
			r := eventuallyRow(t, w, "end", func(r row) bool { return r.State == "FINISHED" })
			if r.FinishReason != nil || deref(r.EndedBy) != "loss" || !r.Lost {
				t.Errorf("%+v", r)
			}
		})
	})
}
