//go:build real

package real

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/internal/opencodeplugin"
	"agentwrap/internal/runtimes"
	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// gated is a prompt whose answer stands still until the gate opens.
func gated(w *cli.World) *model.Gate {
	gate := model.NewGate()
	w.Model.Add(model.Script{Prompt: "say hello", Turns: []model.Turn{{model.Text("Hello, first line.\n\n"), gate, model.Text("And the last.")}}})
	return gate
}

// withPlugin installs opencode's plugin, where opencode has nothing else to install first.
func withPlugin(t *testing.T, w *cli.World) {
	t.Helper()
	getenv := func(name string) string { return w.Getenv(name) }
	if err := opencodeplugin.Write(runtimes.PluginFile(getenv), filepath.Join(w.Shims, "agent-sessions")); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(w.Home, ".config", "opencode")
	if err := os.MkdirAll(filepath.Join(config, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock := `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"` + cli.OpenCode.Version + `"}}}}`
	if err := os.WriteFile(filepath.Join(config, "package-lock.json"), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
}

// No hook is installed: what is known of a conversation is known by what its process holds, by the id that it was given,
// or by the plugin. It is gone on with by that id.
func TestAConversationIsKnownWithoutHooks(t *testing.T) {
	for _, d := range headless[1:] {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) {
				if d.program.Name == "opencode" {
					withPlugin(t, w)
				}
				gate := gated(w)
				term := w.Open(t, d.ask[0], append(d.ask[1:len(d.ask):len(d.ask)], "say hello")...)
				<-gate.Reached()
				sweep(t, w)
				if r := onlyRow(t, w); r.PID != term.CommandPID() || r.Runtime != d.program.Name || r.Interactive {
					t.Errorf("while it runs: %+v", r)
				}
				gate.Open()
				if got := term.WaitExit(); got != (cli.Status{Known: true}) {
					t.Errorf("exit: %+v", got)
				}
				sweep(t, w)
				r := onlyRow(t, w)
				wantConversation(t, d, r)
				resumeByID(t, w, d, *r.SessionID)
			})
		})
	}
}

// wantConversation checks what the row of an ended run tells of its conversation.
func wantConversation(t *testing.T, d driver, r row) {
	t.Helper()
	if r.SessionID == nil || r.State != "FINISHED" {
		t.Fatalf("no conversation is known: %+v", r)
	}
	title := "say hello"
	if d.program.Name == "opencode" {
		title = "A title" // which it has the model make
	}
	if r.Title == nil || *r.Title != title || r.Activity == nil || !strings.HasPrefix(*r.Activity, "Hello, first line.") {
		t.Errorf("title and activity: %+v", r)
	}
	if hasFile := r.TranscriptPath != nil; hasFile != (d.program.Name != "opencode") {
		t.Errorf("transcript: %+v", r)
	}
}

// resumeByID goes on with a conversation as its profile has it, on a screen behind the shim: what was said in it stands there.
func resumeByID(t *testing.T, w *cli.World, d driver, id string) {
	t.Helper()
	args, err := runtimes.For(d.program.Name).Resume(id, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Open(t, d.program.Name, args...).WaitText("And the last.")
}

// Gemini and Qwen start themselves anew with the arguments they were given (after a changed setting, say). An id that is
// in use makes that fail: so a screen is given none.
func TestAGivenIDIsRefusedASecondTime(t *testing.T) {
	const id = "0f0e0d0c-0b0a-4908-8706-050403020100"
	forEach(t, []driver{gemini, qwen}, func(t *testing.T, w *cli.World, d driver) {
		w.Model.Add(model.Say("say hello", "Hello from the model."))
		words := append([]string{d.ask[0], "--session-id", id}, d.ask[1:]...)
		if got := run(t, w, words, "say hello"); got.Code != 0 {
			t.Fatalf("first: %+v", got)
		}
		if got := run(t, w, words, "say hello"); got.Code == 0 || !strings.Contains(got.Stderr, "already") {
			t.Errorf("second: %+v", got)
		}
	})
}

// A screen of codex with a server of its own shows its conversation; two that share the daemon show none, and each is a
// session of its own that ends without the other or the daemon.
func TestCodexScreens(t *testing.T) {
	t.Run("alone", func(t *testing.T) {
		wrapped(t, codex, func(t *testing.T, w *cli.World) {
			gated(w).Open()
			term := w.Open(t, "codex", "--no-daemon")
			term.WaitText(codex.ready)
			// It takes its lock soon after its screen is there.
			cli.Eventually(t, "conversation of the screen", func() bool {
				sweep(t, w)
				return onlyRow(t, w).SessionID != nil
			})
			if r := onlyRow(t, w); !r.Interactive || r.TranscriptPath != nil {
				t.Errorf("before the first prompt: %+v", r)
			}
			term.Ask("say hello")
			term.WaitText("And the last.")
			sweep(t, w)
			if r := onlyRow(t, w); r.TranscriptPath == nil || r.Title == nil || *r.Title != "say hello" {
				t.Errorf("behind it: %+v", r)
			}
		})
	})
	t.Run("two on one daemon", func(t *testing.T) {
		wrapped(t, codex, func(t *testing.T, w *cli.World) {
			gated(w).Open()
			for range 2 {
				term := w.Open(t, "codex")
				term.WaitText(codex.ready)
				term.Ask("say hello")
				term.WaitText("And the last.")
			}
			sweep(t, w)
			all := rows(t, w)
			if len(all) != 2 || all[0].PID == all[1].PID || all[0].SessionID != nil || all[1].SessionID != nil {
				t.Fatalf("%+v", all)
			}
			daemon := w.Run(t, "", "pgrep", "-f", "app-server-daemon.* app-server")
			if daemon.Code != 0 {
				t.Fatalf("there is no daemon: %+v", daemon)
			}
			if got := w.Run(t, "", "agent-sessions", "stop", all[0].LedgerID); got.Code != 0 {
				t.Errorf("stop: %+v", got)
			}
			for _, r := range rows(t, w) {
				if ended := r.State == "FINISHED"; ended != (r.LedgerID == all[0].LedgerID) {
					t.Errorf("%+v", r)
				}
			}
			if now := w.Run(t, "", "pgrep", "-f", "app-server-daemon.* app-server"); now != daemon {
				t.Errorf("the daemon was %q and is %q", daemon.Stdout, now.Stdout)
			}
		})
	})
}
