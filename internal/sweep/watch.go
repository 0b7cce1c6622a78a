package sweep

import (
	"context"
	"time"
)

// Interval is how often sessions are looked after: the timer's period, and how
// old the last sweep may be before someone else starts one.
const Interval = time.Minute

// Watch sweeps at once and then every Interval until ctx ends, and hands each
// report on. A sweep that fails is reported and the next one is tried.
func (s *Sweeper) Watch(ctx context.Context, report func(Report, error)) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		r, err := s.Run(ctx)
		if ctx.Err() != nil {
			return
		}
		report(r, err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
