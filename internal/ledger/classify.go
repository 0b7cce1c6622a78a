package ledger

import (
	"fmt"
	"strings"
	"time"

	"agentwrap/internal/process"
)

// Facts are everything that a session's classification depends on.
type Facts struct {
	Now     time.Time
	Process Whereabouts
	// Transcript is the conversation's file, nil where none is there.
	Transcript *TranscriptFacts
	CPU        CPUFacts
	Host       HostFacts
	// TTYExists tells whether the terminal of a session without a host is
	// there. It is shown, never decided by: terminals' numbers are reused.
	TTYExists bool
	// ResumedBy is the session that took this one's conversation up, "" for none.
	ResumedBy string
	// Interrupted is when the user broke the current turn off, as the
	// transcript's end tells; zero where it does not.
	Interrupted time.Time
}

// TranscriptFacts are a transcript's size in bytes and modification time.
type TranscriptFacts struct {
	Size    int64
	ModTime time.Time
}

// CPUFacts compare two readings of the process's cpu ticks that lie at least
// CPUSample apart.
type CPUFacts struct {
	Compared bool
	Grew     bool
}

// HostFacts are what the session's host answered.
type HostFacts struct {
	// Socket tells that the host's socket is there.
	Socket bool
	// Clients are the terminals on it; they count where Answered.
	Clients  int
	Answered bool
}

// Classification is what a session is now, derived on every read and never
// stored.
type Classification struct {
	State State `json:"state"`
	// Evidence is what the state rests on, in words.
	Evidence string `json:"evidence"`
	// ProcessKey is bootId:pid:pidStartTicks of a running process, else null.
	ProcessKey *string `json:"processKey"`
	// Process is the same, to be worked with.
	Process process.Identity `json:"-"`
	// Attached tells whether a terminal is on the session; null where that
	// cannot be told.
	Attached     *bool  `json:"attached"`
	LastActiveAt *Stamp `json:"lastActiveAt"`
	// Turn is whose turn it is in a session that runs, else null.
	Turn *string `json:"turn"`
	// Lost tells that the session ended against its user's will and nobody has
	// resumed it.
	Lost bool `json:"lost"`
}

// Classify tells what a session is. It is the only code that decides a state.
func Classify(e *Entry, f Facts) Classification {
	c := Classification{LastActiveAt: lastActive(e, f)}
	c.State, c.Evidence = state(e, f)
	if c.State.Alive() {
		c.Process = f.Process.Process
		c.ProcessKey = Ptr(c.Process.Key())
		c.Attached, c.Turn = attached(e, f), turn(e, f)
	}
	c.Lost = f.ResumedBy == "" && (c.State == Orphaned || c.State == Finished && lostInTerminal(e))
	return c
}

// lostInTerminal: a run without a terminal that failed is told of by its exit
// code to whoever started it.
func lostInTerminal(e *Entry) bool {
	return Value(e.Interactive) && Value(e.EndedBy) == EndedByLoss
}

func state(e *Entry, f Facts) (State, string) {
	if e.FinishedAt != nil {
		return Finished, finishedBecause(e)
	}
	switch f.Process.Presence {
	case Unproved:
		return Unknown, f.Process.Why
	case Gone:
		return Orphaned, join(f.Process.Why+", the end was not recorded", exitSeen(e), f.neverSpoke(e))
	}
	worked, why := progress(e, f)
	why = f.Process.Why + "; " + why
	switch {
	case f.detached():
		return DetachedAlive, why + "; no terminal is attached"
	case worked:
		return AliveWorking, why + f.unanswered(e)
	}
	return AliveIdle, why + f.unanswered(e)
}

func (f Facts) detached() bool { return f.Host.Socket && f.Host.Answered && f.Host.Clients == 0 }

func (f Facts) unanswered(e *Entry) string {
	if !hosted(e) || f.Host.Socket && f.Host.Answered {
		return ""
	}
	if !f.Host.Socket {
		return "; its host's socket is gone"
	}
	return "; its host does not answer"
}

func (f Facts) neverSpoke(e *Entry) string {
	if f.Transcript == nil && e.TranscriptPath == nil && e.SessionID == nil {
		return "started, no transcript"
	}
	return ""
}

// hosted tells whether the entry names a place to attach to.
func hosted(e *Entry) bool { return e.HostSocket != nil || e.Mux.Kind != nil }

func attached(e *Entry, f Facts) *bool {
	switch {
	case f.Host.Socket && f.Host.Answered:
		return Ptr(f.Host.Clients > 0)
	case hosted(e):
		return nil
	case e.TTY == nil:
		return Ptr(false)
	}
	return Ptr(f.TTYExists)
}

// turn is whose turn it is, as the hooks told; a turn that the user broke off
// since (no hook tells of that) is theirs again.
func turn(e *Entry, f Facts) *string {
	if Value(e.Turn) == TurnIts && e.TurnAt != nil && !f.Interrupted.IsZero() && !f.Interrupted.Before(e.TurnAt.Time) {
		return Ptr(TurnYours)
	}
	return e.Turn
}

func finishedBecause(e *Entry) string {
	if e.FinishReason != nil {
		return join("ended: "+*e.FinishReason, exitSeen(e))
	}
	return join("ended", exitSeen(e))
}

func exitSeen(e *Entry) string {
	switch {
	case e.ExitStatus == nil:
		return ""
	case e.ExitStatus.Signal != nil:
		return fmt.Sprintf("killed by signal %d", *e.ExitStatus.Signal)
	case e.ExitStatus.Code != nil:
		return fmt.Sprintf("exit status %d", *e.ExitStatus.Code)
	}
	return ""
}

func join(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "; ")
}

// ago is a length of time in its largest unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d/time.Second)))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d/time.Hour))
	}
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}
