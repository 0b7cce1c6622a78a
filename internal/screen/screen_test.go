package screen

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatStandsOnAScreen(t *testing.T) {
	s := Play([]byte("\x1b]0;title\x07one\r\n\x1b[31mtwo\x1b[0m\r\n\r\n> \x1b[2mhint\x1b[0m 日本 x\x1b[4;3H"), 40, 6)
	defer s.Close()
	if got := s.Lines(); !slices.Equal(got, []string{"one", "two", "", "> hint 日本 x"}) {
		t.Errorf("lines %q", got)
	}
	if got := s.Solid(3); got != ">      日本 x" {
		t.Errorf("solid %q", got)
	}
	if s.Row != 3 || s.Column != 2 {
		t.Errorf("cursor at %d, %d", s.Row, s.Column)
	}
	if got := strings.Join(s.Coloured(), "\n"); !strings.Contains(got, "\x1b[31mtwo") || strings.Contains(got, "title") {
		t.Errorf("coloured %q", got)
	}
}

func TestAnEmptyScreenHasNoLines(t *testing.T) {
	s := Play(nil, 0, 0)
	defer s.Close()
	if got := s.Lines(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
