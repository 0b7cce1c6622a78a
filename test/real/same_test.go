//go:build real

package real

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// Without a terminal nothing of the shim shows: output and exit code are those of a direct call.
func TestHeadlessIsTheSameWrapped(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) {
				w.Model.Add(makeFile)
				wantSame(t, w, "", append(d.ask[:len(d.ask):len(d.ask)], "make a file"))
				wantSame(t, w, "", []string{d.program.Name, "--no-such-flag"})
			})
		})
	}
	t.Run("prompt from a pipe", func(t *testing.T) {
		wrapped(t, claude, func(t *testing.T, w *cli.World) {
			w.Model.Add(model.Say("say hello", "Hello from the model."))
			wantSame(t, w, "say hello", claude.ask)
			wantSame(t, w, "", []string{"claude", "--version"})
			wantSame(t, w, "", []string{"claude", "-p", "--resume", "no-such-session", "say hello"})
		})
	})
}

// wantSame runs a command directly and through the shim.
func wantSame(t *testing.T, w *cli.World, stdin string, words []string) {
	t.Helper()
	direct := w.Run(t, stdin, filepath.Join(w.Bin, words[0]), words[1:]...)
	through := w.Run(t, stdin, words[0], words[1:]...)
	if through.Stdout != direct.Stdout || through.Code != direct.Code {
		t.Errorf("%q: direct %+v, wrapped %+v", words, direct, through)
	}
	if strings.Contains(through.Stderr, "agentwrap") {
		t.Errorf("%q: the shim spoke: %s", words, through.Stderr)
	}
}

// However a session ends, its terminal sees the exit status of a direct call, and the row has it.
func TestEndIsTheSameWrapped(t *testing.T) {
	signal := func(s syscall.Signal) func(*testing.T, *cli.Terminal, int) {
		return func(t *testing.T, _ *cli.Terminal, pid int) { kill(t, pid, s) }
	}
	again := func(key string) func(*testing.T, *cli.Terminal, int) {
		return func(_ *testing.T, term *cli.Terminal, _ int) { term.PressToEnd(key) }
	}
	for _, end := range []struct {
		name string
		end  func(t *testing.T, term *cli.Terminal, pid int)
		lost bool
	}{
		{"exit command", func(_ *testing.T, term *cli.Terminal, _ int) { term.Ask("/exit") }, false},
		{"Ctrl-C twice", again("\x03"), false},
		{"Ctrl-D twice", again("\x04"), false},
		{"SIGTERM", signal(syscall.SIGTERM), true},
		{"SIGHUP", signal(syscall.SIGHUP), true},
		{"SIGINT", signal(syscall.SIGINT), false},
		{"SIGQUIT", signal(syscall.SIGQUIT), true},
		{"SIGKILL", signal(syscall.SIGKILL), true},
	} {
		t.Run(end.name, func(t *testing.T) {
			wrapped(t, claude, func(t *testing.T, w *cli.World) {
				open := func(name string) *cli.Terminal {
					term := w.Open(t, name, claude.open[1:]...)
					term.WaitText(claude.ready)
					return term
				}
				direct := open(filepath.Join(w.Bin, "claude"))
				end.end(t, direct, direct.CommandPID())
				want := direct.WaitExit()
				through := open("claude")
				end.end(t, through, onlyRow(t, w).PID)
				if got := through.WaitExit(); got != want {
					t.Errorf("direct %+v, wrapped %+v", want, got)
				}
				r := onlyRow(t, w)
				if r.ExitStatus == nil || !r.ExitStatus.is(want) || r.Lost != end.lost || r.State != "FINISHED" && !end.lost {
					t.Errorf("the row after %+v: %+v", want, r)
				}
			})
		})
	}
}

func (e exitStatus) is(s cli.Status) bool {
	if s.Signal != 0 {
		return e.Code == nil && e.Signal != nil && *e.Signal == s.Signal
	}
	return e.Signal == nil && e.Code != nil && *e.Code == s.Code
}
