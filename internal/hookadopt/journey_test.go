package hookadopt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/test/isolate"
)

func want(t *testing.T, e *ledger.Entry, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if got := describe(e); !strings.Contains(got, part) {
			t.Errorf("the row is not %q: %s", part, got)
		}
	}
}

// One process and what Claude Code tells of it, in the order in which it does.
func TestOneProcessIsOneRow(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		if out := c.event(event("SessionStart", idA, "source", "startup", "transcript_path", "/none/"+idA+".jsonl")); out != "" {
			t.Errorf("printed %q", out)
		}
		want(t, w.row(), "claude by hook", fmt.Sprintf("pid %d,", c.pid), "now a, carried a, transcript ,", "finished false")
		// cc#24265: a resume tells its beginning twice.
		c.event(event("SessionStart", idA, "source", "resume"))
		c.event(event("UserPromptSubmit", idA))
		want(t, w.row(), "turn its")
		path := w.transcript("-p", idA, `{"type":"user"}`)
		c.event(event("Stop", idA, "transcript_path", path))
		want(t, w.row(), "carried a, transcript "+path+", turn yours")

		c.event(event("SessionEnd", idA, "reason", "clear", "transcript_path", path))
		want(t, w.row(), "finished false")
		c.event(event("SessionStart", idB, "source", "clear"))
		want(t, w.row(), "now b, carried ab, transcript ,")

		// /resume and /branch: an end that the same process goes on from.
		c.event(event("SessionEnd", idB, "reason", "resume"))
		want(t, w.row(), "finished true resume")
		c.event(event("SessionStart", idA, "source", "resume"))
		want(t, w.row(), "now a, carried ba, transcript "+path, "finished false")
		c.event(event("SessionStart", idC, "source", "fork"))
		c.event(event("Notification", idC, "notification_type", "idle_prompt"))
		want(t, w.row(), "carried bac", "turn yours")

		c.event(event("SessionEnd", idC, "reason", "prompt_input_exit"))
		want(t, w.row(), "finished true exited at the prompt user")
	})
}

func TestARowOfTheShimsIsTheSessionsOwn(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		// In place: the shim became the CLI and recorded itself.
		row := w.born(&ledger.Entry{Runtime: "claude", Interactive: ledger.Ptr(true)})
		c := w.claude("AGENT_LEDGER_ID=" + row.LedgerID)
		id, err := process.Of(c.pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.Update(row.LedgerID, ledger.Within(0), func(e *ledger.Entry) error {
			e.BootID, e.PID, e.PIDStartTicks = &id.BootID, &id.PID, &id.StartTicks
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		c.event(event("SessionStart", idA))
		c.event(event("SessionEnd", idA, "reason", "other"))
		want(t, w.row(), "claude by shim", "carried a", "finished true  loss")
	})
}

// Hosted: the row names the holder as its launcher until the CLI is known.
func TestARowWithoutAProcessIsAdoptedBelowItsLauncherOnly(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			name     string
			runtime  string
			launcher func(self int) int
			rows     int
		}{
			{"the launcher became the CLI", "claude", func(self int) int { return self }, 1},
			{"the launcher stands above", "claude", func(int) int { return os.Getpid() }, 1},
			{"it is another's", "claude", func(self int) int { return self + 1000 }, 2},
			{"another CLI's row", "codex", func(int) int { return os.Getpid() }, 2},
		} {
			w := newWorld(t)
			row := w.born(&ledger.Entry{Runtime: tc.runtime})
			c := w.claude("AGENT_LEDGER_ID=" + row.LedgerID)
			if err := w.store.Update(row.LedgerID, ledger.Within(0), func(e *ledger.Entry) error {
				e.LauncherPID = ledger.Ptr(tc.launcher(c.pid))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			c.event(event("SessionStart", idA))
			rows := w.rows()
			if len(rows) != tc.rows {
				t.Errorf("%s: %d rows", tc.name, len(rows))
			}
			if pid := ledger.Value(rows[row.LedgerID].PID); (pid == c.pid) != (tc.rows == 1) {
				t.Errorf("%s: %s", tc.name, describe(rows[row.LedgerID]))
			}
		}
	})
}

