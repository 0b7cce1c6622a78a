package caller

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/statefile"
	"agentwrap/test/isolate"
)

// nestVar makes the test binary play a tree of processes: each starts the next
// until the count is used up; the last tells the session it finds.
const nestVar = "CALLER_TEST_NEST"

func TestMain(m *testing.M) {
	n, err := strconv.Atoi(os.Getenv(nestVar))
	switch {
	case err != nil:
		os.Exit(isolate.Main(m))
	case n == 0:
		fmt.Print(strings.Join(told(), " "))
	default:
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{"tool"}
		cmd.Env = append(os.Environ(), nestVar+"="+strconv.Itoa(n-1))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			os.Exit(1)
		}
	}
}

func told() []string {
	look := Look{Getenv: os.Getenv, PID: os.Getpid(), PPID: os.Getppid()}
	session, from := look.Session()
	return []string{session, from, strconv.Itoa(os.Getppid())}
}

// asked starts argv[0]'s stand-in, which has the question asked n processes
// below it, and returns its pid and the answer.
func asked(t *testing.T, n int, argv ...string) (pid string, answer []string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd := exec.Command(exe)
	cmd.Args = argv
	cmd.Env = []string{nestVar + "=" + strconv.Itoa(n), "HOME=" + t.TempDir()}
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(cmd.Process.Pid), strings.Fields(out.String())
}

// The tests themselves may run below an agent: in a namespace none is above.
func TestTheNearestAgentAboveNamesTheSession(t *testing.T) { isolate.Test(t, nearestAgentAbove) }

