package hookconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const program = "/opt/bin/agent-sessions"

// settings is a throwaway home with a CLI's settings file in it.
type settings struct {
	*testing.T
	Config
	cli, path string
}

func newSettings(t *testing.T, cli, content string) settings {
	t.Helper()
	home := t.TempDir()
	s := settings{t, Config{Program: program, Getenv: func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}}, cli, ""}
	target, err := find(cli)
	if err != nil {
		t.Fatal(err)
	}
	s.path = target.file(s.Getenv)
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if content != "" {
		s.write(content)
	}
	return s
}

func (s settings) write(content string) {
	s.Helper()
	if err := os.WriteFile(s.path, []byte(content), 0o640); err != nil {
		s.Fatal(err)
	}
}

func (s settings) content() string {
	s.Helper()
	raw, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Fatal(err)
	}
	return string(raw)
}

func (s settings) must(r Report, err error) Report {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// files are what is beside the settings, to see that nothing is left.
func (s settings) files() string {
	s.Helper()
	list, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil {
		s.Fatal(err)
	}
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return strings.Join(names, " ")
}

const ourCommand = `test -x /opt/bin/agent-sessions && exec /opt/bin/agent-sessions hook claude; exit 0`

// What a hand-written file looks like afterwards: its own lines untouched, ours
// in its own layout.
func TestInstalledInTheFilesOwnLayout(t *testing.T) {
	s := newSettings(t, "claude", `{
    "model": "opus",
    "hooks": {
        "Stop": [ { "matcher": "", "hooks": [ {"type": "command", "command": "say done && true"} ] } ],
        "PreToolUse": []
    },
    "env": { "A": "<&>" }
}
`)
	s.must(s.Install("claude"))
	ours := strings.ReplaceAll(`{
                "hooks": [
                    {
                        "type": "command",
                        "command": "COMMAND",
                        "timeout": 10
                    }
                ]
            }`, "COMMAND", ourCommand)
	list := func(event string) string {
		return ",\n        \"" + event + "\": [\n            " + ours + "\n        ]"
	}
	want := `{
    "model": "opus",
    "hooks": {
        "Stop": [ { "matcher": "", "hooks": [ {"type": "command", "command": "say done && true"} ] }, ` + ours + ` ],
        "PreToolUse": []` + list("SessionStart") + list("UserPromptSubmit") + list("SubagentStop") + list("Notification") + list("SessionEnd") + `
    },
    "env": { "A": "<&>" }
}
`
	if diff := cmp.Diff(want, s.content()); diff != "" {
		t.Error(diff)
	}
	if st, err := os.Stat(s.path); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

var layouts = map[string]string{
	"absent":                  "",
	"empty object":            "{}",
	"empty object with space": "{ \n }\n",
	"one line":                `{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
	"one line, no hooks":      `{"a":1}`,
	"two blanks":              "{\n  \"a\": 1\n}\n",
	"tabs":                    "{\n\t\"a\": [\n\t\t1\n\t],\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}",
	"carriage returns":        "{\r\n  \"a\": 1\r\n}\r\n",
	"empty hooks":             "{\n  \"hooks\": {},\n  \"z\": 2\n}\n",
	"empty hooks, odd":        "{\n  \"hooks\": {\n\n  }\n}\n",
	"only blanks":             " \n",
	"other hooks":             "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"x\"\n          }\n        ]\n      }\n    ],\n    \"Odd\": 7\n  }\n}\n",
	"last member without one": "{ \"a\" : 1 ,\n\n\"b\":\t2   }",
	"twice the same name":     "{\n  \"hooks\": {\"Stop\": []},\n  \"hooks\": {}\n}\n",
}

func TestUninstallGivesBackEveryByte(t *testing.T) {
	for _, target := range targets {
		cli := target.cli
		for name, content := range layouts {
			s := newSettings(t, cli, content)
			before := s.files()
			if r := s.must(s.Install(cli)); r.State != Installed || !r.Changed {
				t.Errorf("%s, %s: %+v", cli, name, r)
			}
			if !json.Valid([]byte(s.content())) {
				t.Errorf("%s, %s: no JSON: %s", cli, name, s.content())
			}
			once := s.content()
			if r := s.must(s.Install(cli)); r.Changed || s.content() != once {
				t.Errorf("%s, %s: the second installation changed it to %s", cli, name, s.content())
			}
			if r := s.must(s.Status(cli)); r.State != Installed || r.Changed {
				t.Errorf("%s, %s: %+v", cli, name, r)
			}
			if r := s.must(s.Uninstall(cli)); r.State != Absent || !r.Changed {
				t.Errorf("%s, %s: %+v", cli, name, r)
			}
			if got := s.content(); got != content || s.files() != before {
				t.Errorf("%s, %s: was %q, is %q; files %s", cli, name, content, got, s.files())
			}
			if r := s.must(s.Uninstall(cli)); r.Changed {
				t.Errorf("%s, %s: there was nothing to uninstall: %+v", cli, name, r)
			}
		}
	}
}

// What the user or the CLI changed since stays, in another program's place too.
func TestUninstallKeepsWhatCameSince(t *testing.T) {
	s := newSettings(t, "claude", "{\n  \"a\": 1\n}\n")
	s.must(s.Install("claude"))
	s.write(strings.Replace(s.content(), `"a": 1`, `"a": 2`, 1))
	moved := s
	moved.Program = "/elsewhere/agent-sessions"
	if r := s.must(moved.Status("claude")); r.State != Outdated {
		t.Errorf("%+v", r)
	}
	if r := s.must(moved.Install("claude")); r.State != Installed || strings.Contains(s.content(), program) {
		t.Errorf("%+v: %s", r, s.content())
	}
	s.must(moved.Uninstall("claude"))
	if got := s.content(); got != "{\n  \"a\": 2\n}\n" {
		t.Errorf("got %s", got)
	}
}

func TestWhatCannotBeEditedIsLeftAsItIs(t *testing.T) {
	for _, tc := range []struct{ name, cli, content, says string }{
		{"torn", "claude", "{\n  \"a\": 1,\n  \"b\": [\n}\n", "line 4"},
		{"a comment", "claude", "{\n  // mine\n  \"a\": 1\n}\n", "comments"},
		{"a comma too many", "codex", "{\"a\": 1,}", "trailing commas"},
		{"another value", "claude", "[]", "no JSON object"},
		{"hooks are none", "claude", `{"hooks": []}`, "hooks is no object"},
		{"an event's are none", "claude", `{"hooks": {"Stop": {}}}`, "hooks.Stop is no list"},
		{"a byte order mark", "claude", "\ufeff{}", "line 1"},
	} {
		s := newSettings(t, tc.cli, tc.content)
		for name, do := range map[string]func(string) (Report, error){"install": s.Install, "status": s.Status} {
			if _, err := do(tc.cli); err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), s.path) {
				t.Errorf("%s: %s says %v", tc.name, name, err)
			}
		}
		if got := s.content(); got != tc.content || s.files() != filepath.Base(s.path) {
			t.Errorf("%s: became %q beside %s", tc.name, got, s.files())
		}
	}
	if _, err := (Config{Getenv: func(string) string { return "" }}).Status("claude"); err == nil {
		t.Error("without a home")
	}
	if _, err := (Config{}).Status("vim"); err == nil || !strings.Contains(err.Error(), "claude") {
		t.Errorf("unknown CLI: %v", err)
	}
}

func TestLinksAreFollowed(t *testing.T) {
	s := newSettings(t, "claude", "")
	dotfiles := filepath.Join(t.TempDir(), "settings.json")
	if err := errors.Join(os.WriteFile(dotfiles, []byte("{}\n"), 0o644), os.Symlink(dotfiles, s.path)); err != nil {
		t.Fatal(err)
	}
	s.must(s.Install("claude"))
	if raw, err := os.ReadFile(dotfiles); err != nil || !bytes.Contains(raw, []byte("hook claude")) {
		t.Errorf("%s, %v", raw, err)
	}
	if st, err := os.Lstat(s.path); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is no link any more")
	}
	s.must(s.Uninstall("claude"))
	if raw, err := os.ReadFile(dotfiles); err != nil || string(raw) != "{}\n" {
		t.Errorf("%s, %v", raw, err)
	}
	if err := errors.Join(os.Remove(dotfiles)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Install("claude"); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("a link to nowhere: %v", err)
	}
}

// cc#28922: two writers.
func TestManyInstallationsAtOnce(t *testing.T) {
	s := newSettings(t, "claude", "{\n  \"a\": 1\n}\n")
	const many = 20
	errs := make(chan error, many)
	for range many {
		go func() { _, err := s.Install("claude"); errs <- err }()
	}
	for range many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(s.content(), ourCommand); n != len(claude.events) {
		t.Errorf("%d of ours in %s", n, s.content())
	}
	s.must(s.Uninstall("claude"))
	if got := s.content(); got != "{\n  \"a\": 1\n}\n" {
		t.Errorf("became %s", got)
	}
}

// The CLI writes its settings without asking anyone.
func TestWhatTheCLIWritesMeanwhileIsNotLost(t *testing.T) {
	s := newSettings(t, "claude", `{"a":0}`)
	f, err := openFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	after, changed, err := f.edit(func(raw []byte) (edition, error) {
		after, err := claude.install(raw, program)
		if writes++; writes < 4 {
			s.write(fmt.Sprintf(`{"a":%d}`, writes))
		}
		return edition{after: after}, err
	})
	if err != nil || !changed || s.content() != string(after) || !strings.HasPrefix(s.content(), `{"a":3,`) {
		t.Errorf("%v, %v: %s", changed, err, s.content())
	}
	if _, _, err := f.edit(func(raw []byte) (edition, error) {
		writes++
		s.write(fmt.Sprintf(`{"a":%d}`, writes))
		return edition{after: []byte("{}")}, nil
	}); err == nil || !strings.Contains(err.Error(), "keeps changing") {
		t.Errorf("got %v", err)
	}
}
