package enrol

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
)

func TestWhoLaunchedIt(t *testing.T) {
	shell, sshd := Ancestor{PID: 9, Comm: "bash"}, Ancestor{PID: 8, Comm: "sshd"}
	codex := Ancestor{PID: 7, Comm: "codex", Runtime: "codex"}
	enrolled := Ancestor{PID: 7, Comm: "node", Runtime: "codex", LedgerID: "codex-1"}
	const session = "/user.slice/user-1000.slice/session-3.scope"
	for _, tc := range []struct {
		name       string
		env        []string
		unreadable bool
		above      []Ancestor
		cgroup     string
		want       launchedBy
	}{
		{name: "nothing known", above: []Ancestor{shell}},
		{name: "a factory says so", env: []string{"FACTORY_ADW=1", "AGENT_LEDGER_ID=claude-1"}, above: []Ancestor{enrolled}, want: launchedBy{by: "factory"}},
		{name: "factory variable off", env: []string{"FACTORY_ADW=0"}, above: []Ancestor{shell, sshd}, want: launchedBy{by: "user"}},
		{name: "inherited id before any ancestor", env: []string{"AGENT_LEDGER_ID=claude-1"}, above: []Ancestor{sshd}, want: launchedBy{"agent", "claude-1", "claude-1"}},
		{name: "an id that is none", env: []string{"AGENT_LEDGER_ID=../x"}, above: []Ancestor{shell}},
		{name: "agent ancestor, enrolled", above: []Ancestor{shell, enrolled, sshd}, want: launchedBy{"agent", "codex-1", "codex-1"}},
		{name: "agent ancestor, not enrolled", above: []Ancestor{shell, codex, sshd}, want: launchedBy{"agent", "codex (pid 7)", ""}},
		{name: "the nearest names it", above: []Ancestor{sshd, codex}, want: launchedBy{by: "user"}},
		{name: "login scope", above: []Ancestor{shell}, cgroup: session, want: launchedBy{by: "user"}},
		{name: "a service is no person", above: []Ancestor{shell}, cgroup: "/system.slice/cron.service"},
		{name: "unreadable environment cannot rule out a factory", unreadable: true, above: []Ancestor{sshd}, cgroup: session},
		{name: "unreadable environment, agent ancestor", unreadable: true, above: []Ancestor{codex}, want: launchedBy{"agent", "codex (pid 7)", ""}},
	} {
		s := Subject{Ancestors: slices.Values(tc.above), Cgroup: func() string { return tc.cgroup }, Env: ReadEnvironment(tc.env)}
		if tc.unreadable {
			s.Env = Environment{}
		}
		if got := launcher(s); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestAccountIsTheSlugBehindAccounts(t *testing.T) {
	for want, env := range map[string][]string{
		"":       {"HOME=/home/u", "CLAUDE_CONFIG_DIR=/home/u/.claude"},
		"work":   {"HOME=/home/u", "CLAUDE_CONFIG_DIR=/srv/accounts/work"},
		"two":    {"CODEX_HOME=/srv/accounts/two/codex/", "HOME=/home/accounts/three"},
		"three":  {"HOME=/home/accounts/three"},
		"a slug": {"HOME=/home/accounts/a slug/x"},
	} {
		if got := account(ReadEnvironment(env)); got != want {
			t.Errorf("%q: got %q, want %q", env, got, want)
		}
	}
	if got := account(ReadEnvironment([]string{"HOME=/x/accounts/"})); got != "" {
		t.Errorf("an empty slug: got %q", got)
	}
}

func TestBirthProvesWhatItSays(t *testing.T) {
	repo := t.TempDir()
	if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, ".git", "HEAD"), []byte("ref: refs/heads/topic\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const id = "0f0e0d0c-0b0a-4908-8706-050403020100"
	e := Birth(Subject{
		Runtime: "claude", Args: []string{"--resume", id, "--model", "opus", "a prompt"}, CWD: repo, Started: time.Date(2026, 8, 7, 11, 0, 1, 5, time.UTC),
		Env:       ReadEnvironment([]string{"HOME=/home/u", "CLAUDE_CONFIG_DIR=/home/u/other", "OPENAGENTS_SCRATCH=/s"}),
		Identity:  process.Identity{BootID: "boot", PID: 3, StartTicks: 4},
		Ancestors: slices.Values([]Ancestor(nil)), Cgroup: func() string { return "" },
	})
	got := map[string]string{
		"startedAt": e.StartedAt.String(), "bootId": *e.BootID, "repoRoot": *e.RepoRoot, "project": *e.Project, "branch": *e.Branch,
		"sessionId": *e.SessionID, "configHome": *e.ConfigHome, "scratch": *e.Scratch,
	}
	want := map[string]string{
		"startedAt": "2026-08-07T11:00:01Z", "bootId": "boot", "repoRoot": repo, "project": filepath.Base(repo), "branch": "topic",
		"sessionId": id, "configHome": "/home/u/other", "scratch": "/s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"--model", "opus"}, e.Flags); diff != "" {
		t.Error(diff)
	}
	if *e.Worktree || e.PID != nil || e.TTY != nil || e.LaunchedBy != nil || e.TmuxSocket != nil || e.TranscriptPath != nil {
		t.Errorf("claims what nobody proved: %+v", e)
	}
}

func TestSelfIsThisProcess(t *testing.T) {
	s, err := Look{}.Self("claude", nil, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	wd, err := filepath.EvalSymlinks(".")
	if err == nil {
		wd, err = filepath.Abs(wd)
	}
	if err != nil || s.CWD != wd || s.Identity.PID != os.Getpid() || s.Identity.BootID == "" {
		t.Errorf("got %+v, want cwd %s (%v)", s, wd, err)
	}
	for a := range s.Ancestors {
		if a.PID != os.Getppid() {
			t.Errorf("first ancestor %d, want %d", a.PID, os.Getppid())
		}
		break
	}
}

func TestARemovedDirectoryIsStillNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if got := CWD(os.Getpid()); got != dir {
		t.Errorf("got %q, want %q", got, dir)
	}
	if e := Birth(Subject{Runtime: "claude", CWD: dir, Ancestors: slices.Values([]Ancestor(nil)), Cgroup: func() string { return "" }}); ledger.Value(e.CWD) != dir || e.RepoRoot != nil {
		t.Errorf("birth %+v", e)
	}
}
