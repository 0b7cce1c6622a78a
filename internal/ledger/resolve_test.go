package ledger

import (
	"errors"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	ids := []string{
		"claude-20260807T110001Z-482913", "claude-20260807T110001Z-582913",
		"codex-20260807T110001Z-000007", "a", "ab",
	}
	for _, c := range []struct {
		short, want string
		several     int
	}{
		{short: "claude-20260807T110001Z-482913", want: ids[0]},
		{short: "claude-20260807T110001Z-4", want: ids[0]},
		{short: "482913", want: ids[0]},
		{short: "7", want: ids[2]},
		{short: "codex", want: ids[2]},
		{short: "a", want: "a"},
		{short: "82913", several: 2},
		{short: "claude", several: 2},
		{short: "c", several: 3},
		{short: ""},
		{short: "gemini"},
		{short: "110001"},
		{short: "82913x"},
	} {
		got, err := Resolve(ids, c.short)
		var ambiguous *AmbiguousError
		switch {
		case c.several > 0:
			if !errors.As(err, &ambiguous) || len(ambiguous.IDs) != c.several {
				t.Errorf("%q: got %q, %v; want %d candidates", c.short, got, err, c.several)
			}
		case c.want == "":
			if !errors.Is(err, ErrNoSession) {
				t.Errorf("%q: got %q, %v; want ErrNoSession", c.short, got, err)
			}
		case got != c.want || err != nil:
			t.Errorf("%q: got %q, %v; want %s", c.short, got, err, c.want)
		}
	}
}

func TestAmbiguityListsAFewCandidates(t *testing.T) {
	var ids []string
	for c := 'a'; c <= 'z'; c++ {
		ids = append(ids, "claude-x-"+string(c))
	}
	_, err := Resolve(ids, "claude")
	if err == nil || !strings.Contains(err.Error(), "fits 26 sessions") || !strings.HasSuffix(err.Error(), "claude-x-j and 16 more") {
		t.Errorf("got %v", err)
	}
}
