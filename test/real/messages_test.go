//go:build real

package real

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// hookedBy has claude's hooks call a command.
func hookedBy(t *testing.T, w *cli.World, command string) {
	t.Helper()
	entry := []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": 10}}}}
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "Stop", "Notification", "SessionEnd"} {
		hooks[event] = entry
	}
	raw, err := json.Marshal(map[string]any{"hooks": hooks})
	if err == nil {
		err = os.MkdirAll(filepath.Join(w.Home, ".claude"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(w.Home, ".claude", "settings.json"), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// does runs a command of the companion that must succeed.
func does(t *testing.T, w *cli.World, args ...string) string {
	t.Helper()
	got := w.Run(t, "", "agent-sessions", args...)
	if got.Code != 0 {
		t.Fatalf("agent-sessions %q: %+v", args, got)
	}
	return got.Stdout
}

// asked are the prompts of the conversation that the model has heard, in order, each once however often the CLI repeats
// it.
func asked(w *cli.World) []string {
	var prompts []string
	for _, r := range w.Model.Requests() {
		var now []string
		for _, m := range r.Messages {
			if m.Role == "user" {
				now = append(now, m.Text)
			}
		}
		if len(now) > len(prompts) {
			prompts = now
		}
	}
	return prompts
}

// heard counts the prompts that hold a text.
func heard(w *cli.World, text string) (n int) {
	for _, p := range asked(w) {
		n += strings.Count(p, text)
	}
	return n
}

func TestThreeMessagesQueuedWhileItWorksAreThreeTurnsInOrder(t *testing.T) {
	// Codex's shared daemon, which runs the hooks of all its sessions, proves none of them.
	alone := codex
	alone.open = []string{"codex", "--no-daemon"}
	for _, d := range []driver{claude, alone} {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) { threeMessages(t, w, d) })
		})
	}
}

func threeMessages(t *testing.T, w *cli.World, d driver) {
	does(t, w, "hooks", "install", d.program.Name)
	gate := model.NewGate()
	messages := []string{"message one", "message two <&> \"quoted\"", "message three\nof two lines"}
	w.Model.Add(model.Script{Prompt: "say hello", Turns: []model.Turn{{model.Text("Hello.\n\n"), gate, model.Text("And the last.")}}},
		model.Say("message one", "Answer one."), model.Say("message two", "Answer two."), model.Say("message three", "Answer three."))
	term := w.Open(t, d.open[0], d.open[1:]...)
	if d.program.Name == "codex" {
		trustHooks(t, term)
	}
	term.WaitText(d.ready)
	term.Ask("say hello")
	<-gate.Reached()
	var id string
	cli.Eventually(t, "turn of the CLI", func() bool {
		r := onlyRow(t, w)
		id = r.LedgerID
		return r.Turn != nil && *r.Turn == "its"
	})
	for i, text := range messages {
		if got, want := does(t, w, "send", id, text), fmt.Sprintf("%d: waits for the end of its turn\n", i+1); got != want {
			t.Errorf("send said %q, want %q", got, want)
		}
	}
	gate.Open()
	term.WaitText("Answer three.")
	var order []string
	for _, p := range asked(w) {
		for _, text := range append([]string{"say hello"}, messages...) {
			if strings.Contains(html.UnescapeString(p), text) {
				order = append(order, text)
			}
		}
	}
	if got, want := strings.Join(order, ", "), "say hello, "+strings.Join(messages, ", "); got != want {
		t.Errorf("the model heard %q, want %q", got, want)
	}
	cli.Eventually(t, "empty queue", func() bool { return does(t, w, "messages", id) == "" })
	events := does(t, w, "events", id, "--json")
	for _, phase := range []string{"queued", "offered", "delivered"} {
		if n := strings.Count(events, `"phase":"`+phase+`"`); n != 3 {
			t.Errorf("%d messages are %s in the log:\n%s", n, phase, events)
		}
	}
	if text := does(t, w, "events", id); !strings.Contains(text, "  birth ") || !strings.Contains(text, "  conversation ") {
		t.Errorf("the log: %s", text)
	}
}

