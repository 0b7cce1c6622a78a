package ledger

import (
	"errors"
	"os"
	"testing"
)

func TestTheLastSweepIsRemembered(t *testing.T) {
	s := newStore(t)
	if last, err := s.LastSweep(); err != nil || !last.CompletedAt.IsZero() {
		t.Errorf("before the first: %+v, %v", last, err)
	}
	want := LastSweep{CompletedAt: now, RescuedSince: now.Add(-1)}
	if err := s.NoteSweep(want); err != nil {
		t.Fatal(err)
	}
	if last, err := s.LastSweep(); err != nil || !last.CompletedAt.Equal(want.CompletedAt) || !last.RescuedSince.Equal(want.RescuedSince) {
		t.Errorf("%+v, %v, want %+v", last, err, want)
	}
	if err := os.WriteFile(s.sweepPath(), []byte(`{"completed`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LastSweep(); !errors.Is(err, ErrDamaged) {
		t.Errorf("torn: %v", err)
	}
}
