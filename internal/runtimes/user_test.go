package runtimes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// home is a user's home with profiles by runtime.
func home(t *testing.T, profiles map[string]string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, ".config", "agentwrap", "runtimes.d")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range profiles {
		if err := os.WriteFile(filepath.Join(folder, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string {
		if name == "HOME" {
			return dir
		}
		return ""
	}
}

func TestAProfileOfTheUsersOwn(t *testing.T) {
	k := KnownTo(home(t, map[string]string{"goose": goose(t)}))
	p := k.For("goose")
	for line, want := range map[string]Kind{"goose": Interactive, "goose session": Interactive, "goose run -t hi": Headless, "goose run -s -t hi": Interactive, "goose configure": Service} {
		if got := p.Kind(strings.Fields(line)[1:]); got != want {
			t.Errorf("%s: kind %d, want %d", line, got, want)
		}
	}
	got, err := p.Resume("20261129_1", p.KeptFlags(strings.Fields("session --name secret --model gpt-5 --debug")))
	if want := "session --resume --model gpt-5 --debug --session-id 20261129_1"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v", got, err)
	}
	if id := p.ResumeID(got); id != "20261129_1" {
		t.Errorf("resumes %q", id)
	}
	if problems := k.Problems(); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestAProfileThatChangesAnother(t *testing.T) {
	k := KnownTo(home(t, map[string]string{
		"codex":    `{"services": ["login"], "inject": false}`,
		"opencode": `{"inject": false}`,
		"mycodex":  `{"like": "codex", "config_home": ".mycodex", "transcripts_like": "codex"}`,
	}))
	if p := k.For("codex"); p.Kind([]string{"mcp"}) != Interactive || p.Kind([]string{"login"}) != Service || p.ConfigHomeVar != "CODEX_HOME" {
		t.Errorf("%+v", p)
	}
	if p := k.For("opencode"); p.PluginVar != "" || !p.CanResume() {
		t.Errorf("%+v", p)
	}
	if p := k.For("mycodex"); p.Name != "mycodex" || p.Folder("", "/h") != "/h/.mycodex" || p.TranscriptShape() != "codex" || !p.CanResume() {
		t.Errorf("%+v", p)
	}
	// What is built in is not changed by it.
	if p := For("codex"); p.Kind([]string{"mcp"}) != Service {
		t.Error("the built-in profile was written to")
	}
	if p := k.For("claude"); p.Kind([]string{"mcp"}) != Service {
		t.Error("another runtime's profile")
	}
}

func TestABadProfileIsToldAndTheBuiltInStands(t *testing.T) {
	for text, says := range map[string]string{
		"":                             "line 1:",
		"{\n\"services\": [\"a\",]\n}": "line 2: invalid character",
		"[]":                           "line 1: want one object",
		"{\n\n\"servces\": []}":        "line 3: servces: there is no such field",
		"{\"daemons\": [],\n\"services\": \"a\"}":         "line 2: services: want a list of words",
		`{"services": ["a", 1]}`:                          "line 1: services: want a list of words",
		`{"headless_prompt": 1}`:                          "headless_prompt: want true or false",
		`{"id_form": "a/*"}`:                              "id_form: want",
		`{"resume": ["--resume"]}`:                        "resume: want {id}",
		`{"config_home": "/etc"}`:                         "config_home: want a folder below HOME",
		`{"config_home": "../x"}`:                         "config_home: want",
		`{"transcripts": "[{id}"}`:                        "transcripts: want a pattern",
		`{"transcripts": "a/*.jsonl"}`:                    "transcripts: want a pattern",
		`{"id_file": "{id}.lock"}`:                        "id_file: want",
		`{"transcripts_like": "nobody"}`:                  "transcripts_like: want a runtime",
		"{\n\"like\": \"nobody\"}":                        `line 2: like: "nobody" is no runtime`,
		`{"inject": true}`:                                "inject: want false",
		`{"flags": [{"names": ["-x"]}, {}]}`:              "flags: flag 2: names: want at least one",
		`{"flags": [{"names": ["x"]}]}`:                   "flags: flag 1: names: want names that begin with -",
		`{"flags": [{"names": ["-x"], "takes": "two"}]}`:  "flags: flag 1: takes: want one of nothing, value, maybe, many",
		`{"flags": [{"names": ["-x"], "keeps": "word"}]}`: "flags: flag 1: keeps: there is no such field",
		`{"flags": {}}`:                                   "flags: want a list of flags",
		"{\"services\": 1,\n\"daemons\": 2}":              "line 2: daemons",
		strings.Repeat(" ", profileLimit) + "{}":          "larger",
	} {
		getenv := home(t, map[string]string{"claude": text})
		k := KnownTo(getenv)
		problems := k.Problems()
		if len(problems) == 0 || !strings.Contains(problems[len(problems)-1].Error(), says) || !strings.Contains(problems[0].Error(), "claude.json") {
			t.Errorf("%.60q: %v, want %q", text, problems, says)
		}
		if p := k.For("claude"); p.Kind([]string{"mcp"}) != Service || !slices.Equal(p.ResumeArgs, claude.ResumeArgs) {
			t.Errorf("%.60q: the built-in profile does not stand: %+v", text, p)
		}
	}
}

func TestFoldersAndFilesThatAreNoProfiles(t *testing.T) {
	getenv := home(t, map[string]string{"ok": "{}"})
	dir := filepath.Join(getenv("HOME"), ".config", "agentwrap", "runtimes.d")
	for _, name := range []string{"notes.txt", ".json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "claude.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := KnownTo(getenv)
	if problems := k.Problems(); len(problems) != 3 {
		t.Errorf("%v", problems)
	}
	if p := k.For("claude"); !p.CanResume() {
		t.Error("a FIFO in the place of a profile")
	}
	for _, none := range []*Known{nil, KnownTo(func(string) string { return "" }), KnownTo(func(string) string { return "/no/such/home" })} {
		if problems := none.Problems(); problems != nil || !none.For("claude").CanResume() {
			t.Errorf("%v", problems)
		}
	}
	if p := Profiles(nil).For("codex"); !p.CanResume() {
		t.Error("no profiles at all")
	}
}

func FuzzProfile(f *testing.F) {
	f.Add(`{"services":["a"],"id_form":"20*","resume":["--resume","{id}"],"headless_prompt":true}`)
	f.Add(`{"flags":[{"names":["-x"],"takes":"many","keep":"path"}],"like":"claude"}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, problems := parseProfile("claude", []byte(text))
		for _, problem := range problems {
			if !strings.HasPrefix(problem.Error(), "line ") {
				t.Errorf("%q: %v", text, problem)
			}
		}
		args := []string{"-x", "a", "--model", "opus", "--resume", uuid}
		p.Kind(args)
		if again := p.KeptFlags(p.KeptFlags(args)); !slices.Equal(again, p.KeptFlags(args)) {
			t.Errorf("%q: keeps %q of what it kept", text, again)
		}
	})
}
