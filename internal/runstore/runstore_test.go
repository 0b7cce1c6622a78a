package runstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

const id = "claude-20260807T110001Z-482913"

func newStore(t *testing.T) *FileStore {
	t.Helper()
	s, err := NewFileStore(filepath.Join(t.TempDir(), "run"), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return now }
	return s
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestRelativeAges(t *testing.T) {
	for ago, want := range map[time.Duration]string{
		0: "just now", 999 * time.Millisecond: "just now", -time.Hour: "just now", time.Second: "1s ago", 59 * time.Second: "59s ago",
		65 * time.Second: "1m5s ago", time.Hour + 5*time.Second: "1h ago", 60 * time.Second: "1m ago", 3661 * time.Second: "1h1m ago", 4*24*time.Hour + 5*time.Hour + 12*time.Minute: "4d5h ago",
		24*time.Hour + 30*time.Minute: "1d ago", 400 * 24 * time.Hour: "400d ago",
	} {
		if got := FormatRelativeAge(now, now.Add(-ago)); got != want {
			t.Errorf("%s: got %q, want %q", ago, got, want)
		}
	}
	if got := FormatRelativeAge(now, time.Time{}); got != "-" {
		t.Errorf("no time: %q", got)
	}
}

func TestTheHomeIsGivenElseTheVariableElseTheUsers(t *testing.T) {
	for _, tc := range []struct {
		home string
		env  map[string]string
		want string
	}{
		{"/given", map[string]string{"AGENT_RUN_HOME": "/var", "HOME": "/h"}, "/given"},
		{"", map[string]string{"AGENT_RUN_HOME": "/var", "HOME": "/h"}, "/var"},
		{"", map[string]string{"AGENT_RUN_HOME": "", "HOME": "/h"}, "/h/.agent-run"},
	} {
		s, err := NewFileStore(tc.home, func(k string) string { return tc.env[k] })
		if err != nil || s.Home() != tc.want {
			t.Errorf("%+v: got %+v, %v", tc, s, err)
		}
	}
	if _, err := NewFileStore("", func(string) string { return "" }); err == nil {
		t.Error("without any: no error")
	}
}

func TestReadingMakesNothing(t *testing.T) {
	s := newStore(t)
	_, err1 := s.Config()
	list, err2 := s.ListSessions()
	events, offset, err3 := s.ReadEvents(id, 0)
	messages, err4 := s.ListMessages(id)
	popped, err5 := s.PopMessages(id)
	_, found, err6 := s.ReadIdlePolicy(id)
	must(t, err1, err2, err3, err4, err5, err6, s.ClearAllSessions())
	if _, err := s.GetSession(id); !errors.Is(err, ErrNoSession) {
		t.Errorf("get: %v", err)
	}
	if err := s.UpdateSessionStatus(id, "x"); !errors.Is(err, ErrNoSession) {
		t.Errorf("update: %v", err)
	}
	if len(list)+len(events)+len(messages)+len(popped)+int(offset) != 0 || found {
		t.Error("something is there")
	}
	if _, err := os.Lstat(s.Home()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the home: %v", err)
	}
}

func TestConfigIsKeptWithWhatOthersPutThere(t *testing.T) {
	s := newStore(t)
	must(t, s.SaveConfig(Config{DefaultAgentRunner: "claude"}))
	raw, err := os.ReadFile(s.configPath())
	must(t, err, os.WriteFile(s.configPath(), []byte(strings.Replace(string(raw), "{", `{"theme":"dark",`, 1)), 0o600))
	must(t, s.UpdateConfig(func(c *Config) { c.DefaultModel = "opus" }))
	raw, err = os.ReadFile(s.configPath())
	must(t, err)
	if want := `{"default_agent_runner":"claude","default_model":"opus","last_session":"","theme":"dark"}` + "\n"; string(raw) != want {
		t.Errorf("got %s", raw)
	}
	must(t, os.WriteFile(s.configPath(), []byte("{"), 0o600))
	if err := s.SaveConfig(Config{}); err == nil || !strings.Contains(err.Error(), s.configPath()) {
		t.Errorf("a damaged one: %v", err)
	}
}

func TestRecentWorkspacesAreTwelveNewestFirst(t *testing.T) {
	var c Config
	for i := range 14 {
		c.Use(fmt.Sprint("/w", i))
	}
	c.Use("/w5")
	want := []string{"/w5", "/w13", "/w12", "/w11", "/w10", "/w9", "/w8", "/w7", "/w6", "/w4", "/w3", "/w2"}
	if c.SelectedWorkspace != "/w5" || !slices.Equal(c.RecentWorkspaces, want) {
		t.Errorf("got %+v", c)
	}
}

func TestASessionsMetadataIsCreatedOnceAndUpdated(t *testing.T) {
	s := newStore(t)
	if err := s.CreateSession(id, SessionMeta{}); err == nil {
		t.Error("without a runner")
	}
	must(t, s.AppendEvent(id, Event{Type: EventBirth}), s.CreateSession(id, SessionMeta{Runner: "claude", InitialPrompt: "hi"}))
	if err := s.CreateSession(id, SessionMeta{Runner: "codex"}); !errors.Is(err, ErrExists) {
		t.Errorf("again: %v", err)
	}
	s.now = func() time.Time { return now.Add(time.Minute) }
	must(t, s.UpdateSessionStatus(id, "running"), s.UpdateSessionRunnerSessionID(id, " abc "), s.UpdateSessionRunnerSessionID(id, ""), s.UpdateSessionTerminalSessionID(id, "t"),
		s.UpdateSessionWorkspace(id, "/w"), s.UpdateSessionEnvConfig(id, []string{"/b", "/a", "/b"}, []string{"K=1", "K=2"}, "/c"), s.UpdateSessionEnvConfig(id, []string{"/b", "/b"}, []string{"K=2"}, ""))
	got, err := s.GetSession(id)
	must(t, err)
	want := SessionMeta{
		Runner: "claude", SessionID: id, InitialPrompt: "hi", RunnerSessionID: "abc", TerminalSessionID: "t", Status: "running", Workspace: "/w",
		PrependPaths: []string{"/b", "/b"}, Env: []string{"K=2"}, AgentRunnerConfigHome: "/c", CreatedAt: "2026-08-07T12:00:00Z", UpdatedAt: "2026-08-07T12:01:00Z",
	}
	got.Meta.others = nil
	if diff := cmp.Diff(want, got.Meta, cmp.AllowUnexported(SessionMeta{})); diff != "" {
		t.Error(diff)
	}
	for path, mode := range map[string]os.FileMode{s.Home(): 0o700, s.path(id, ""): 0o700, s.path(id, "meta.json"): 0o600, s.path(id, "events.jsonl"): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
}

func TestTimesAreTakenAsTheyAreWritten(t *testing.T) {
	for raw, want := range map[string]string{`"2026-08-07T12:00:00Z"`: "2026-08-07T12:00:00Z", "1754568000": "1754568000", "1.5e9": "1.5e9", "true": "true", "null": "", `""`: ""} {
		var m SessionMeta
		if err := json.Unmarshal([]byte(`{"runner":"x","created_at":`+raw+`,"updated_at":`+raw+`}`), &m); err != nil || m.CreatedAt != want || m.UpdatedAt != want || m.Runner != "x" {
			t.Errorf("%s: got %+v, %v", raw, m, err)
		}
	}
	for _, raw := range []string{"{}", "[]"} {
		if err := json.Unmarshal([]byte(`{"created_at":`+raw+`}`), new(SessionMeta)); err == nil {
			t.Errorf("%s was taken", raw)
		}
	}
}

func TestListPassesOverWhatCannotBeRead(t *testing.T) {
	s := newStore(t)
	must(t, s.CreateSession("a", SessionMeta{Runner: "x"}), s.CreateSession("b", SessionMeta{Runner: "y"}), os.WriteFile(s.path("a", "meta.json"), []byte("{"), 0o600),
		os.Mkdir(s.path("c", ""), 0o700), os.WriteFile(s.path(".layout", ""), nil, 0o600))
	list, err := s.ListSessions()
	if err != nil || len(list) != 1 || list[0].SessionID != "b" {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := s.GetSession("a"); err == nil || errors.Is(err, ErrNoSession) || !strings.Contains(err.Error(), "meta.json") {
		t.Errorf("a damaged one: %v", err)
	}
}

func TestClearAllSessionsTouchesNothingElse(t *testing.T) {
	s, outside := newStore(t), t.TempDir()
	must(t, s.CreateSession("a", SessionMeta{Runner: "x"}), s.SaveConfig(Config{LastSession: "a"}), os.WriteFile(outside+"/precious", nil, 0o600), os.Symlink(outside, s.path("link", "")), os.Symlink(outside, s.path("a", "link")))
	if err := s.ClearAllSessions(); err == nil {
		t.Error("a link in a session's place is not told")
	}
	if list, err := s.ListSessions(); err != nil || len(list) != 0 {
		t.Errorf("left %+v, %v", list, err)
	}
	if c, err := s.Config(); err != nil || c.LastSession != "a" {
		t.Errorf("config %+v, %v", c, err)
	}
	if _, err := os.Lstat(outside + "/precious"); err != nil {
		t.Error(err)
	}
}

func TestIDsAreNoPaths(t *testing.T) {
	s := newStore(t)
	for _, bad := range []string{"", "..", "../x", "/x", "a/b", ".x", "-x"} {
		_, err1 := s.GetSession(bad)
		_, _, err2 := s.ReadEvents(bad, 0)
		_, err3 := s.AppendMessage(bad, "x")
		_, _, err4 := s.ReadIdlePolicy(bad)
		for i, err := range []error{err1, err2, err3, err4, s.AppendEvent(bad, Event{Type: "x"}), s.CreateSession(bad, SessionMeta{Runner: "x"}), s.WriteIdlePolicy(bad, IdlePolicy{})} {
			if !errors.Is(err, ErrNoSession) {
				t.Errorf("%q: %d: %v", bad, i, err)
			}
		}
	}
	if _, err := os.Lstat(s.Home()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the home: %v", err)
	}
}

func TestIdlePolicies(t *testing.T) {
	s := newStore(t)
	for _, tc := range []struct {
		policy IdlePolicy
		file   string
	}{
		{IdlePolicy{true, 0}, `{"exit_on_idle":true,"idle_timeout":"10m"}`},
		{IdlePolicy{true, 90 * time.Minute}, `{"exit_on_idle":true,"idle_timeout":"1h30m"}`},
		{IdlePolicy{true, time.Hour}, `{"exit_on_idle":true,"idle_timeout":"1h"}`},
		{IdlePolicy{true, 90 * time.Second}, `{"exit_on_idle":true,"idle_timeout":"1m30s"}`},
		{IdlePolicy{true, 10 * time.Second}, `{"exit_on_idle":true,"idle_timeout":"10s"}`},
		{IdlePolicy{false, 0}, `{"exit_on_idle":false,"idle_timeout":"0s"}`},
	} {
		must(t, s.WriteIdlePolicy(id, tc.policy))
		raw, err := os.ReadFile(IdlePolicyPath(s.Home(), id))
		if string(raw) != tc.file+"\n" || err != nil {
			t.Errorf("%+v: %s, %v", tc.policy, raw, err)
		}
		want, _ := tc.policy.valid()
		if got, found, err := s.ReadIdlePolicy(id); got != want || !found || err != nil {
			t.Errorf("%+v: read %+v, %t, %v", tc.policy, got, found, err)
		}
	}
	if err := s.WriteIdlePolicy(id, IdlePolicy{true, -time.Second}); err == nil {
		t.Error("a negative time was kept")
	}
	for file, want := range map[string]string{
		`{"exit_on_idle":true}`: "10m0s", `{"exit_on_idle":true,"idle_timeout":"0s"}`: "10m0s", `{"exit_on_idle":true,"idle_timeout":"-1m"}`: "", `{"exit_on_idle":true,"idle_timeout":"soon"}`: "", `{`: "",
	} {
		must(t, os.WriteFile(IdlePolicyPath(s.Home(), id), []byte(file), 0o600))
		got, found, err := s.ReadIdlePolicy(id)
		if (err == nil) != (want != "") || found != (want != "") || want != "" && got.IdleTimeout.String() != want {
			t.Errorf("%s: %+v, %t, %v", file, got, found, err)
		}
	}
}

func TestTheEnvironmentOfTheNextOpening(t *testing.T) {
	env := []string{"PATH=/usr/bin", "K=0", "HOME=/h", "CODEX_HOME=/old"}
	m := SessionMeta{PrependPaths: []string{"/b", "/a", "/b"}, Env: []string{"K=1", "L=x=y", "K=2", "=bad", "none"}, AgentRunnerConfigHome: "/c"}
	got := m.Environ(env, "CODEX_HOME")
	want := []string{"HOME=/h", "PATH=/b:/a:/b:/usr/bin", "L=x=y", "K=2", "CODEX_HOME=/c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"PATH=/usr/bin", "K=0", "HOME=/h", "CODEX_HOME=/old"}, (SessionMeta{}).Environ(env, "CODEX_HOME")); diff != "" {
		t.Error(diff)
	}
	if got := (SessionMeta{PrependPaths: []string{"/a"}, AgentRunnerConfigHome: "/c"}).Environ(nil, ""); len(got) != 1 || got[0] != "PATH=/a" {
		t.Errorf("without a PATH: %q", got)
	}
}
