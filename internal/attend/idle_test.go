package attend

import (
	"testing"
	"time"
)

func TestWhenAnIdleSessionEnds(t *testing.T) {
	start := time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)
	idle := Sample{Size: 7, Changed: start.Add(-time.Hour)}
	type look struct {
		minute int
		Sample
		want Verdict
	}
	for _, tc := range []struct {
		name  string
		looks []look
	}{
		{"three looks over the timeout", []look{{0, idle, Wait}, {5, idle, Wait}, {10, idle, End}}},
		{"a look every minute", []look{{0, idle, Wait}, {1, idle, Wait}, {4, idle, Wait}, {5, idle, Wait}, {9, idle, Wait}, {10, idle, End}}},
		{"looks that are far apart", []look{{0, idle, Wait}, {60, idle, Wait}, {61, idle, Wait}, {65, idle, End}}},
		{"it was busy in between", []look{{0, idle, Wait}, {5, idle, Wait}, {9, Sample{Why: "it works"}, Keep}, {10, idle, Wait}, {15, idle, Wait}, {20, idle, End}}},
		{"somebody was attached", []look{{0, idle, Wait}, {5, Sample{Why: "a terminal is attached"}, Keep}, {10, idle, Wait}}},
		{"its conversation grew", []look{{0, idle, Wait}, {5, idle, Wait}, {10, Sample{Size: 8, Changed: idle.Changed}, Keep}, {15, Sample{Size: 8, Changed: idle.Changed}, Wait}}},
		{"its conversation was rewritten", []look{{0, idle, Wait}, {5, Sample{Size: 7, Changed: start}, Keep}}},
		{"the clock was set back", []look{{60, idle, Wait}, {0, idle, Wait}, {5, idle, Wait}, {10, idle, End}}},
		{"without a conversation", []look{{0, Sample{}, Wait}, {5, Sample{}, Wait}, {10, Sample{}, End}}},
	} {
		var seen []Seen
		for i, l := range tc.looks {
			var got Verdict
			var why string
			seen, got, why = Judge(seen, l.Sample, 10*time.Minute, start.Add(time.Duration(l.minute)*time.Minute))
			if got != l.want || why == "" {
				t.Errorf("%s, look %d: got %d (%s), want %d", tc.name, i, got, why, l.want)
			}
		}
	}
}
