//go:build real

package real

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/test/cli"
	"agentwrap/test/model"
)

// What the killed session leaves uncommitted: bytes that no conversion of text would leave alone.
const (
	editTracked   = `printf 'second\r\n\000\377 no newline' >>story.txt`
	makeUntracked = `mkdir notes && printf '#!/bin/sh\r\n\000\376' >'notes/a new one.sh' && chmod +x notes/*`
)

var leftBehind = map[string]string{
	"story.txt":          "executable false: first\nsecond\r\n\x00\xff no newline",
	"notes/a new one.sh": "executable true: #!/bin/sh\r\n\x00\xfe",
}

// A session is killed with its holder in the middle of its work in a linked worktree, and then the worktree is removed by
// force. What it had not committed is put back into the main checkout to the last byte, and the next session there hears
// of it.
func TestRescueGivesBackWhatAKilledSessionEdited(t *testing.T) {
	hooked(t, func(t *testing.T, w *cli.World) {
		// No sweep but the test's own.
		w.Env = append(w.Env, "AGENT_SESSIONS_NO_SWEEP=1")
		tree := linkedWorktree(t, w)
		lost := killAtWork(t, w, tree)
		if diff := cmp.Diff(leftBehind, stateOf(tree)); diff != "" {
			t.Fatalf("what the session left: %s", diff)
		}
		sweep(t, w)
		rescued := wantRescued(t, w, lost)
		git(t, w, "worktree", "remove", "--force", tree)
		if _, err := os.Lstat(tree); !os.IsNotExist(err) {
			t.Fatalf("the worktree is still there: %v", err)
		}
		does(t, w, "rescue", "restore", lost.LedgerID, "--into", w.Work)
		if diff := cmp.Diff(leftBehind, stateOf(w.Work)); diff != "" {
			t.Errorf("what was given back: %s", diff)
		}
		if got, want := git(t, w, "status", "--porcelain"), "A  \"notes/a new one.sh\"\nM  story.txt\n"; got != want {
			t.Errorf("the main checkout: %q, want %q", got, want)
		}
		wantToldOnce(t, w, *rescued.RescueRef)
	})
}

func git(t *testing.T, w *cli.World, args ...string) string {
	t.Helper()
	got := w.Run(t, "", "git", append([]string{"-c", "user.name=user", "-c", "user.email=user@localhost"}, args...)...)
	if got.Code != 0 {
		t.Fatalf("git %q: %+v", args, got)
	}
	return got.Stdout
}

// linkedWorktree commits a file and returns the path of a linked worktree, beside the main checkout.
func linkedWorktree(t *testing.T, w *cli.World) string {
	t.Helper()
	path := filepath.Join(w.Work, "story.txt")
	if err := os.WriteFile(path, []byte("first\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, w, "add", "story.txt")
	git(t, w, "commit", "-q", "-m", "story")
	tree := filepath.Join(w.Root, "tree")
	git(t, w, "worktree", "add", "-q", "-b", "story", tree)
	return tree
}

// killAtWork starts a session in a worktree and kills it, with its holder, once its tool has left files there and the model
// is about to answer.
func killAtWork(t *testing.T, w *cli.World, tree string) row {
	t.Helper()
	gate := model.NewGate()
	w.Model.Add(model.Script{Prompt: "go on with the story", Turns: []model.Turn{
		{model.Bash(editTracked)}, {model.Bash(makeUntracked)}, {gate, model.Text("It goes on.")},
	}})
	term := w.Open(t, "bash", append([]string{"--norc", "-c", `cd "$0" && exec "$@"`, tree}, claude.open...)...)
	term.WaitText(claude.ready)
	term.Ask("go on with the story")
	<-gate.Reached()
	r := onlyRow(t, w)
	if deref(r.CWD) != tree || !deref(r.Worktree) || r.PID == 0 || r.LauncherPID == 0 || r.RescuedAt != nil {
		t.Fatalf("not a hosted session in the worktree: %+v", r)
	}
	kill(t, r.LauncherPID, syscall.SIGSTOP) // so that nobody sees the CLI end
	kill(t, r.PID, syscall.SIGKILL)
	kill(t, r.LauncherPID, syscall.SIGKILL)
	term.WaitExit()
	if lost := waitState(t, w, "ORPHANED"); !lost.Lost || lost.RescuedAt != nil {
		t.Errorf("after the kill: %+v", lost)
	}
	return r
}

// stateOf is, for each file that the session left, all that git keeps of its mode and its bytes, "" where it is not there.
func stateOf(dir string) map[string]string {
	state := map[string]string{}
	for name := range leftBehind {
		path := filepath.Join(dir, name)
		state[name] = ""
		if info, err := os.Lstat(path); err == nil {
			data, err := os.ReadFile(path)
			state[name] = fmt.Sprintf("executable %t: %s", info.Mode()&0o100 != 0, data)
			if err != nil {
				state[name] = err.Error()
			}
		}
	}
	return state
}

// wantRescued checks what the entry tells of the rescue.
func wantRescued(t *testing.T, w *cli.World, lost row) row {
	t.Helper()
	r := onlyRow(t, w)
	if r.LedgerID != lost.LedgerID || r.State != "ORPHANED" || !r.Lost || r.RescuedAt == nil || r.RescueRef == nil || r.RescueCommit == nil {
		t.Fatalf("the row after the sweep: %+v", r)
	}
	if _, err := time.Parse(time.RFC3339, *r.RescuedAt); err != nil {
		t.Error(err)
	}
	if want := "refs/rescued/" + lost.LedgerID; *r.RescueRef != want {
		t.Errorf("rescueRef %s, want %s", *r.RescueRef, want)
	}
	if got := strings.TrimSpace(git(t, w, "rev-parse", *r.RescueRef)); got != *r.RescueCommit {
		t.Errorf("the ref is at %s, rescueCommit is %s", got, *r.RescueCommit)
	}
	if diff := cmp.Diff([]string{"notes/a new one.sh", "story.txt"}, r.RescuedPaths); diff != "" {
		t.Errorf("rescuedPaths: %s", diff)
	}
	return r
}

// wantToldOnce checks that the model of a new session in the main checkout hears of the rescue with the first prompt, and
// not again with the second.
func wantToldOnce(t *testing.T, w *cli.World, ref string) {
	t.Helper()
	w.Model.Add(model.Say("say more", "More from the model."))
	term := w.Open(t, "claude", claude.open[1:]...)
	term.WaitText(claude.ready)
	for _, ask := range []struct{ prompt, answer string }{{"say hello", "Hello from the model."}, {"say more", "More from the model."}} {
		term.Ask(ask.prompt)
		term.WaitText(ask.answer)
		requests := w.Model.Requests()
		text := requests[len(requests)-1].Text()
		if n := strings.Count(text, "was saved as "+ref); n != 1 || !strings.Contains(text, ask.prompt) {
			t.Errorf("with %q the model heard of the rescue %d times:\n%s", ask.prompt, n, text)
		}
	}
	term.Ask(claude.quit)
	term.WaitExit()
}
