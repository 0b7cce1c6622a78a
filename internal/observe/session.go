package observe

import (
	"bytes"
	"encoding/json"
	"time"

	"agentwrap/internal/ledger"
)

// Session is an entry with all that is derived from it on every read.
type Session struct {
	Entry *ledger.Entry
	ledger.Classification
	// Whereabouts is which process it is, if any.
	Whereabouts ledger.Whereabouts
	// Title and Activity are "" where they are not known. They come from a
	// transcript and are not yet safe to print.
	Title, Activity string
	// DirtyCount is the number of uncommitted files; null for a finished one,
	// where there is no repository, and where counting took too long (DirtySlow).
	DirtyCount *int
	DirtySlow  bool
	// SharedWith are the other sessions that run in the same working tree, but
	// for those that it launched or was launched by.
	SharedWith []string
	// TranscriptExpiresAt is when the CLI itself will delete the transcript, nil
	// where it is not known to.
	TranscriptExpiresAt *time.Time
	// Memory in bytes and CPUTicks of all of its processes; null when not asked
	// for.
	Memory   *int64
	CPUTicks *uint64

	facts ledger.Facts
	// folded are the programs behind its process, whose ticks count as its own.
	folded []int
	// ticks are the ticks of all of them; they count where read is set.
	ticks uint64
	read  bool
}

// derived is what a session has in JSON beside its entry (docs/ledger.md,
// "What is derived").
type derived struct {
	State               ledger.State  `json:"state"`
	Evidence            string        `json:"evidence"`
	ProcessKey          *string       `json:"processKey"`
	Title               *string       `json:"title"`
	Activity            *string       `json:"activity"`
	Attached            *bool         `json:"attached"`
	DirtyCount          *int          `json:"dirtyCount"`
	Lost                bool          `json:"lost"`
	SharedWith          []string      `json:"sharedWith"`
	TranscriptExpiresAt *ledger.Stamp `json:"transcriptExpiresAt"`
	MemoryBytes         *int64        `json:"memoryBytes"`
	CPUSeconds          *float64      `json:"cpuSeconds"`
}

// MarshalJSON is the entry with what is derived behind its own fields. Where
// both have a field (lastActiveAt, turn, resumedBy), it is the derived one.
func (s *Session) MarshalJSON() ([]byte, error) {
	e := *s.Entry
	e.LastActiveAt, e.Turn, e.ResumedBy = s.LastActiveAt, s.Turn, ledger.Known(s.ResumedBy())
	entry, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	d := derived{
		State: s.State, Evidence: s.Evidence, ProcessKey: s.ProcessKey, Title: ledger.Known(s.Title), Activity: ledger.Known(s.Activity),
		Attached: s.Attached, DirtyCount: s.DirtyCount, Lost: s.Lost, SharedWith: s.SharedWith, MemoryBytes: s.Memory,
	}
	if d.SharedWith == nil {
		d.SharedWith = []string{}
	}
	if s.TranscriptExpiresAt != nil {
		d.TranscriptExpiresAt = ledger.At(*s.TranscriptExpiresAt)
	}
	if s.CPUTicks != nil {
		d.CPUSeconds = ledger.Ptr(float64(*s.CPUTicks) / ticksPerSecond)
	}
	var rest bytes.Buffer
	enc := json.NewEncoder(&rest)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	entry = bytes.TrimRight(entry, "}\n ")
	return append(append(entry, ','), rest.Bytes()[1:]...), nil
}

// ResumedBy is the session that took this one's conversation up, "" for none.
func (s *Session) ResumedBy() string { return s.facts.ResumedBy }
