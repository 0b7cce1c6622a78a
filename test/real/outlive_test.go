//go:build real

package real

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// A session's terminal is lost in the middle of an answer, in each way there is; the session goes on, and its user gets it
// back with the answer and all that stood before it.
func TestSessionOutlivesItsTerminal(t *testing.T) {
	for _, loss := range []struct {
		name string
		lose func(t *testing.T, w *cli.World, term *cli.Terminal)
	}{
		{"terminal killed", func(t *testing.T, w *cli.World, term *cli.Terminal) { term.Kill() }},
		{"connection lost", func(t *testing.T, w *cli.World, term *cli.Terminal) { term.HangUp() }},
		{"shim killed", func(t *testing.T, w *cli.World, term *cli.Terminal) {
			kill(t, onlyPID(t, w, "-P", strconv.Itoa(term.CommandPID())), syscall.SIGKILL)
			term.WaitText("Killed")
		}},
		{"tmux server killed, then the terminal", func(t *testing.T, w *cli.World, term *cli.Terminal) {
			kill(t, onlyPID(t, w, "-f", "^tmux .*"+*onlyRow(t, w).TmuxSocket), syscall.SIGKILL)
			term.Kill()
		}},
	} {
		t.Run(loss.name, func(t *testing.T) {
			wrapped(t, claude, func(t *testing.T, w *cli.World) {
				lost := loseMidAnswer(t, w, claude, loss.lose)
				again := w.Open(t, "agent-sessions", "attach", lost.LedgerID)
				again.WaitText("And the last.")
				wantLines(t, again.History(), "count", "number", 60)
				wantLines(t, again.History(), "Hello, first line.", "answer", 40)
				endAttached(t, w, claude, again, lost)
			})
		})
	}
}

// The other CLIs' sessions outlive it too; what an alternate screen showed before, they keep to themselves.
func TestEveryCLIOutlivesItsTerminal(t *testing.T) {
	for _, d := range drivers[1:] {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) {
				lost := loseMidAnswer(t, w, d, func(t *testing.T, w *cli.World, term *cli.Terminal) { term.Kill() })
				again := w.Open(t, "agent-sessions", "attach", lost.LedgerID)
				again.WaitText("And the last.")
				again.Ask("make a file")
				again.WaitText("The file is made.")
				wantFile(t, w)
				wantEarlier(t, w, "Hello, first line.")
				endAttached(t, w, d, again, lost)
			})
		})
	}
}

// loseMidAnswer starts a CLI from a shell in a terminal, loses that in the middle of its second answer, and returns the
// session once the answer has been given to nobody.
func loseMidAnswer(t *testing.T, w *cli.World, d driver, lose func(*testing.T, *cli.World, *cli.Terminal)) row {
	t.Helper()
	gate, end := model.NewGate(), model.NewGate()
	w.Model.Add(makeFile, model.Say("count", numbered("number", 60)), model.Script{
		Prompt: "say hello",
		Turns: []model.Turn{{
			model.Text("Hello, first line.\n\n"), gate, model.Text(numbered("answer", 40) + "And the last."), end,
		}},
	})
	term := w.Open(t, "bash", "--norc", "-i")
	term.WaitText("bash-")
	term.Press(strings.Join(d.open, " "), cli.Enter)
	term.WaitText(d.ready)
	term.Ask("count")
	term.WaitText("number 60")
	term.Ask("say hello")
	<-gate.Reached()
	term.WaitText("Hello, first line.")
	lose(t, w, term)
	lost := waitState(t, w, "DETACHED-ALIVE")
	gate.Open()
	<-end.Reached()
	end.Open()
	return lost
}

// endAttached quits the CLI and checks how the attached terminal and the row end.
func endAttached(t *testing.T, w *cli.World, d driver, term *cli.Terminal, lost row) {
	t.Helper()
	term.Ask(d.quit)
	if got := term.WaitExit(); got != (cli.Status{Known: true}) {
		t.Errorf("attach ended with %+v", got)
	}
	r := onlyRow(t, w)
	if r.LedgerID != lost.LedgerID || r.PID != lost.PID || r.State != "FINISHED" || r.ExitStatus == nil || !r.ExitStatus.is(cli.Status{}) {
		t.Errorf("the row in the end: %+v", r)
	}
}

// numbered is a paragraph of so many lines, each a word and its number.
func numbered(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n\n", word, i+1)
	}
	return b.String()
}

// wantLines checks that a terminal's history holds a line, and behind it all numbered ones, in order, each once.
func wantLines(t *testing.T, history, first, word string, n int) {
	t.Helper()
	_, rest, found := strings.Cut(history, first)
	for i := 1; found && i <= n; i++ {
		if _, rest, found = strings.Cut(rest, fmt.Sprintf("%s %d\n", word, i)); !found {
			t.Errorf("%s %d is not where it belongs", word, i)
		}
	}
	if half := fmt.Sprintf("%s %d\n", word, n/2); strings.Count(history, half) != 1 {
		t.Errorf("%q is there %d times", half, strings.Count(history, half))
	}
	if !found {
		t.Errorf("the history behind %q is not whole:\n%s", first, history)
	}
}
