// Package present turns facts into what a person reads: text made harmless,
// ages, tables that fit the terminal. Every command and view that prints
// anything goes through it.
package present

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Line makes text from outside (a transcript, an environment, a file name, an
// error) harmless as one line: no byte of it can move the cursor, change a
// colour, reorder what is read or end the line. Blanks are folded, control
// characters shown as their pictures (␛), the rest that has no honest glyph
// as U+FFFD.
func Line(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(clean(s, false), unicode.IsSpace), " ")
}

// Lines is Line for text of several lines: it keeps newlines and indentation,
// and makes eight-column tabs into blanks.
func Lines(s string) string { return clean(s, true) }

// isPlain tells whether s is printable ASCII without blanks to fold, as almost
// all that a listing shows is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

func clean(s string, keepLines bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(unicode.ReplacementChar)
		case r == '\n' && keepLines:
			b.WriteByte('\n')
		case r == '\t' && keepLines:
			b.WriteString("        ")
		case r == '\r' && keepLines && strings.HasPrefix(s[i:], "\n"):
		case unicode.IsSpace(r) && r != 0x85:
			b.WriteByte(' ')
		default:
			b.WriteRune(harmless(r))
		}
	}
	return b.String()
}

// harmless maps a rune that a terminal or a reader could be fooled by.
func harmless(r rune) rune {
	switch {
	case r < ' ':
		return '␀' + r
	case r == 0x7f:
		return '␡'
	case r == 0x200c || r == 0x200d: // joiners, which scripts and emoji need
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf):
		return unicode.ReplacementChar
	}
	return r
}

// Width is how many terminal cells a harmless text takes: wide characters
// count two, combining ones none.
func Width(s string) int { return ansi.StringWidth(s) }

// Cut shortens a harmless text to at most width cells, with … in place of what
// was cut.
func Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, "…")
}
