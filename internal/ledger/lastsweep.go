package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"agentwrap/internal/statefile"
)

// LastSweep is what sweep.json holds of the last sweep.
type LastSweep struct {
	// BegunAt is when the last one began, whether it ended or not.
	BegunAt time.Time `json:"begunAt"`
	// CompletedAt is when one last came to its end: the entries' cpuTicks are of then.
	CompletedAt time.Time `json:"completedAt"`
	// RescuedSince is up to when closed entries have been rescued where they had
	// to be: earlier than the end where a rescue failed.
	RescuedSince time.Time `json:"rescuedSince"`
}

func (s *Store) sweepPath() string { return filepath.Join(s.root, "sweep.json") }

// LastSweep reads sweep.json. It is zero where there was no sweep yet; a file
// that cannot be understood is an error that wraps ErrDamaged.
func (s *Store) LastSweep() (LastSweep, error) {
	var last LastSweep
	raw, err := statefile.Read(s.sweepPath(), 4096)
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err != nil {
		return last, fmt.Errorf("read the last sweep: %w", err)
	}
	if err := json.Unmarshal(raw, &last); err != nil {
		return LastSweep{}, fmt.Errorf("read the last sweep %s: %w: %w", s.sweepPath(), ErrDamaged, err)
	}
	return last, nil
}

// NoteSweep writes sweep.json.
func (s *Store) NoteSweep(last LastSweep) error {
	raw, err := json.Marshal(last)
	if err != nil {
		return fmt.Errorf("note the sweep: %w", err)
	}
	if err := s.makeDirs(); err != nil {
		return fmt.Errorf("note the sweep: %w", err)
	}
	return statefile.Write(s.sweepPath(), append(raw, '\n'), statefile.Soon)
}

// SetSweepAside moves a torn sweep.json out of the way and returns where to.
func (s *Store) SetSweepAside(now time.Time) (string, error) {
	return statefile.SetAside(s.sweepPath(), s.DamagedDir(), now)
}
