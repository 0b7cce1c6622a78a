package ledger

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"

	"agentwrap/internal/statefile"
)

// A record made for a process that runs already (by a hook or the sweep) has
// digits that follow from the process itself. Two that enrol one process at
// the same time therefore meet on one name, and whoever looks for a process's
// row finds it by name, without a lock, an index or reading the whole ledger.

// sameDigits is how many processes whose digits agree within one second get
// rows of their own.
const sameDigits = 4

// processDigits are the digits for the nth process that they fall to.
func processDigits(p ProcessFact, n int) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s:%d:%d:%d", p.BootID, p.PID, p.StartTicks, n)
	return fmt.Sprintf("%0*d", digitsLen, h.Sum64()%1_000_000)
}

// IsProcess tells whether a row is that very process's.
func (e *Entry) IsProcess(p ProcessFact) bool {
	return e.PID != nil && *e.PID == p.PID && e.PIDStartTicks != nil && *e.PIDStartTicks == p.StartTicks && e.BootID != nil && *e.BootID == p.BootID
}

// Process is the identity of a row's process, false where it has none yet.
func (e *Entry) Process() (ProcessFact, bool) {
	return ProcessFact{Value(e.BootID), Value(e.PID), Value(e.PIDStartTicks)}, e.BootID != nil && e.PID != nil && e.PIDStartTicks != nil
}

// Enrol writes the record of a running process, which e must name by bootId,
// pid and pidStartTicks, and puts its id into e. Where the process has a row
// that Enrol made before, that row is returned and created is false.
func (s *Store) Enrol(e *Entry, d statefile.Durability) (row *Entry, created bool, err error) {
	p, ok := e.Process()
	if !ok {
		return nil, false, errors.New("enrol a session: its process is not known")
	}
	if row, err = s.Enrolled(p); !errors.Is(err, ErrNoSession) {
		return row, false, err
	}
	e.SchemaVersion = SchemaVersion
	for n := range sameDigits {
		e.LedgerID = idOf(e.Runtime, Value(e.StartedAt).Time, processDigits(p, n))
		if err = s.create(e, d); !errors.Is(err, fs.ErrExist) {
			return e, err == nil, wrap("enrol session", e.LedgerID, err)
		}
		if row, err = s.Read(e.LedgerID); err == nil && row.IsProcess(p) {
			return row, false, nil
		}
	}
	return nil, false, fmt.Errorf("enrol a session of process %d: no free id", p.PID)
}

// Enrolled is the row that Enrol made for a process. The error is ErrNoSession
// where there is none; where it may be one that cannot be read, it is that
// one's. A row that a launch made is found by the id in the process's
// environment instead.
func (s *Store) Enrolled(p ProcessFact) (*Entry, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	var digits []string
	for n := range sameDigits {
		digits = append(digits, processDigits(p, n))
	}
	none := fmt.Errorf("process %d: %w", p.PID, ErrNoSession)
	for _, id := range ids {
		if len(id) <= digitsLen || !slices.Contains(digits, id[len(id)-digitsLen:]) {
			continue
		}
		e, err := s.Read(id)
		if err == nil && e.IsProcess(p) {
			return e, nil
		}
		if err != nil && !errors.Is(err, ErrNoSession) {
			none = err
		}
	}
	return nil, none
}
