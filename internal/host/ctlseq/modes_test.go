package ctlseq

import (
	"strings"
	"testing"
)

func follow(streams ...string) *Modes {
	var f Filter
	f.Feed(nil, []byte(strings.Join(streams, "")), Watch)
	return &f.Modes
}

// What a program sets, what takes it back, and what gives it to another terminal.
var modeCases = []struct{ name, stream, reset, set string }{
	{"nothing", "text", "", ""},
	{"Claude Code's start", "\x1b[?25l\x1b[?2004h\x1b[?2031h\x1b[?1004h\x1b[>5u\x1b[>4;2m",
		"\x1b[?25h\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[<1u\x1b[>4m", "\x1b[?25l\x1b[?1004h\x1b[?2004h\x1b[?2031h\x1b[>4;2m"},
	{"several in one", "\x1b[?1000;1006h", "\x1b[?1000l\x1b[?1006l", "\x1b[?1000h\x1b[?1006h"},
	{"set and reset", "\x1b[?1000h\x1b[?1000l\x1b[4h\x1b[4l\x1b[>5u\x1b[<u", "", ""},
	{"a mode at its default", "\x1b[?7h\x1b[?25h", "", ""},
	{"no wrap", "\x1b[?7l", "\x1b[?7h", "\x1b[?7l"},
	{"alternate screen with a keyboard of its own", "\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[>7u", "\x1b[<2u\x1b[?1049l\x1b[<1u", ""},
	{"the older alternate screen", "\x1b[?47h", "\x1b[?47l", ""},
	{"keyboard flags by =", "\x1b[>1u\x1b[=2;2u", "\x1b[<1u", ""},
	{"cursor shape", "\x1b[6 q", "\x1b[0 q", "\x1b[6 q"},
	{"keypad", "\x1b=", "\x1b>", "\x1b="},
	{"scroll region", "\x1b[2;10r", "\x1b[r", ""},
	{"no scroll region", "\x1b[2;10r\x1b[r", "", ""},
	{"line drawing", "\x1b(0\x0e", "\x1b(B\x0f", "\x1b(0\x0e"},
	{"insert", "\x1b[4h", "\x1b[4l", "\x1b[4h"},
	{"update held back", "\x1b[?2026h", "\x1b[?2026l", ""},
	{"colours", "\x1b]11;#001122\x07\x1b]4;1;red\x07", "\x1b]111" + st + "\x1b]104" + st, "\x1b]11;#001122" + st},
	{"colours asked for", "\x1b]11;?\x07", "", ""},
	{"progress", "\x1b]9;4;1;50\x07", "\x1b]9;4;0" + st, ""},
	{"open link", "\x1b]8;id=1;http://x/;y\x07", "\x1b]8;;" + st, "\x1b]8;id=1;http://x/;y" + st},
	{"closed link", "\x1b]8;;http://x/\x07\x1b]8;;\x07", "", ""},
	{"title", "\x1b]0;\xe2\x9c\xb3 t\x07", "", "\x1b]2;\xe2\x9c\xb3 t\x07"},
	{"pen", "\x1b[1m\x1b[31m", "", "\x1b[1;31m"},
	{"pen after a reset", "\x1b[1m\x1b[0;4m", "", "\x1b[4m"},
	{"pen put down", "\x1b[1m\x1b[m", "", ""},
	{"pen taken back", "\x1b[1;2;3;4:3;9;31;48;5;17m\x1b[22;23;24;29;39;49m", "", ""},
	{"colours of the pen", "\x1b[38;2;1;2;3;48:5:9;58;5;7;95m", "", "\x1b[95;48:5:9;58;5;7m"},
	{"styled underline", "\x1b[4:3;53m\x1b[4:0m", "", "\x1b[53m"},
	{"full reset", "\x1b[?1000h\x1b[>5u\x1b=\x1b]11;red\x07\x1bc", "", ""},
	{"soft reset", "\x1b[?25l\x1b[4h\x1b[2;3r\x1b[!p", "", ""},
}

func TestModesAreUndoneAndRestored(t *testing.T) {
	for _, c := range modeCases {
		m := follow(c.stream)
		if got := string(m.Reset()); got != c.reset+"\x1b[m" {
			t.Errorf("%s: reset %q, want %q", c.name, got, c.reset)
		}
		if got := string(m.Set()); got != c.set {
			t.Errorf("%s: set %q, want %q", c.name, got, c.set)
		}
	}
}

func TestKeyboardStacksBelongToTheirScreens(t *testing.T) {
	m := follow("\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[>7u")
	if got := string(m.Keyboard(false)) + "|" + string(m.Keyboard(true)); got != "\x1b[>1u|\x1b[>3u\x1b[>7u" {
		t.Errorf("got %q", got)
	}
	if string(m.EnterAlternate()) != "\x1b[?1049h" || !m.AlternateScreen() {
		t.Error("not on the alternate screen")
	}
	m = follow("\x1b[>1u\x1b[=6;2u")
	if got := string(m.Keyboard(false)); got != "\x1b[>7u" {
		t.Errorf("flags added: %q", got)
	}
}

func TestChangedTellsOfModesOnly(t *testing.T) {
	m := follow("text\x1b[31m\x1b]2;t\x07\x1b[H")
	if m.Changed() {
		t.Error("text, colour and title change no mode")
	}
	m = follow("\x1b[?1000h")
	if !m.Changed() || m.Changed() {
		t.Error("a change is told once")
	}
}

// A terminal that got Set and then Reset is as before: modes added to one place and not the other show here.
func FuzzModes(f *testing.F) {
	for _, c := range modeCases {
		f.Add([]byte(c.stream))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		m := follow(string(stream))
		undone := follow(string(stream)+Terminate, string(follow(string(stream)+Terminate).Reset()))
		if got := string(undone.Reset()); got != "\x1b[m" {
			t.Errorf("after its reset %q is still to do", got)
		}
		given := follow(string(m.Keyboard(false)), string(m.EnterAlternate()), string(m.Keyboard(true)), string(m.Set()))
		a, b := string(m.Set()), string(given.Set())
		if m.AlternateScreen() == given.AlternateScreen() && len(m.title) == 0 && len(m.colours) == 0 && m.link == nil && a != b {
			t.Errorf("set %q, and of that %q", a, b)
		}
	})
}

func TestLinesStandForThemselves(t *testing.T) {
	got := string(Lines(nil, []byte("\x1b[31mred\nstill\x1b[39m plain\n\n\x1b[44mblue\n")))
	want := "\x1b[31mred\x1b[m\r\n\x1b[31mstill\x1b[39m plain\x1b[m\r\n\x1b[m\r\n\x1b[44mblue\x1b[m"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
