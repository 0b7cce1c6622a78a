package hookconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEarlierFormsAreRecognised(t *testing.T) {
	for name, hook := range map[string]string{
		"exec form":          `{"type":"command","command":"/x/agent-sessions","args":["hook","claude"],"timeout":10}`,
		"plain":              `{"type":"command","command":"agent-sessions hook claude"}`,
		"quoted":             `{"type":"command","command":"test -x '/a b/agent-sessions' && exec '/a b/agent-sessions' hook claude; exit 0"}`,
		"another time limit": `{"type":"command","command":"` + ourCommand + `","timeout":10000}`,
	} {
		for _, group := range []string{`[{"hooks":[HOOK]}]`, `[{"hooks":[HOOK,{"type":"command","command":"theirs"}]}]`, `[{"matcher":"x","hooks":[{"type":"command","command":"theirs"},HOOK]},{"hooks":[HOOK]}]`} {
			s := newSettings(t, "claude", `{"hooks":{"Stop":`+strings.ReplaceAll(group, "HOOK", hook)+`,"CwdChanged":[{"hooks":[`+hook+`]}]}}`)
			if r := s.must(s.Status("claude")); r.State != Outdated {
				t.Errorf("%s: %+v", name, r)
			}
			s.must(s.Install("claude"))
			if n := strings.Count(s.content(), ourCommand); n != len(claude.events) || strings.Contains(s.content(), "CwdChanged") {
				t.Errorf("%s: %d of ours in %s", name, n, s.content())
			}
			s.must(s.Uninstall("claude"))
			if got := s.content(); strings.Contains(got, "agent-sessions") || strings.Contains(group, "theirs") != strings.Contains(got, "theirs") {
				t.Errorf("%s: left %s", name, got)
			}
		}
	}
	for _, other := range []string{"agent-sessions hook codex", "my-agent-sessions hook claude", "echo agent-sessions", "agent-sessions sweep", "echo 'agent-sessions hook claude"} {
		if isOurs(other, nil, "claude") {
			t.Errorf("%q is taken for ours", other)
		}
	}
}

func TestTheCommandIsHarmlessWithoutUs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a 'b\" $c")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agent-sessions")
	run := func() (string, error) {
		cmd := exec.Command("/bin/sh", "-c", command(path, "claude"))
		cmd.Stdin = strings.NewReader("event")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); out != "" || err != nil {
		t.Errorf("gone: %q, %v", out, err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$@ $(cat)\"; exit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := run()
	var exit *exec.ExitError
	if out != "hook claude event\n" || !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("there: %q, %v", out, err)
	}
	if !isOurs(command(path, "claude"), nil, "claude") {
		t.Error("it is not recognised")
	}
}

func FuzzEdit(f *testing.F) {
	for _, content := range layouts {
		f.Add(content)
	}
	f.Add(`{"hooks":{"Stop":[{"hooks":[{"command":"agent-sessions hook claude"}]},null,7,{"hooks":7}]}}`)
	f.Fuzz(func(t *testing.T, content string) {
		for _, target := range targets {
			with, err := target.install([]byte(content), program)
			if err != nil {
				continue
			}
			if !target.comments && !json.Valid(with) {
				t.Fatalf("%s: %q became %q", target.cli, content, with)
			}
			if again, err := target.install(with, program); err != nil || !bytes.Equal(again, with) {
				t.Fatalf("%s: %q is not done: %q, %v", target.cli, with, again, err)
			}
			without, err := target.uninstall(with)
			if err != nil || bytes.Contains(without, []byte(command(program, target.cli))) {
				t.Fatalf("%s: %q became %q, %v", target.cli, with, without, err)
			}
		}
	})
}

func TestCommentsStayWhereTheCLITakesThem(t *testing.T) {
	content := "{\n  // the theme\n  \"theme\": \"x\", /* end */\n  \"hooks\": {\n    // mine\n    \"AfterAgent\": [\n      // one\n      {\"hooks\": []},\n    ],\n  },\n}\n"
	s := newSettings(t, "gemini", content)
	s.must(s.Install("gemini"))
	for _, comment := range []string{"// the theme", "/* end */", "// mine", "// one"} {
		if strings.Count(s.content(), comment) != 1 {
			t.Errorf("%s in %s", comment, s.content())
		}
	}
	if !strings.Contains(s.content(), `"timeout": 10000`) {
		t.Errorf("gemini counts in milliseconds: %s", s.content())
	}
	s.must(s.Uninstall("gemini"))
	if s.content() != content {
		t.Errorf("became %s", s.content())
	}
}

func TestHooksThatAreTurnedOff(t *testing.T) {
	s := newSettings(t, "claude", `{"disableAllHooks": true}`)
	if r := s.must(s.Install("claude")); r.State != Installed || !r.Disabled {
		t.Errorf("%+v", r)
	}
	c := newSettings(t, "codex", "")
	if r := c.must(c.Install("codex")); r.Disabled || !strings.Contains(r.Next, "trust") {
		t.Errorf("%+v", r)
	}
}