func nearestAgentAbove(t *testing.T) {
	for _, tc := range []struct {
		name string
		n    int
		argv []string
		want string // with PID for the agent's own
	}{
		{"a parent", 1, []string{"claude"}, "claude:PID ancestor"},
		{"by its path", 3, []string{"/opt/bin/codex", "exec", "x"}, "codex:PID ancestor"},
		{"behind an interpreter", 2, []string{"node", "/usr/lib/node_modules/.bin/gemini"}, "gemini:PID ancestor"},
		{"not covered, but known", 2, []string{"aider"}, "aider:PID ancestor"},
		{"at the 32nd level", 32, []string{"claude"}, "claude:PID ancestor"},
		{"beyond it", 33, []string{"claude"}, "process:PPID parent"},
		{"a service is no session", 1, []string{"claude", "daemon", "run"}, "process:PPID parent"},
		{"none", 1, []string{"make"}, "process:PPID parent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pid, answer := asked(t, tc.n, tc.argv...)
			want := strings.NewReplacer("PPID", answer[2], "PID", pid).Replace(tc.want)
			if got := strings.Join(answer[:2], " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestTheOrderInWhichASessionIsNamed(t *testing.T) {
	store := ledger.Open(filepath.Join(t.TempDir(), "ledger"))
	row := create(t, store, &ledger.Entry{Runtime: "claude"})
	for _, tc := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"OPENAGENTS_SESSION verbatim, before all", map[string]string{"OPENAGENTS_SESSION": "studio seat:3", "AGENT_LEDGER_ID": row.LedgerID, "CLAUDE_CODE_SESSION_ID": "abc"},
			"studio seat:3 OPENAGENTS_SESSION"},
		{"the row that AGENT_LEDGER_ID names", map[string]string{"OPENAGENTS_SESSION": "", "AGENT_LEDGER_ID": row.LedgerID, "CLAUDE_CODE_SESSION_ID": "abc"}, row.LedgerID + " AGENT_LEDGER_ID"},
		{"an id that names no row is passed over", map[string]string{"AGENT_LEDGER_ID": "claude-20260101T000000Z-000000", "CLAUDE_CODE_SESSION_ID": "abc"},
			"claude-code:abc CLAUDE_CODE_SESSION_ID"},
		{"a path for an id too", map[string]string{"AGENT_LEDGER_ID": "../x", "CLAUDE_CODE_SESSION_ID": "abc"}, "claude-code:abc CLAUDE_CODE_SESSION_ID"},
		{"claude before codex", map[string]string{"CLAUDE_CODE_SESSION_ID": "abc", "CODEX_THREAD_ID": "t", "CODEX_SESSION_ID": "s"}, "claude-code:abc CLAUDE_CODE_SESSION_ID"},
		{"the thread before the session", map[string]string{"CODEX_THREAD_ID": "t", "CODEX_SESSION_ID": "s"}, "codex:t CODEX_THREAD_ID"},
		{"an empty variable counts as unset", map[string]string{"CLAUDE_CODE_SESSION_ID": "", "CODEX_THREAD_ID": "", "CODEX_SESSION_ID": "s"}, "codex:s CODEX_SESSION_ID"},
	} {
		look := Look{Getenv: func(k string) string { return tc.env[k] }, Ledger: store, PID: os.Getpid(), PPID: os.Getppid()}
		session, from := look.Session()
		if got := session + " " + from; got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func create(t *testing.T, store *ledger.Store, e *ledger.Entry) *ledger.Entry {
	t.Helper()
	if e.StartedAt == nil {
		e.StartedAt = ledger.At(time.Date(2026, 8, 7, 11, 0, 0, 0, time.UTC))
	}
	if err := store.Create(e, statefile.Soon); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRowIsFoundByConversationAndByProcess(t *testing.T) {
	store := ledger.Open(filepath.Join(t.TempDir(), "ledger"))
	later := ledger.At(time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC))
	const old, now = "0f0e0d0c-0b0a-4908-8706-050403020100", "1f0e0d0c-0b0a-4908-8706-050403020100"
	create(t, store, &ledger.Entry{Runtime: "claude", SessionID: ledger.Ptr(old), FinishedAt: later})
	first := create(t, store, &ledger.Entry{Runtime: "claude", SessionID: ledger.Ptr(now), SessionIDs: []ledger.Conversation{{ID: old}, {ID: now}}})
	second := create(t, store, &ledger.Entry{Runtime: "claude", SessionID: ledger.Ptr(now), StartedAt: later})
	for env, want := range map[string]string{
		"AGENT_LEDGER_ID=" + first.LedgerID: first.LedgerID,
		"CLAUDE_CODE_SESSION_ID=" + old:     first.LedgerID,
		"CLAUDE_CODE_SESSION_ID=" + now:     second.LedgerID,
		"CODEX_THREAD_ID=none":              "",
	} {
		key, value, _ := strings.Cut(env, "=")
		row := Look{Ledger: store, PID: 1, Getenv: func(k string) string {
			if k == key {
				return value
			}
			return ""
		}}.Row()
		if row == nil && want != "" || row != nil && row.LedgerID != want {
			t.Errorf("%s: got %+v, want %s", env, row, want)
		}
	}
}

func TestRowOfTheNearestAgentsProcess(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	if os.Getenv("CALLER_TEST_LEDGER") == "" {
		cmd.Args = []string{"claude", "-test.run=^" + t.Name() + "$"}
		cmd.Env = append(os.Environ(), "CALLER_TEST_LEDGER="+filepath.Join(t.TempDir(), "ledger"), "AGENT_LEDGER_ID=", "CLAUDE_CODE_SESSION_ID=", "CODEX_THREAD_ID=", "CODEX_SESSION_ID=")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	// This process is called claude; a child of it asks.
	store := ledger.Open(os.Getenv("CALLER_TEST_LEDGER"))
	self, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	create(t, store, &ledger.Entry{Runtime: "claude", BootID: ledger.Ptr(self.BootID), PID: ledger.Ptr(self.PID), PIDStartTicks: ledger.Ptr(self.StartTicks + 1)})
	own := create(t, store, &ledger.Entry{Runtime: "claude", BootID: ledger.Ptr(self.BootID), PID: ledger.Ptr(self.PID), PIDStartTicks: ledger.Ptr(self.StartTicks)})
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	row := Look{Getenv: os.Getenv, Ledger: store, PID: child.Process.Pid}.Row()
	in.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if row == nil || row.LedgerID != own.LedgerID {
		t.Errorf("got %+v, want %s", row, own.LedgerID)
	}
}
