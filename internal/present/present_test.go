package present

import (
	"strings"
	"testing"
	"time"
)

func TestLineIsHarmlessWhateverComes(t *testing.T) {
	for in, want := range map[string]string{
		"fix the parser":            "fix the parser",
		"  two\n lines\tand a tab ": "two lines and a tab",
		"\x1b]0;owned\a\x1b[2Jx":    "␛]0;owned␇␛[2Jx",
		"a\u009b31mb":               "a\ufffd31mb",
		"bad \xff byte":             "bad \ufffd byte",
		"txt\u202ecod.exe":          "txt\ufffdcod.exe",
		"zero\u200bwidth\ufeff":     "zero\ufffdwidth\ufffd",
		"one\u2028two":              "one two",
		"\x7f\x00":                  "␡␀",
		"日本 👩‍💻":                    "日本 👩‍💻",
		"next\u0085line":            "next\ufffdline",
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLinesKeepsTheShapeOfText(t *testing.T) {
	if got, want := Lines("a\r\n\tb\x1b[0m\n"), "a\n        b␛[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b[31m\x9b\u202e\xff")
	f.Fuzz(func(t *testing.T, in string) {
		for _, r := range Line(in) {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2066' {
				t.Errorf("Line(%q) lets %U through", in, r)
			}
		}
		if again := Line(Line(in)); again != Line(in) {
			t.Errorf("Line is not stable: %q, then %q", Line(in), again)
		}
	})
}

func TestAge(t *testing.T) {
	for in, want := range map[time.Duration]string{
		-time.Hour:                       "0s",
		999 * time.Millisecond:           "0s",
		45 * time.Second:                 "45s",
		3*time.Minute + 20*time.Second:   "3m 20s",
		time.Hour + 59*time.Second:       "1h",
		time.Hour + 37*time.Minute:       "1h 37m",
		48*time.Hour + 4*time.Hour:       "2d 4h",
		41*24*time.Hour + 30*time.Minute: "41d",
	} {
		if got := Age(in); got != want {
			t.Errorf("Age(%v) = %q, want %q", in, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 8, 7, 11, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, "-"},
		{now.Add(time.Hour), "just now"},
		{now.Add(-999 * time.Millisecond), "just now"},
		{now.Add(-97 * time.Minute), "1h 37m ago"},
	} {
		if got := Ago(c.at, now); got != c.want {
			t.Errorf("Ago(%v) = %q, want %q", c.at, got, c.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for in, want := range map[uint64]string{
		0: "0B", 1023: "1023B", 1024: "1.0K", 1536: "1.5K", 10188: "9.9K", 10200: "10K",
		1<<20 - 1: "1.0M", 66 << 30: "66G", 1<<64 - 1: "16E",
	} {
		if got := Bytes(in); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", in, got, want)
		}
	}
}

func table() *Table {
	return &Table{
		Columns: []Column{{Title: "ID"}, {Title: "TITLE", Min: 8}, {Title: "MEM", Right: true, Drop: 1}, {Title: "TTY", Drop: 2}},
		Rows: [][]Cell{
			{{Text: "482913", Raw: "claude-482913"}, {Text: "修复解析器的错误"}, {Text: "512M", Raw: "536870912"}, {Text: "pts/1"}},
			{{Text: "17"}, {Text: "plain words\there"}, {Text: "1.5G"}, {Text: ""}},
			{{Text: "9"}, {Text: ""}, {Text: ""}, {Text: "pts/2"}},
		},
	}
}

func written(t *testing.T, s Screen) string {
	t.Helper()
	var b strings.Builder
	if err := table().Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableFitsTheTerminal(t *testing.T) {
	for width, want := range map[int]string{
		0: "ID      TITLE              MEM  TTY\n" +
			"482913  修复解析器的错误  512M  pts/1\n" +
			"17      plain words here  1.5G\n" +
			"9                               pts/2\n",
		33: "ID      TITLE          MEM  TTY\n" +
			"482913  修复解析器…   512M  pts/1\n" +
			"17      plain words…  1.5G\n" +
			"9                           pts/2\n",
		26: "ID      TITLE          MEM\n" +
			"482913  修复解析器…   512M\n" +
			"17      plain words…  1.5G\n" +
			"9\n",
		16: "ID      TITLE\n" +
			"482913  修复解…\n" +
			"17      plain w…\n" +
			"9\n",
	} {
		got := written(t, Screen{Terminal: true, Width: width})
		if got != want {
			t.Errorf("width %d:\n%s\nwant\n%s", width, got, want)
		}
		for line := range strings.Lines(got) {
			if w := Width(strings.TrimSuffix(line, "\n")); width > 0 && w > width {
				t.Errorf("width %d: line of %d cells: %s", width, w, line)
			}
		}
	}
}

func TestTableIsTSVWhereNobodyLooks(t *testing.T) {
	want := "claude-482913\t修复解析器的错误\t536870912\tpts/1\n17\tplain words here\t1.5G\t\n9\t\t\tpts/2\n"
	if got := written(t, Screen{}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTintShowsOnlyWhereAsked(t *testing.T) {
	if got := (Screen{Terminal: true}).Tint(Alert, "LOST"); got != "LOST" {
		t.Errorf("without colour: %q", got)
	}
	if got := (Screen{Terminal: true, Colour: true}).Tint(Alert, "LOST"); got != "\x1b[1;31mLOST\x1b[m" {
		t.Errorf("with colour: %q", got)
	}
}
