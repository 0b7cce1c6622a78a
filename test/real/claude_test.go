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

func TestClaudeHeadless(t *testing.T) {
	cli.Test(t, cli.Programs{cli.Claude}, func(t *testing.T, w *cli.World) {
		w.Model.Add(model.Say("say hello", "Hello from the model."), model.Say("say more", "More from the model."))
		got := w.Run(t, "", "claude", "-p", "say hello")
		if want := (cli.Result{Stdout: "Hello from the model.\n"}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		got = w.Run(t, "", "claude", "-p", "--continue", "say more")
		if want := (cli.Result{Stdout: "More from the model.\n"}); got != want {
			t.Errorf("continued: got %+v, want %+v", got, want)
		}
		requests := w.Model.Requests()
		if text := requests[len(requests)-1].Text(); !strings.Contains(text, "assistant: Hello from the model.") {
			t.Errorf("the continued conversation does not hold the first answer:\n%s", text)
		}
	})
}

func TestClaudeHeadlessError(t *testing.T) {
	cli.Test(t, cli.Programs{cli.Claude}, func(t *testing.T, w *cli.World) {
		if got := w.Run(t, "", "claude", "-p", "--resume", "no-such-session", "say hello"); got.Code != 1 {
			t.Errorf("got %+v, want exit code 1", got)
		}
	})
}

func TestClaudeInTerminal(t *testing.T) {
	cli.Test(t, cli.Programs{cli.Claude}, func(t *testing.T, w *cli.World) {
		gate := model.NewGate()
		w.Model.Add(
			model.Script{Prompt: "say hello", Turns: []model.Turn{{model.Text("Hello, first line.\n\n"), gate, model.Text("And the last.")}}},
			makeFile,
		)
		term := w.Open(t, "claude", "--permission-mode", "default", "--allowedTools", "Bash")
		term.WaitText("for agents")
		term.Submit("say hello")
		<-gate.Reached()
		if s := term.WaitText("Hello, first line."); strings.Contains(s, "And the last.") {
			t.Errorf("the answer passed its gate:\n%s", s)
		}
		gate.Open()
		term.WaitText("And the last.")
		term.Submit("make a file")
		term.WaitText("The file is made.")
		wantFile(t, w)
		term.Submit("/exit")
		if got := term.WaitExit(); got != (cli.Status{Known: true}) {
			t.Errorf("exit: %+v", got)
		}
	})
}

// makeFile answers "make a file" by one call of the shell tool.
var makeFile = model.Script{Prompt: "make a file", Turns: []model.Turn{
	{model.Text("I will make it."), model.Bash("echo made > made.txt")},
	{model.Text("The file is made.")},
}}

func wantFile(t *testing.T, w *cli.World) {
	t.Helper()
	if data, err := os.ReadFile(filepath.Join(w.Work, "made.txt")); string(data) != "made\n" {
		t.Errorf("made.txt: %q, %v", data, err)
	}
}
