package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/procscan"
	"agentwrap/internal/scratch"
	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

// desk is a throwaway HOME and environment in which commands are run.
type desk struct {
	*testing.T
	home string
	env  []string
	now  time.Time
	in   string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &desk{T: t, home: home, env: []string{"HOME=" + home}, now: time.Now()}
}

// run runs one command with more variables set, as "KEY=VALUE", before a "--".
func (d *desk) run(argv ...string) (stdout, stderr string, code int) {
	d.Helper()
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader(d.in), out: &out, err: &errs, env: d.env, now: func() time.Time { return d.now }}
	for len(argv) > 0 && strings.Contains(argv[0], "=") {
		a.env, argv = append(a.env[:len(a.env):len(a.env)], argv[0]), argv[1:]
	}
	code = call(a, append([]string{"agent-sessions"}, argv...))
	return out.String(), errs.String(), code
}

// does is run for a command that must succeed in silence.
func (d *desk) does(argv ...string) string {
	d.Helper()
	stdout, stderr, code := d.run(argv...)
	if code != exitDone || stderr != "" {
		d.Fatalf("%q: exit %d, stderr %q", argv, code, stderr)
	}
	return stdout
}

func (d *desk) row(e *ledger.Entry) string {
	d.Helper()
	e.Runtime, e.StartedAt = "claude", ledger.At(d.now)
	if err := ledger.Open(d.home+"/.local/state/agent-sessions").Create(e, statefile.Lazy); err != nil {
		d.Fatal(err)
	}
	return e.LedgerID
}

func TestScratchChoosesTheFolderInTheContractsOrder(t *testing.T) {
	d := newDesk(t)
	root := d.home + "/.openagents/scratch"
	own := d.home + "/own"
	id, owner := d.row(&ledger.Entry{}), d.row(&ledger.Entry{Scratch: ledger.Ptr(own)})
	for _, tc := range []struct {
		name string
		argv []string
		want scratchFolder
	}{
		{"--session before all", []string{"OPENAGENTS_SCRATCH=" + d.home + "/given", "OPENAGENTS_SESSION=x", "scratch", "--session", "a b/c", "--json"},
			scratchFolder{root + "/a_b_c", "a b/c", root, "--session"}},
		{"then the folder that the environment names", []string{"OPENAGENTS_SCRATCH=" + d.home + "/given", "OPENAGENTS_SESSION=x", "scratch", "--json"},
			scratchFolder{d.home + "/given", "given", d.home, "OPENAGENTS_SCRATCH"}},
		{"then the session that is found", []string{"OPENAGENTS_SCRATCH=", "OPENAGENTS_SESSION=studio:3", "AGENT_LEDGER_ID=" + id, "scratch", "--json"},
			scratchFolder{root + "/studio-3", "studio:3", root, "OPENAGENTS_SESSION"}},
		{"by its row", []string{"AGENT_LEDGER_ID=" + id, "CLAUDE_CODE_SESSION_ID=abc", "scratch", "--json"}, scratchFolder{root + "/" + id, id, root, "AGENT_LEDGER_ID"}},
		{"and the folder which that row has", []string{"AGENT_LEDGER_ID=" + owner, "scratch", "--json"}, scratchFolder{own, "own", d.home, "AGENT_LEDGER_ID"}},
		{"by the CLI's own variable", []string{"CLAUDE_CODE_SESSION_ID=abc", "scratch", "--json"}, scratchFolder{root + "/claude-code-abc", "claude-code:abc", root, "CLAUDE_CODE_SESSION_ID"}},
		{"under another root", []string{"OPENAGENTS_SCRATCH_ROOT=" + d.home + "/r", "CODEX_THREAD_ID=t", "scratch", "--json"},
			scratchFolder{d.home + "/r/codex-t", "codex:t", d.home + "/r", "CODEX_THREAD_ID"}},
		{"beside the leases", []string{"OPENAGENTS_LEASE_ROOT=" + d.home + "/l/leases", "CODEX_THREAD_ID=t", "scratch", "--json"},
			scratchFolder{d.home + "/l/scratch/codex-t", "codex:t", d.home + "/l/scratch", "CODEX_THREAD_ID"}},
	} {
		raw := d.does(tc.argv...)
		var got scratchFolder
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != tc.want {
			t.Errorf("%s: got %s, %v, want %+v", tc.name, raw, err, tc.want)
		}
		if st, err := os.Lstat(got.Path); err != nil || st.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %s is %v, %v", tc.name, got.Path, st.Mode(), err)
		}
		if plain := d.does(tc.argv[:len(tc.argv)-1]...); plain != tc.want.Path+"\n" {
			t.Errorf("%s: without --json got %q", tc.name, plain)
		}
	}
}

