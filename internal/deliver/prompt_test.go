package deliver

import (
	"strings"
	"testing"

	"agentwrap/internal/runtimes"
	"agentwrap/internal/screen"
)

// The screens are those of the real programs, shortened; a ¦ stands for the
// cursor, and what is in ‹› is printed faintly.
func TestWhatAScreenSaysOfItsPrompt(t *testing.T) {
	const rule = "────────────────────"
	for _, tc := range []struct {
		runtime, name, screen string
		want                  Prompt
	}{
		{"claude", "idle", "● Hello.\n\n" + rule + "\n❯\u00a0¦\n" + rule + "\n  ⏸ manual mode on · ? for shortcuts", Empty},
		{"claude", "a hint", rule + "\n❯\u00a0¦‹Try \"fix lint errors\"›\n" + rule + "\n  ? for shortcuts", Empty},
		{"claude", "working", "✻ Mustering… (2s)\n" + rule + "\n❯\u00a0¦\n" + rule + "\n  manual mode on · esc to interrupt", Busy},
		{"claude", "a draft", rule + "\n❯\u00a0half a draft¦\n" + rule + "\n  manual mode on", Draft},
		{"claude", "a draft, the cursor before it", rule + "\n❯\u00a0¦half a draft\n" + rule, Draft},
		{"claude", "a draft of two lines", rule + "\n❯\u00a0first line\n  second line¦\n" + rule, Elsewhere},
		{"claude", "a draft whose first line is empty", rule + "\n❯\u00a0¦\n  second line\n" + rule, Draft},
		{"claude", "a draft while it works", rule + "\n❯\u00a0half¦\n" + rule + "\n  esc to interrupt", Draft},
		{"claude", "a permission is asked for", " Do you want to proceed?\n ❯ 1. Yes¦\n   2. No\n\n Esc to cancel", Draft},
		{"claude", "a permission, the cursor elsewhere", " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel\n¦", Elsewhere},
		{"claude", "a shell mode", rule + "\n! ¦\n" + rule, Elsewhere},
		{"codex", "idle", "• Hello.\n\n› ¦‹Ask Codex to do anything›\n\n  ? for shortcuts", Empty},
		{"codex", "working", "• Working (3s • esc to interrupt)\n\n› ¦‹Ask Codex›\n\n  ? for shortcuts", Busy},
		{"codex", "a draft", "› half a draft¦\n\n  tab to queue message", Draft},
		{"gemini", "idle", rule + "\n Shift+Tab to accept edits\n\n > ¦  Type your message or @path/to/file\n\n workspace (/directory)", Empty},
		{"gemini", "idle, without asking", rule + "\n YOLO Ctrl+Y\n\n * ¦  Type your message or @path/to/file\n\n workspace", Empty},
		{"gemini", "a shell mode", " ! ¦\n\n workspace", Elsewhere},
		{"gemini", "a draft", " > half a draft¦\n\n workspace (/directory)", Draft},
		{"opencode", "begun", "  ┃\n  ┃  ¦Ask anything… \"Fix broken tests\"\n  ┃\n  ┃  Build · model", Empty},
		{"opencode", "idle", "  ┃\n  ┃  ¦\n  ┃\n  ┃  Build · model loopback\n  ctrl+p commands", Empty},
		{"opencode", "working", "  ┃\n  ┃  ¦\n  ┃\n  ┃  Build · model\n   ■■■  esc interrupt", Busy},
		{"opencode", "a draft of two lines", "  ┃  ¦\n  ┃  second line\n  ┃\n  ┃  Build", Draft},
		{"amp", "no prompt is known", "> ¦", Elsewhere},
	} {
		picture := strings.NewReplacer("\n", "\r\n", "¦", "\x1b7", "‹", "\x1b[2m", "›\n", "\x1b[0m\r\n", "›\r\n", "\x1b[0m\r\n").Replace(tc.screen) + "\x1b[0m\x1b8"
		s := screen.Play([]byte(picture), 80, 24)
		if got := ReadPrompt(s, runtimes.For(tc.runtime).Prompt); got != tc.want {
			t.Errorf("%s, %s: got %d, want %d; cursor %d,%d %q", tc.runtime, tc.name, got, tc.want, s.Row, s.Column, s.Solid(s.Row))
		}
		s.Close()
	}
}

func TestWhetherATextStandsAtThePrompt(t *testing.T) {
	long := "please look at every test in the tree and fix those that fail"
	for _, tc := range []struct {
		row, text string
		want      bool
	}{
		{"❯ Yes", "Yes", true},
		{" ❯ 1. Yes", "Yes", false},
		{" ❯ 1. Yes", "1. Yes, do it", false},
		{"❯", "Yes", false},
		{"❯ " + long, long, true},
		{"  tree and fix those that fail", long, true},
		{"  ail", long, true},
		{" ❯ ail", long, false},
		{"  second", "first\nsecond", true},
		{"❯ [Pasted text #1 +12 lines]", strings.Repeat("x\n", 12) + "end", true},
		{"❯ something else entirely", long, false},
		{"   2. No", "No", false},
	} {
		if got := stands(tc.row, tc.text, runtimes.For("claude").Prompt); got != tc.want {
			t.Errorf("%q in %q: got %t", tc.text, tc.row, got)
		}
	}
}
