//go:build real

package real

import (
	"strings"
	"testing"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

func TestHeadless(t *testing.T) {
	forEach(t, headless, func(t *testing.T, w *cli.World, d driver) {
		w.Model.Add(makeFile, model.Say("say more", "More from the model."))
		got := run(t, w, d.ask, "make a file")
		if got.Code != 0 || !strings.HasSuffix(strings.TrimRight(got.Stdout, "\n"), "The file is made.") {
			t.Errorf("got %+v", got)
		}
		wantFile(t, w)
		got = run(t, w, d.goOn, "say more")
		if got.Code != 0 || !strings.HasSuffix(strings.TrimRight(got.Stdout, "\n"), "More from the model.") {
			t.Errorf("continued: got %+v", got)
		}
		wantEarlier(t, w, "The file is made.")
	})
}

func TestInTerminal(t *testing.T) {
	forEach(t, drivers, func(t *testing.T, w *cli.World, d driver) {
		gate := model.NewGate()
		w.Model.Add(makeFile, model.Script{
			Prompt: "say hello",
			Turns:  []model.Turn{{model.Text("Hello, first line.\n\n"), gate, model.Text("And the last.")}},
		})
		term := w.Open(t, d.open[0], d.open[1:]...)
		term.WaitText(d.ready)
		term.Ask("say hello")
		<-gate.Reached()
		if s := term.WaitText("Hello, first line."); strings.Contains(s, "And the last.") {
			t.Errorf("the answer passed its gate:\n%s", s)
		}
		gate.Open()
		term.WaitText("And the last.")
		term.Ask("make a file")
		term.WaitText("The file is made.")
		wantFile(t, w)
		wantEarlier(t, w, "Hello, first line.\n\nAnd the last.")
		term.Ask(d.quit)
		if got := term.WaitExit(); got != (cli.Status{Known: true}) {
			t.Errorf("exit: %+v", got)
		}
	})
}