func TestScratchOfAProcessNamesItForGood(t *testing.T) {
	d := newDesk(t)
	dir := strings.TrimSpace(d.does("scratch"))
	if _, _, ok := scratch.ProcessOf(dir); !ok {
		t.Errorf("no process is bound to %s (session %s)", dir, scratch.SessionOf(dir))
	}
}

func TestScratchSaysWhatIsWrong(t *testing.T) {
	d := newDesk(t)
	if err := os.MkdirAll(d.home+"/.openagents/scratch", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", d.home+"/.openagents/scratch/linked"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		argv []string
		code int
		want string
	}{
		{[]string{"scratch", "--session", ""}, exitWrongUse, "--session needs the name of a session"},
		{[]string{"scratch", "--session", "linked"}, exitFailed, "is not a folder but a link or a file: move it away"},
		{[]string{"OPENAGENTS_SCRATCH=/proc/x", "scratch"}, exitFailed, "/proc/x"},
		{[]string{"HOME=", "OPENAGENTS_SESSION=x", "scratch"}, exitFailed, "set HOME, OPENAGENTS_SCRATCH_ROOT or OPENAGENTS_LEASE_ROOT"},
	} {
		if stdout, stderr, code := d.run(tc.argv...); code != tc.code || !strings.Contains(stderr, tc.want) || stdout != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", tc.argv, code, stdout, stderr)
		}
	}
}

func TestCalledAsOpenagentsOnlyScratchIsAnswered(t *testing.T) {
	d := newDesk(t)
	for word, want := range map[string]int{"scratch": exitDone, "lease": exitWrongUse, "list": exitWrongUse} {
		var out, errs bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: &errs, env: append(d.env, "OPENAGENTS_SESSION=codex:1"), now: time.Now}
		if got := call(a, []string{"/usr/bin/openagents", word}); got != want || (got == exitDone) != strings.HasSuffix(out.String(), "/codex-1\n") {
			t.Errorf("%s: exit %d, %q, %q", word, got, out.String(), errs.String())
		}
	}
}

func TestDryRunPrintsTheVeryPlanThatRuns(t *testing.T) {
	if err := procscan.InHostNamespace(); err != nil {
		isolate.Missing(t, "the host's user namespace: %v", err)
	}
	d := newDesk(t)
	for _, session := range []string{"gone", "live", "resting"} {
		d.does("OPENAGENTS_SESSION="+session, "scratch")
	}
	d.row(&ledger.Entry{Scratch: ledger.Ptr(d.home + "/.openagents/scratch/live")})
	d.now = d.now.Add(8 * 24 * time.Hour)
	at := d.now.Add(-time.Hour)
	if err := os.Chtimes(d.home+"/.openagents/scratch/resting", at, at); err != nil {
		t.Fatal(err)
	}
	plan := d.does("scratch", "clean", "--dry-run")
	if again := d.does("scratch", "clean", "--dry-run"); again != plan {
		t.Errorf("the plan changed to %q", again)
	}
	list := d.does("scratch", "list")
	if done := d.does("scratch", "clean"); done != plan || !strings.Contains(plan, "remove\t"+d.home+"/.openagents/scratch/gone\tdue: ") || strings.Count(plan, "keep\t") != 2 {
		t.Errorf("planned %q, done %q", plan, done)
	}
	if strings.Count(list, "\n") != 3 || !strings.Contains(list, "gone\tdue\t") || !strings.Contains(list, "live\tlive\t") || !strings.Contains(list, "resting\tresting\t") {
		t.Errorf("listed %q", list)
	}
	var items []scratchItem
	if err := json.Unmarshal([]byte(d.does("scratch", "list", "--json")), &items); err != nil || len(items) != 2 || items[0].Session != "live" || *items[0].Bytes == 0 {
		t.Errorf("left %+v, %v", items, err)
	}
}