// trustHooks answers codex's question for the hooks that are new.
func trustHooks(t *testing.T, term *cli.Terminal) {
	t.Helper()
	const question = "Trust all and continue"
	term.WaitText(question)
	cli.Eventually(t, "trust", func() bool {
		if !strings.Contains(term.Screen(), question) {
			return true
		}
		term.Press("2", cli.Enter)
		time.Sleep(300 * time.Millisecond) // it takes a while to take a key
		return false
	})
}

func TestAMessageIsTypedIntoAnIdleSession(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) {
				if d.program.Name == "claude" {
					does(t, w, "hooks", "install", "claude")
				}
				w.Model.Add(model.Say("say hello", "Hello there."), model.Say("message one", "Answer one."), model.Say("message two", "Answer two."))
				term := w.Open(t, d.open[0], d.open[1:]...)
				term.WaitText(d.ready)
				term.Ask("say hello")
				term.WaitText("Hello there.")
				id := onlyRow(t, w).LedgerID
				sendUntil(t, w, id, "message one\nof two lines")
				term.WaitText("Answer one.")
				term.Press("half a draft")
				term.WaitText("half a draft")
				waits := does(t, w, "send", id, "message two")
				for range len("half a draft") {
					term.Press("\x7f")
				}
				term.Wait("an empty prompt", func(s string) bool { return !strings.Contains(s, "half") })
				if n := heard(w, "message two"); n != 0 || !strings.Contains(waits, "waits") {
					t.Errorf("with a draft at the prompt send said %q; the model heard it %d times", waits, n)
				}
				sweepUntilHeard(t, w, "message two")
				term.WaitText("Answer two.")
				if n := heard(w, "message one\nof two lines"); n != 1 {
					t.Errorf("the model heard the first %d times: %q", n, asked(w))
				}
			})
		})
	}
}

// sendUntil sends a message and has sweeps look after it until the model has heard it.
func sendUntil(t *testing.T, w *cli.World, id, text string) {
	t.Helper()
	t.Logf("send said %q", does(t, w, "send", id, text))
	sweepUntilHeard(t, w, text)
}

func sweepUntilHeard(t *testing.T, w *cli.World, text string) {
	t.Helper()
	cli.Eventually(t, "turn of "+text, func() bool {
		if heard(w, text) == 1 {
			return true
		}
		does(t, w, "sweep")
		return false
	})
}

func TestNothingIsTypedIntoAQuestion(t *testing.T) {
	asking := claude
	asking.open = []string{"claude", "--permission-mode", "default"}
	wrapped(t, asking, func(t *testing.T, w *cli.World) {
		does(t, w, "hooks", "install", "claude")
		w.Model.Add(model.Script{Prompt: "run it", Turns: []model.Turn{{model.Text("I run."), model.Bash("echo made > made.txt")}, {model.Text("Done it.")}}}, model.Say("message one", "Answer one."))
		term := w.Open(t, asking.open[0], asking.open[1:]...)
		term.WaitText(asking.ready)
		term.Ask("run it")
		term.WaitText("Do you want")
		id := onlyRow(t, w).LedgerID
		if got := does(t, w, "send", id, "message one", "--now"); !strings.Contains(got, "waits") {
			t.Errorf("send said %q", got)
		}
		if _, err := os.Stat(filepath.Join(w.Work, "made.txt")); err == nil {
			t.Fatal("the question was answered")
		}
		cli.Eventually(t, "answer to the question", func() bool {
			if !strings.Contains(term.Screen(), "Do you want") {
				return true
			}
			term.Press(cli.Enter)
			time.Sleep(300 * time.Millisecond) // it takes a while to take a key
			return false
		})
		term.WaitText("Answer one.")
		if n := heard(w, "message one"); n != 1 {
			t.Errorf("heard %d times", n)
		}
	})
}

