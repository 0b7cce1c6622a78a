package runtimes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatALaunchIs(t *testing.T) {
	const id = "0f0e0d0c-0b0a-4908-8706-050403020100"
	for _, tc := range []struct {
		line   string
		kind   Kind
		resume string
	}{
		{"claude", Interactive, ""},
		{"claude config", Interactive, ""},
		{"claude fix the bug", Interactive, ""},
		{"claude update", Service, ""},
		{"claude daemon run", Service, ""},
		{"claude bg-spare", Service, ""},
		{"claude --version", Service, ""},
		{"claude -h", Service, ""},
		{"claude -p hi", Headless, ""},
		{"claude --model x --print hi", Headless, ""},
		{"claude -cp hi", Headless, ""},
		{"claude -- -p", Interactive, ""},
		{"claude -c", Interactive, ""},
		{"claude --resume " + id, Interactive, id},
		{"claude -r " + id + " -p x", Headless, id},
		{"claude --resume=" + id, Interactive, id},
		{"claude --resume " + id + " --fork-session", Interactive, ""},
		{"claude --resume some-title", Interactive, ""},
		{"claude --resume", Interactive, ""},
		{"codex", Interactive, ""},
		{"codex exec x", Headless, ""},
		{"codex -m gpt exec x", Headless, ""},
		{"codex review", Headless, ""},
		{"codex app-server", Service, ""},
		{"codex resume " + id, Interactive, id},
		{"codex resume --last", Interactive, ""},
		{"codex fork " + id, Interactive, ""},
		{"gemini -p x", Headless, ""},
		{"gemini --prompt=x", Headless, ""},
		{"gemini --acp", Service, ""},
		{"gemini --list-sessions", Service, ""},
		{"gemini --resume " + id, Interactive, id},
		{"gemini", Interactive, ""},
		{"opencode run x", Headless, ""},
		{"opencode run -i x", Interactive, ""},
		{"opencode serve", Service, ""},
		{"opencode -s ses_1", Interactive, "ses_1"},
		{"kilo daemon", Service, ""},
		{"qwen tell me", Headless, ""},
		{"qwen --model m", Interactive, ""},
		{"copilot -p x", Headless, ""},
		{"amp -x y", Headless, ""},
		{"cn -p x", Headless, ""},
		{"cursor-agent ls", Service, ""},
		{"nobodys-cli", Interactive, ""},
		{"nobodys-cli login", Service, ""},
		{"nobodys-cli -p x", Interactive, ""},
	} {
		words := strings.Fields(tc.line)
		p := For(words[0])
		if got := p.Kind(words[1:]); got != tc.kind {
			t.Errorf("%s: kind %d, want %d", tc.line, got, tc.kind)
		}
		var resume string
		if p.ResumeID != nil {
			resume = p.ResumeID(words[1:])
		}
		if resume != tc.resume {
			t.Errorf("%s: resumes %q, want %q", tc.line, resume, tc.resume)
		}
	}
}

func TestWhichRuntimeAProcessIs(t *testing.T) {
	names := map[string]bool{"claude": true, "codex": true, "gemini": true, "opencode": true, "kilo": true, "agent": true, "cursor-agent": true, "sh": true}
	covered := func(name string) bool { return names[name] }
	for _, tc := range []struct{ line, exe, want, args string }{
		{"claude --resume x", "", "claude", "--resume x"},
		{"/opt/bin/claude.exe", "", "claude", ""},
		{"node /usr/lib/x/bin/codex exec hi", "", "codex", "exec hi"},
		{"/usr/bin/node --max-old-space-size=4096 /usr/bin/gemini -i", "", "gemini", "-i"},
		{"node -r hook.js /usr/bin/gemini", "", "gemini", ""},
		{"node -e code gemini", "", "", ""},
		{"bash -c claude", "", "", ""},
		{"bash /home/u/bin/claude x", "", "claude", "x"},
		{"node server.js claude", "", "", ""},
		{"node", "", "", ""},
		{"/x/.kilo run", "", "kilo", "run"},
		{"opencode", "/x/opencode.exe", "opencode", ""},
		{"agent", "/usr/bin/agent", "", ""},
		{"agent", "/h/.local/share/cursor-agent/versions/1/node", "agent", ""},
		{"claude-wrapper", "", "", ""},
		{"vim claude", "", "", ""},
		{"sh", "", "sh", ""},
	} {
		name, args, ok := Match(strings.Fields(tc.line), tc.exe, covered)
		if ok != (tc.want != "") || ok && (name != tc.want || strings.Join(args, " ") != tc.args) {
			t.Errorf("%s: got %q %q %v, want %q %q", tc.line, name, args, ok, tc.want, tc.args)
		}
	}
	if _, _, ok := Match(nil, "", covered); ok {
		t.Error("a process without arguments matches")
	}
}

func TestTheCoveredSetIsTheSymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"codex", "claude", "agentwrap"} {
		if err := os.Symlink("/opt/agentwrap", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "note"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Covered(dir)
	if diff := cmp.Diff([]string{"claude", "codex"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, none := range []string{filepath.Join(dir, "absent"), ""} {
		if got, err := Covered(none); got != nil || err != nil {
			t.Errorf("%q: %v, %v", none, got, err)
		}
	}
}
