package ledger

import "time"

// The thresholds of the contract (docs/ledger.md, "Liveness"); nobody else
// holds a copy.
const (
	// CPUSample is the time between two readings of a process's cpu ticks that
	// tell whether it computes.
	CPUSample = 1200 * time.Millisecond
	// IdleAfter is how long a session without progress still counts as working.
	IdleAfter = 10 * time.Minute
	// FinishedRetention is how long a finished entry is kept.
	FinishedRetention = 30 * 24 * time.Hour
	// ClockSlack is how far a time may lie in the future and still be believed:
	// file systems and whole seconds round.
	ClockSlack = 2 * time.Second
)

// State is what a session is, on evidence alone (docs/ledger.md, "Liveness").
type State string

const (
	// AliveWorking has a process and made progress not long ago.
	AliveWorking State = "ALIVE-WORKING"
	// AliveIdle has a process without progress for IdleAfter.
	AliveIdle State = "ALIVE-IDLE"
	// DetachedAlive has a process and a host, and no terminal on it.
	DetachedAlive State = "DETACHED-ALIVE"
	// Orphaned lost its process without having ended: work may be lost.
	Orphaned State = "ORPHANED"
	// Finished has ended.
	Finished State = "FINISHED"
	// Unknown is no state: none is proved. It is null in JSON, with its reason
	// in the evidence.
	Unknown State = "UNKNOWN"
)

// MarshalJSON writes the state, and null where none is proved.
func (s State) MarshalJSON() ([]byte, error) {
	if s == Unknown || s == "" {
		return []byte("null"), nil
	}
	return []byte(`"` + string(s) + `"`), nil
}

// Alive tells whether the state says that a process runs.
func (s State) Alive() bool { return s == AliveWorking || s == AliveIdle || s == DetachedAlive }
