package observe

import (
	"context"
	"time"

	"agentwrap/internal/ledger"
)

// earlierReading compares a session's cpu ticks with those that the last sweep
// wrote down, where these are old enough.
func (v *View) earlierReading(s *Session) ledger.CPUFacts {
	age := s.facts.Now.Sub(v.LastSweep.CompletedAt)
	if !s.read || s.Entry.CPUTicks == nil || v.LastSweep.CompletedAt.IsZero() || age < ledger.CPUSample {
		return ledger.CPUFacts{}
	}
	return ledger.CPUFacts{Compared: true, Grew: s.ticks > *s.Entry.CPUTicks}
}

// Undecided are the sessions that a second reading of the cpu could show in
// another state.
func (v *View) Undecided() []*Session {
	var some []*Session
	for _, s := range v.Sessions {
		if s.read && ledger.SampleHelps(s.Entry, s.facts) {
			some = append(some, s)
		}
	}
	return some
}

// Sample takes that second reading for all of them at once, after
// ledger.CPUSample, and returns those whose state changed. Where it cannot
// change anything it returns at once.
func (v *View) Sample(ctx context.Context) (changed []*Session, err error) {
	some := v.Undecided()
	if len(some) == 0 {
		return nil, nil
	}
	timer := time.NewTimer(ledger.CPUSample)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	for _, s := range some {
		now, ok := s.usedTicks()
		if !ok {
			continue
		}
		before := s.State
		s.facts.CPU = ledger.CPUFacts{Compared: true, Grew: now > s.ticks}
		s.Classification = ledger.Classify(s.Entry, s.facts)
		if s.State != before {
			changed = append(changed, s)
		}
	}
	return changed, nil
}
