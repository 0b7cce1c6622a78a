package runtimes

import (
	"strings"
	"testing"
)

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
		// cursor-agent's last line: exec -a "$0" node --use-system-ca index.js "$@".
		{"cursor-agent --use-system-ca /h/.local/share/cursor-agent/versions/1/index.js -p hi", "", "cursor-agent", "-p hi"},
		{"/h/.local/bin/agent /h/.local/share/cursor-agent/versions/1/index.js ls", "", "agent", "ls"},
		{"agent /srv/index.js ls", "/usr/bin/node", "", ""},
		{"cursor-agent /odd/place/index.js status", "/odd/place/node", "cursor-agent", "status"},
		{"claude --model opus do it", "/opt/claude/claude", "claude", "--model opus do it"},
		{"gemini", "/usr/bin/node", "gemini", ""}, // a title that it gave itself
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