func TestAnIdleSessionEndsAndABusyOrAttachedOneDoesNot(t *testing.T) {
	for _, d := range []driver{claude, codex} {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) {
				if d.program.Name == "claude" {
					does(t, w, "hooks", "install", "claude")
				}
				gate := model.NewGate()
				w.Model.Add(model.Say("say hello", "Hello there."), model.Script{Prompt: "take long", Turns: []model.Turn{{model.Text("I begin.\n\n"), gate, model.Text("I am done.")}}})
				term := w.Open(t, d.open[0], d.open[1:]...)
				term.WaitText(d.ready)
				term.Ask("say hello")
				term.WaitText("Hello there.")
				id := onlyRow(t, w).LedgerID
				does(t, w, "idle", id, "--exit-after", "2s")
				lives := func(why string) {
					t.Helper()
					for range 4 {
						does(t, w, "sweep")
						time.Sleep(1100 * time.Millisecond) // the timeout passes
					}
					if r := onlyRow(t, w); r.State == "FINISHED" {
						t.Fatalf("%s: it was ended: %+v", why, r)
					}
				}
				lives("attached")
				term.Ask("take long")
				<-gate.Reached()
				term.Kill()
				if d.program.Name == "claude" {
					lives("busy")
				}
				gate.Open()
				cli.Eventually(t, "an end", func() bool {
					does(t, w, "sweep")
					return onlyRow(t, w).State == "FINISHED"
				})
				if r := onlyRow(t, w); r.EndedBy == nil || *r.EndedBy != "user" || r.Lost {
					t.Errorf("it ended as %+v", r)
				}
				log := does(t, w, "events", id)
				for _, want := range []string{"a terminal is attached", "idle in 3 looks"} {
					if !strings.Contains(log, want) {
						t.Errorf("the log does not say %q:\n%s", want, log)
					}
				}
			})
		})
	}
}

// The hook is killed at ever later moments of its run. Each message is heard once, or told of.
func TestMessagesAcrossHooksThatAreKilled(t *testing.T) {
	wrapped(t, claude, func(t *testing.T, w *cli.World) {
		script := filepath.Join(w.Root, "hook")
		text := "#!/bin/bash\ntouch " + w.Root + "/calls\nn=$(wc -l < " + w.Root + "/calls)\necho x >> " + w.Root + "/calls\n" +
			"if [ \"$n\" -lt 24 ]; then exec timeout -s KILL 0.00$((n % 8 + 1)) " + w.Shims + "/agent-sessions hook claude; fi\nexec " + w.Shims + "/agent-sessions hook claude\n"
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		hookedBy(t, w, script)
		const messages = 12
		w.Model.Add(model.Say("say hello", "Hello there."), model.Say("parcel", "Answer."))
		for i := range 40 {
			w.Model.Add(model.Say(fmt.Sprintf("turn %d.", i), fmt.Sprintf("Turn %d it is.", i)))
		}
		term := w.Open(t, claude.open[0], claude.open[1:]...)
		term.WaitText(claude.ready)
		term.Ask("say hello")
		term.WaitText("Hello there.")
		id := onlyRow(t, w).LedgerID
		for i := range messages {
			does(t, w, "send", id, fmt.Sprintf("parcel %d.", i))
		}
		for i := range 16 {
			term.Ask(fmt.Sprintf("turn %d.", i))
			term.WaitText(fmt.Sprintf("Turn %d it is.", i))
			if left := does(t, w, "messages", id); !strings.Contains(left, "queued") && !strings.Contains(left, "offered") {
				break
			}
		}
		left := does(t, w, "messages", id)
		for i := range messages {
			text := fmt.Sprintf("parcel %d.", i)
			told := strings.Contains(left, text)
			if n := heard(w, text); n > 1 || n == 0 && !told {
				t.Errorf("%s was heard %d times; told of: %t", text, n, told)
			}
		}
		if strings.Count(left, "\n") > messages {
			t.Errorf("left: %s", left)
		}
		t.Logf("told of in the end:\n%s", left)
	})
}
