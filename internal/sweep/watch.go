package sweep

import (
	"context"
	"time"

	"agentwrap/internal/lookafter"
)

// Watch sweeps at once and then every lookafter.Interval until ctx ends, and hands each
// report on. A sweep that fails is reported and the next one is tried.
func (s *Sweeper) Watch(ctx context.Context, report func(Report, error)) {
	ticker := time.NewTicker(lookafter.Interval)
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
