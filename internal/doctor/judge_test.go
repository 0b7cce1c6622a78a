package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 8, 7, 11, 0, 0, 0, time.UTC)

// healthy is a machine on which nothing is wrong.
func healthy() Facts {
	return Facts{
		Now: now, ShimDir: "/h/shims",
		Shells:   []Shell{{Name: "bash", Path: []string{"/h/shims", "/usr/bin"}}},
		Runtimes: []Runtime{{Name: "claude", Program: "/usr/bin/claude", Folders: []string{"/usr/bin"}, Version: "2.1.0"}},
		Mux:      Mux{Path: "/usr/bin/tmux", Version: "3.3a"},
		Manager:  Manager{Answers: true, TimerArmed: true, Linger: true, User: "u"},
		Ledger:   Ledger{Root: "/h/ledger", Entries: 3, FreeBytes: 1 << 40, LastSweep: now},
		Hooks:    []Hook{{Runtime: "claude", State: "installed", LastSeen: now}},
	}
}

func TestEachTroubleIsToldWithItsRemedy(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(*Facts)
		level Level
		says  string
	}{
		{"nothing", func(*Facts) {}, OK, "finds the shims first"},
		{"shims not on PATH", func(f *Facts) { f.Shells[0].Path = []string{"/usr/bin"} }, Fail, "does not look in /h/shims"},
		{"the CLI before its shim", func(f *Facts) { f.Shells[0].Path = []string{"/usr/bin", "/h/shims"} }, Fail, "finds claude in /usr/bin before"},
		{"another folder before it", func(f *Facts) { f.Shells[0].Path = []string{"/bin", "/h/shims"} }, OK, "finds the shims first"},
		{"an alias", func(f *Facts) { f.Shells[0].Bypass = map[string]string{"claude": "a shell alias"} }, Warn, "claude is a shell alias"},
		{"the working directory first", func(f *Facts) { f.Shells[0].Path = []string{".", "/h/shims"} }, Warn, "working directory"},
		{"a shell that fails", func(f *Facts) { f.Shells[0].Err = errors.New("boom") }, Warn, "boom"},
		{"a focus record that cannot be read", func(f *Facts) { f.Stores = []error{errors.New("read focus /x.json: torn")} }, Warn, "/x.json"},
		{"no shims", func(f *Facts) { f.Runtimes = nil }, Fail, "no CLI is covered"},
		{"a dangling shim", func(f *Facts) { f.Runtimes[0].ShimProblem = "leads nowhere" }, Fail, "its shim leads nowhere"},
		{"no CLI behind a shim", func(f *Facts) { f.Runtimes[0].Program, f.Runtimes[0].Passed = "", "no such program on PATH" }, Warn, "the CLI is not"},
		{"a broken CLI", func(f *Facts) { f.Runtimes[0].VersionErr = errors.New("exit status 1") }, Warn, "--version failed"},
		{"a stub passed over", func(f *Facts) { f.Runtimes[0].Passed = "/x/claude is a link to nothing" }, Warn, "passed over: /x/claude"},
		{"no tmux", func(f *Facts) { f.Mux = Mux{CanInstall: true} }, Warn, "apt-get install tmux"},
		{"an old tmux", func(f *Facts) { f.Mux.Version = "2.9a" }, Warn, "older than 3.3"},
		{"a new tmux", func(f *Facts) { f.Mux.Version = "3.10" }, OK, "3.10"},
		{"a tmux of the next version", func(f *Facts) { f.Mux.Version = "next-3.6" }, OK, "next-3.6"},
		{"a broken tmux", func(f *Facts) { f.Mux.Err = errors.New("exec format error") }, Warn, "does not work"},
		{"no hooks", func(f *Facts) { f.Hooks[0].State = "absent" }, Warn, "hooks install claude"},
		{"unreadable settings", func(f *Facts) { f.Hooks[0].State, f.Hooks[0].Detail = "unreadable", "settings.json:3: bad" }, Warn, "settings.json:3"},
		{"hooks that never fired", func(f *Facts) { f.Hooks[0].LastSeen = time.Time{} }, OK, "none has told"},
		{"no manager", func(f *Facts) { f.Manager = Manager{} }, OK, "no service manager"},
		{"timer off", func(f *Facts) { f.Manager.TimerArmed = false }, Warn, "enable --now agent-session-sweep.timer"},
		{"timer armed, sweeps late", func(f *Facts) { f.Ledger.LastSweep = now.Add(-time.Hour) }, Warn, "last sweep was 2026-08-07T10:00:00Z"},
		{"no linger", func(f *Facts) { f.Manager.Linger = false }, Warn, "loginctl enable-linger u"},
		{"a damaged entry", func(f *Facts) { f.Ledger.Damaged = []string{"read session x: damaged"} }, Fail, "doctor --repair"},
		{"a full disk", func(f *Facts) { f.Ledger.FreeBytes = 1 << 20 }, Fail, "1 MB are free"},
		{"a closed ledger", func(f *Facts) { f.Ledger.Err = errors.New("cannot be written") }, Fail, "cannot be written"},
		{"a bad setting", func(f *Facts) { f.Settings = []error{errors.New("config.json: x")} }, Warn, "config.json: x"},
		{"sessions past the shim", func(f *Facts) { f.Sessions.Unshimmed = map[string]int{"claude": 2} }, Warn, "2 recent sessions of claude"},
		{"conversations that end", func(f *Facts) { f.Sessions.Expiring, f.Sessions.FirstExpiry = 1, now }, Warn, "cleanupPeriodDays"},
	} {
		f := healthy()
		tc.spoil(&f)
		all := Judge(f)
		if got := Worst(all); got != tc.level {
			t.Errorf("%s: %s, want %s: %+v", tc.name, got, tc.level, all)
		}
		var said strings.Builder
		for _, one := range all {
			said.WriteString(one.Text + " → " + one.Mend + "\n")
		}
		if !strings.Contains(said.String(), tc.says) {
			t.Errorf("%s: nothing says %q:\n%s", tc.name, tc.says, said.String())
		}
	}
}