// A process that only inherited a session's id has a row of its own.
func TestWhatOnlyInheritedAnIdHasARowOfItsOwn(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			name string
			path [][]string // from below the outer session down
			env  string     // of the innermost one's hooks
		}{
			{"claude -p in a tool", [][]string{{"bash", "-c", "x"}, {"claude", "-p", "hi"}}, "CLAUDE_PID=SELF"},
			{"one that passes the outer pid on", [][]string{{"claude", "-p", "hi"}}, "CLAUDE_PID=OUTER"},
			{"a worker of claude's daemon", [][]string{{"claude", "daemon", "run"}, {"claude", "bg-pty-host"}, {"claude", "bg-spare"}}, "CLAUDE_PID=SELF"},
		} {
			w := newWorld(t)
			outer := w.claude()
			outer.event(event("SessionStart", idA))
			first := w.row()
			inner := w.claude("AGENT_LEDGER_ID="+first.LedgerID, "CLAUDE_CODE_SESSION_ID="+idA)
			outerPID := inner.pid
			// The outer one of this chain is the session that the id is of.
			id, err := process.Of(inner.pid)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.store.Update(first.LedgerID, ledger.Within(0), func(e *ledger.Entry) error {
				e.PID, e.PIDStartTicks = &id.PID, &id.StartTicks
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for _, argv := range tc.path {
				inner.below(argv)
			}
			inner.env = []string{roleVar + "=claude", strings.ReplaceAll(tc.env, "OUTER", fmt.Sprint(outerPID))}
			if strings.Contains(tc.env, "SELF") {
				inner.env = append(inner.env, "CLAUDE_CODE_SESSION_ID="+idB)
			}
			inner.event(event("SessionStart", idB))
			inner.event(event("Stop", idB))
			rows := w.rows()
			if len(rows) != 2 || ids(rows[first.LedgerID]) != "a" {
				t.Errorf("%s: %d rows, the outer %s; log: %s", tc.name, len(rows), describe(rows[first.LedgerID]), w.logged())
			}
			delete(rows, first.LedgerID)
			for _, row := range rows {
				want(t, row, "claude by hook", fmt.Sprintf("pid %d,", inner.pid), "parent "+first.LedgerID, "carried b", "turn yours")
			}
		}
	})
}

func TestCodexAndItsDaemon(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.start("codex", []string{"node", "/usr/bin/codex", "exec", "hi"})
		wrapper := c.pid
		c.below([]string{"/lib/codex", "exec", "hi"})
		rollout := filepath.Join(w.home, "rollout-2026-11-29T20-40-06-"+idA+".jsonl")
		if err := os.WriteFile(rollout, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c.event(event("SessionStart", idA, "transcript_path", rollout))
		want(t, w.row(), "codex by hook", fmt.Sprintf("pid %d,", wrapper), "carried a, transcript "+rollout)
		own := w.row().LedgerID

		// The shared daemon runs with its first launcher's environment.
		d := w.start("codex", []string{"codex"}, "AGENT_LEDGER_ID="+own)
		d.below([]string{"/x/bin/codex", "app-server", "--listen", "unix://"})
		d.event(event("UserPromptSubmit", idB))
		want(t, w.row(), "carried a,", "turn ,")
		d.event(event("UserPromptSubmit", idA))
		want(t, w.row(), "carried a,", "turn its")
		if !strings.Contains(w.logged(), idB) {
			t.Errorf("the log does not tell of %s: %s", idB, w.logged())
		}
	})
}

// gm: the end comes up to three times; stdout is always JSON.
func TestGemini(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.start("gemini", []string{"node", "/usr/bin/gemini", "-p", "x"})
		c.below([]string{"node", "--max-old-space-size=99", "/usr/bin/gemini", "-p", "x"})
		chat := filepath.Join(w.home, "session-2026-11-29T20-41-"+idA[:8]+".jsonl")
		if err := os.WriteFile(chat, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{
			event("SessionStart", idA, "transcript_path", chat), event("BeforeAgent", idA), event("AfterAgent", idA),
			event("SessionEnd", idA, "reason", "exit"), event("SessionEnd", idA, "reason", "exit"), event("SessionEnd", idA, "reason", "exit"),
		} {
			if out := c.event(p); out != "{}\n" {
				t.Errorf("%s printed %q", p, out)
			}
		}
		want(t, w.row(), "gemini by hook", "carried a, transcript "+chat, "turn yours", "finished true exit")
		// Whatever fails, it is JSON.
		if out := c.event("nonsense", "HOME="); out != "{}\n" {
			t.Errorf("printed %q", out)
		}
	})
}

func TestWhatIsSaidIsSaidOnceASession(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := w.claude()
		const say = "HOOK_TEST_SAY=a rescue waits \"here\" <b>"
		for i, p := range []string{event("UserPromptSubmit", idA), event("SessionStart", idA), event("SessionStart", idB, "source", "clear")} {
			out := c.event(p, say)
			if (out != "") != (i == 1) || out != "" && !strings.Contains(out, `"hookEventName":"SessionStart"`) {
				t.Errorf("event %d printed %q", i, out)
			}
		}
		if told := w.row().Told; len(told) != 1 {
			t.Errorf("told %v", told)
		}
	})
}

// The process's own folder is where the session works: /cd and --worktree move
// it, a cd in a tool does not.
func TestTheRowFollowsTheProcess(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		row := w.born(&ledger.Entry{Runtime: "claude", CWD: ledger.Ptr("/elsewhere"), Branch: ledger.Ptr("main")})
		c := w.claude("AGENT_LEDGER_ID=" + row.LedgerID)
		if err := w.store.Update(row.LedgerID, ledger.Within(0), func(e *ledger.Entry) error {
			e.LauncherPID = &c.pid
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		c.event(event("CwdChanged", idA, "new_cwd", "/etc", "cwd", "/etc"))
		if got := w.row(); *got.CWD != w.home || got.Branch != nil {
			t.Errorf("it works in %s on %v", *got.CWD, got.Branch)
		}
	})
}
