package ledger

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Fact is what one event of a runtime's hook tells about its session
// (docs/hooks.md, "What an event means"). A field that the event says nothing
// of is left at its zero value.
type Fact struct {
	// At is when the event came; it is the row's heartbeat.
	At *Stamp `json:"at"`
	// Order is the event's place among the session's events (EventOrder).
	Order uint64 `json:"order"`
	// Process is the session's process, for a row that does not know it yet.
	Process *ProcessFact `json:"process,omitempty"`
	// Conversation is the one that the process carries now: its id and, where a
	// file of that id exists, its transcript.
	Conversation *Conversation `json:"conversation,omitempty"`
	// Begins tells that the process begins or takes up this conversation: a row
	// that was closed is open again.
	Begins bool `json:"begins,omitempty"`
	// Turn is whose turn it is from now on: TurnYours or TurnIts.
	Turn string `json:"turn,omitempty"`
	// Place is where the session works now.
	Place *Place `json:"place,omitempty"`
	// End tells that the session ended.
	End *End `json:"end,omitempty"`
	// Told are the keys of what the hook said to the model.
	Told []string `json:"told,omitempty"`
}

// ProcessFact is the identity of a session's process.
type ProcessFact struct {
	BootID     string `json:"bootId"`
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"pidStartTicks"`
}

// Place is a working directory and the repository around it; outside of one
// only the former.
type Place struct {
	CWD          *string `json:"cwd"`
	RepoRoot     *string `json:"repoRoot"`
	Project      *string `json:"project"`
	Branch       *string `json:"branch"`
	Worktree     *bool   `json:"worktree"`
	GitCommonDir *string `json:"gitCommonDir"`
}

// Put says in an entry where its session works.
func (p Place) Put(e *Entry) {
	e.CWD, e.RepoRoot, e.Project, e.Branch = p.CWD, p.RepoRoot, p.Project, p.Branch
	e.Worktree, e.GitCommonDir = p.Worktree, p.GitCommonDir
}

// End is how a session ended, by the word of its CLI. Reason is the contract's
// prose, nil for none; LossWhereInteractive stands for an end that none of the
// user's own ways out of a screen leads to.
type End struct {
	Reason               *string `json:"reason"`
	EndedBy              *string `json:"endedBy"`
	LossWhereInteractive bool    `json:"lossWhereInteractive,omitempty"`
}

// ReasonDismissed is the finishReason of a lost row that its user no longer
// wants: nothing that comes later replaces it.
const ReasonDismissed = "dismissed"

// Apply takes a fact into an entry. It tells whether something changed that
// must not be lost with the machine: a process, a conversation, an end.
func Apply(e *Entry, f Fact) (lasting bool) {
	lasting = applyProcess(e, f.Process)
	if reopens(e, f) {
		e.FinishedAt, e.FinishReason, e.EndedBy, lasting = nil, nil, nil, true
	}
	lasting = applyConversation(e, f) || lasting
	if f.Turn != "" && f.Order >= Value(e.TurnOrder) {
		// A prompt does not wait for the hooks of the turn before it. Who is
		// reminded that it is their turn has had it since the first word.
		if f.Turn != TurnYours || Value(e.Turn) != TurnYours {
			e.TurnAt = f.At
		}
		e.Turn, e.TurnOrder = Ptr(f.Turn), Ptr(f.Order)
	}
	if f.Place != nil {
		f.Place.Put(e)
	}
	lasting = applyEnd(e, f) || lasting
	if f.At != nil && (e.LastHeartbeat == nil || e.LastHeartbeat.Before(f.At.Time)) {
		e.LastHeartbeat = f.At
	}
	for _, key := range f.Told {
		if !slices.Contains(e.Told, key) {
			e.Told = append(e.Told, key)
		}
	}
	return lasting
}

// applyProcess names the process of a row that has none.
func applyProcess(e *Entry, p *ProcessFact) bool {
	if p == nil || e.PID != nil {
		return false
	}
	e.BootID, e.PID, e.PIDStartTicks = Ptr(p.BootID), Ptr(p.PID), Ptr(p.StartTicks)
	return true
}

// current tells whether a fact proves that its conversation is the one that the
// process carries now: it was begun, or the user spoke in it.
func (f Fact) current() bool { return f.Begins || f.Turn == TurnIts }

// reopens tells whether a closed row is open again. The beginning of a
// conversation is always later than the end that stands there; a prompt may
// only have waited for the lock longer than the end did.
func reopens(e *Entry, f Fact) bool {
	if e.FinishedAt == nil || Value(e.FinishReason) == ReasonDismissed {
		return false
	}
	return f.Begins || f.current() && f.At != nil && f.At.After(e.FinishedAt.Time)
}

// applyConversation binds a conversation. One that the process left before is
// taken up again only by proof that it is the current one: the last words of
// the old one may come after the first of the new one.
func applyConversation(e *Entry, f Fact) bool {
	c := f.Conversation
	if c == nil || c.ID == "" {
		return false
	}
	at := slices.IndexFunc(e.SessionIDs, func(k Conversation) bool { return k.ID == c.ID })
	if at >= 0 && (Value(e.SessionID) == c.ID || !f.current()) {
		return setTranscript(e, at, c.TranscriptPath)
	}
	carried := Conversation{ID: c.ID, Since: f.At}
	if at >= 0 {
		carried = e.SessionIDs[at]
		e.SessionIDs = slices.Delete(e.SessionIDs, at, at+1)
	} else if Value(e.SessionID) == c.ID {
		carried.TranscriptPath = e.TranscriptPath
	}
	e.SessionIDs = append(e.SessionIDs, carried)
	e.SessionID, e.TranscriptPath = Ptr(c.ID), carried.TranscriptPath
	setTranscript(e, len(e.SessionIDs)-1, c.TranscriptPath)
	return true
}

// setTranscript takes the newest report of where a conversation's transcript
// is; no report takes away what is known.
func setTranscript(e *Entry, at int, path *string) (changed bool) {
	c := &e.SessionIDs[at]
	if path == nil {
		return false
	}
	changed = Value(c.TranscriptPath) != *path
	c.TranscriptPath = path
	if c.ID == Value(e.SessionID) {
		changed = changed || Value(e.TranscriptPath) != *path
		e.TranscriptPath = path
	}
	return changed
}

// applyEnd closes a row. One that is closed already, by whoever saw the
// process go, gets the CLI's own reason, which is better.
func applyEnd(e *Entry, f Fact) bool {
	if f.End == nil || Value(e.FinishReason) == ReasonDismissed {
		return false
	}
	reason, by := Value(e.FinishReason), Value(e.EndedBy)
	wasOpen := e.FinishedAt == nil
	if wasOpen {
		e.FinishedAt = f.At
	}
	if wasOpen || f.End.Reason != nil {
		e.FinishReason = f.End.Reason
	}
	if f.End.LossWhereInteractive && Value(e.Interactive) {
		e.EndedBy = Ptr(EndedByLoss)
	} else if f.End.EndedBy != nil {
		e.EndedBy = f.End.EndedBy
	}
	return wasOpen || reason != Value(e.FinishReason) || by != Value(e.EndedBy)
}

// EventOrder is the place of an event that comes now among all events of a
// session: CLOCK_BOOTTIME in nanoseconds. No step of the wall clock moves it,
// and a session never outlives its boot.
func EventOrder() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return uint64(time.Now().UnixNano())
	}
	return uint64(now.Nano())
}
