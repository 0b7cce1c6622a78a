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

// A driver is how one CLI is used.
type driver struct {
	program cli.Program
	// ask and goOn are the words before a prompt that start a headless conversation and continue the newest.
	ask, goOn []string
	// open are the words that start it in a terminal, where ready is what it shows when it takes prompts.
	open  []string
	ready string
	// quit is its command to end.
	quit string
}

// The flags let each CLI run a command without asking, which is not what is tested.
var (
	claude = driver{
		program: cli.Claude,
		ask:     []string{"claude", "--permission-mode", "default", "--allowedTools=Bash", "-p"},
		goOn:    []string{"claude", "--permission-mode", "default", "-p", "--continue"},
		open:    []string{"claude", "--permission-mode", "default", "--allowedTools=Bash"},
		ready:   "for agents",
		quit:    "/exit",
	}
	codex = driver{
		program: cli.Codex,
		ask:     []string{"codex", "exec"},
		goOn:    []string{"codex", "exec", "resume", "--last"},
		open:    []string{"codex"},
		ready:   "Ask Codex",
		quit:    "/quit",
	}
	gemini = driver{
		program: cli.Gemini,
		ask:     []string{"gemini", "--yolo", "-p"},
		goOn:    []string{"gemini", "--resume", "latest", "-p"},
		open:    []string{"gemini", "--yolo"},
		ready:   "Type your message",
		quit:    "/quit",
	}
	opencode = driver{
		program: cli.OpenCode,
		ask:     []string{"opencode", "run"},
		goOn:    []string{"opencode", "run", "--continue"},
		open:    []string{"opencode"},
		ready:   "Ask anything",
		quit:    "/exit",
	}
	copilot = driver{
		program: cli.Copilot,
		ask:     []string{"copilot", "--allow-all-tools", "-s", "-p"},
		goOn:    []string{"copilot", "--allow-all-tools", "-s", "--continue", "-p"},
		open:    []string{"copilot", "--allow-all-tools"},
		ready:   "/ commands",
	}
	qwen = driver{
		program: cli.Qwen,
		ask:     []string{"qwen", "--yolo", "-p"},
		goOn:    []string{"qwen", "--yolo", "--continue", "-p"},
		open:    []string{"qwen", "--yolo"},
		ready:   "Type your message",
	}
	// drivers are driven on a screen too, headless only without one.
	drivers  = []driver{claude, codex, gemini, opencode}
	headless = append(drivers[:len(drivers):len(drivers)], copilot, qwen)
)

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

// wantEarlier checks that the newest request held this earlier answer of the model.
func wantEarlier(t *testing.T, w *cli.World, answer string) {
	t.Helper()
	requests := w.Model.Requests()
	if text := requests[len(requests)-1].Text(); !strings.Contains(text, "assistant: "+answer) {
		t.Errorf("the newest request does not hold the earlier answer %q:\n%s", answer, text)
	}
}

func run(t *testing.T, w *cli.World, words []string, prompt string) cli.Result {
	t.Helper()
	return w.Run(t, "", words[0], append(words[1:len(words):len(words)], prompt)...)
}

// forEach runs a test once for each of some CLIs.
func forEach(t *testing.T, drivers []driver, body func(t *testing.T, w *cli.World, d driver)) {
	for _, d := range drivers {
		t.Run(d.program.Name, func(t *testing.T) {
			cli.Test(t, cli.Programs{d.program}, func(t *testing.T, w *cli.World) { body(t, w, d) })
		})
	}
}

// wrapped runs a test with one CLI behind the shim.
func wrapped(t *testing.T, d driver, body func(t *testing.T, w *cli.World)) {
	cli.Build(t)
	cli.Test(t, cli.Programs{d.program}, func(t *testing.T, w *cli.World) {
		w.Wrap(t)
		body(t, w)
	})
}
