package hookconfig

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpencodesPluginComesAndGoes(t *testing.T) {
	home := t.TempDir()
	c := Config{Program: "/bin/agent-sessions", Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	file := filepath.Join(home, ".local/share/agentwrap/opencode.js")
	moved := c
	moved.Program = "/elsewhere/agent-sessions"
	for _, step := range []struct {
		name string
		do   func() (Report, error)
		want Report
	}{
		{"none", func() (Report, error) { return c.Status("opencode") }, Report{State: Absent}},
		{"installed", func() (Report, error) { return c.Install("opencode") }, Report{State: Installed, Changed: true}},
		{"installed again", func() (Report, error) { return c.Install("opencode") }, Report{State: Installed}},
		{"seen from another program", func() (Report, error) { return moved.Status("opencode") }, Report{State: Outdated}},
		{"brought up to date", func() (Report, error) { return moved.Install("opencode") }, Report{State: Installed, Changed: true}},
		{"removed", func() (Report, error) { return c.Uninstall("opencode") }, Report{State: Absent, Changed: true}},
		{"removed again", func() (Report, error) { return c.Uninstall("opencode") }, Report{State: Absent}},
	} {
		want := step.want
		want.CLI, want.File = "opencode", file
		if got, err := step.do(); err != nil || got != want {
			t.Errorf("%s: %+v, %v", step.name, got, err)
		}
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
	if _, err := (Config{Program: "/x", Getenv: func(string) string { return "" }}).Install("opencode"); err == nil {
		t.Error("installed without a HOME")
	}
}
