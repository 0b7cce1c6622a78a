package runtimes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhichFlagsAreKept(t *testing.T) {
	for _, tc := range []struct {
		runtime    string
		args, want []string
	}{
		{"claude", []string{"fix the bug"}, nil},
		{"claude", []string{"--model", "opus[1m]", "fix"}, []string{"--model", "opus[1m]"}},
		{"claude", []string{"--model=arn:aws:bedrock:us-east-1:1:profile/x"}, []string{"--model=arn:aws:bedrock:us-east-1:1:profile/x"}},
		{"claude", []string{"--model"}, nil},
		{"claude", []string{"--model", "a free text"}, nil},
		{"claude", []string{"--model", "-p"}, nil},
		{"claude", []string{"--permission-mode", "plan", "--dangerously-skip-permissions"}, []string{"--permission-mode", "plan", "--dangerously-skip-permissions"}},
		{"claude", []string{"--append-system-prompt", "--model=secret"}, nil},
		{"claude", []string{"--append-system-prompt", "--model", "opus"}, nil},
		{"claude", []string{"--add-dir", "/a b/c", "../d", "now do it"}, []string{"--add-dir", "/a b/c", "../d"}},
		{"claude", []string{"--add-dir", "/a", "/clear the cache"}, []string{"--add-dir", "/a"}},
		{"claude", []string{"--add-dir", "do it"}, nil},
		{"claude", []string{"--add-dir", "\xff"}, nil},
		{"claude", []string{"--settings", "/s.json", "--settings", `{"env":{"KEY":"1"}}`}, []string{"--settings", "/s.json"}},
		{"claude", []string{"--mcp-config", `{"a":1}`, "b.json"}, []string{"--mcp-config", "b.json"}},
		{"claude", []string{"--allowedTools", "Bash(curl -u me:key *)", "Edit,Read"}, []string{"--allowedTools", "Edit,Read"}},
		{"claude", []string{"--agents", `{"x":{}}`, "--debug", "api", "--name", "my secret"}, nil},
		{"claude", []string{"--", "--model", "opus"}, nil},
		{"codex", []string{"-mgpt-5", "-s", "read-only", "-c", "api_key=x", "-i", "a.png", "b.png"}, []string{"-mgpt-5", "-s", "read-only"}},
		{"codex", []string{"exec", "--add-dir", "/a b", "words"}, []string{"--add-dir", "/a b"}},
		{"gemini", []string{"-m", "pro", "-p", "words", "-yd"}, []string{"-m", "pro", "-y", "-d"}},
		{"qwen", []string{"--openai-api-key", "k", "--openai-base-url", "http://u:p@h", "--yolo"}, []string{"--yolo"}},
		{"opencode", []string{"-m", "a/b", "--password", "p", "-f", "x", "y"}, []string{"-m", "a/b"}},
		{"copilot", []string{"--model", "gpt-5", "--secret-env-vars=A,B", "--allow-tool", "shell(git:*)", "write"}, []string{"--model", "gpt-5", "--secret-env-vars=A,B", "--allow-tool", "write"}},
		{"cursor-agent", []string{"-a", "key", "-H", "Authorization: x", "--force"}, []string{"--force"}},
		{"nobodys-cli", []string{"--model", "opus"}, nil},
	} {
		got := For(tc.runtime).KeptFlags(tc.args)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s %q: %s", tc.runtime, tc.args, diff)
		}
	}
}

// What is kept is always of the kept kind, whatever the arguments were: nothing
// of a prompt gets in by way of a command line that is read another way.
func FuzzKeptFlags(f *testing.F) {
	f.Add("claude", "--add-dir\n/a\nthe prompt\n--model\nopus")
	f.Add("codex", "-cp\n-mx\n--\n-m")
	f.Add("qwen", "-i\nhello\n--add-dir=x y")
	f.Fuzz(func(t *testing.T, runtime, line string) {
		p := For(runtime)
		args := strings.Split(line, "\n")
		kept := p.KeptFlags(args)
		if again := p.KeptFlags(kept); !slices.Equal(again, kept) {
			t.Errorf("%q keeps %q of %q", kept, again, args)
		}
		if p.Kind(kept) != Interactive {
			t.Errorf("%q is of kind %d", kept, p.Kind(kept))
		}
	})
}
