package attend

import (
	"fmt"
	"time"
)

// sampleCount is in how many looks in a row a session must have been idle, spread
// over its timeout, until it ends.
const sampleCount = 3

// Sample is one look at a session: Why says what keeps it, "" for nothing.
type Sample struct {
	Why string
	// Size and Changed are its transcript's, zero where it has none.
	Size    int64
	Changed time.Time
}

// Seen is a look at which a session was idle.
type Seen struct {
	At      time.Time `json:"at"`
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
}

// Verdict is what a look comes to.
type Verdict int

const (
	// Wait: it was idle, not yet for long enough.
	Wait Verdict = iota
	// Keep: it is not idle.
	Keep
	// End: it has been idle for long enough.
	End
)

// Judge tells what a look at a session comes to after those at which it was idle
// before, and what to remember instead of those. It is the whole rule
// (docs/runstore.md, "Idle exit").
func Judge(before []Seen, s Sample, timeout time.Duration, now time.Time) (after []Seen, v Verdict, why string) {
	if s.Why != "" {
		return nil, Keep, s.Why
	}
	seen := Seen{At: now, Size: s.Size, Changed: s.Changed}
	if len(before) == 0 {
		return []Seen{seen}, Wait, "idle for the first time"
	}
	last := before[len(before)-1]
	switch {
	case last.Size != s.Size || !last.Changed.Equal(s.Changed):
		return []Seen{seen}, Keep, "its conversation went on"
	case now.Before(last.At):
		return []Seen{seen}, Wait, "the clock was set back"
	case now.Sub(last.At) < timeout/(sampleCount-1):
		return before, Wait, "idle since " + before[0].At.UTC().Format(time.RFC3339)
	}
	after = append(before, seen)
	if idle := now.Sub(after[0].At); len(after) >= sampleCount && idle >= timeout {
		return after, End, fmt.Sprintf("idle in %d looks over %s", len(after), idle.Round(time.Second))
	}
	return after, Wait, fmt.Sprintf("idle in %d looks", len(after))
}
