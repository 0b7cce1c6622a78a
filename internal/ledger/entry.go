// Package ledger is the durable index of every session on this machine: the
// entry, its store on disk, and what can be told from an entry alone. Both
// programs and every reader go through it. The on-disk contract is
// docs/ledger.md.
package ledger

import "encoding/json"

// SchemaVersion is the version of the entry this code writes. Fields are only
// ever added to it.
const SchemaVersion = 1

// Entry is one session (docs/ledger.md, "The entry"). A nil pointer is null:
// not known, which is never the same as empty. Fields are written in this
// order, every one of them, by both programs.
type Entry struct {
	SchemaVersion  int     `json:"schemaVersion"`
	LedgerID       string  `json:"ledgerId"`
	Runtime        string  `json:"runtime"`
	StartedAt      *Stamp  `json:"startedAt"`
	Host           *string `json:"host"`
	BootID         *string `json:"bootId"`
	CWD            *string `json:"cwd"`
	RepoRoot       *string `json:"repoRoot"`
	Project        *string `json:"project"`
	Branch         *string `json:"branch"`
	Worktree       *bool   `json:"worktree"`
	TTY            *string `json:"tty"`
	LauncherPID    *int    `json:"launcherPid"`
	ParentLedgerID *string `json:"parentLedgerId"`
	Parent         *string `json:"parent"`
	LaunchedBy     *string `json:"launchedBy"`
	Account        *string `json:"account"`
	EnrolledBy     string  `json:"enrolledBy"`
	Mux            Mux     `json:"mux"`
	TmuxSession    *string `json:"tmuxSession"`
	TmuxSocket     *string `json:"tmuxSocket"`
	PID            *int    `json:"pid"`
	PIDStartTicks  *uint64 `json:"pidStartTicks"`
	CPUTicks       *uint64 `json:"cpuTicks"`
	SessionID      *string `json:"sessionId"`
	TranscriptPath *string `json:"transcriptPath"`
	LastActiveAt   *Stamp  `json:"lastActiveAt"`
	LastHeartbeat  *Stamp  `json:"lastHeartbeatAt"`
	FinishedAt     *Stamp  `json:"finishedAt"`
	FinishReason   *string `json:"finishReason"`

	RescuedAt    *Stamp   `json:"rescuedAt"`
	RescueRef    *string  `json:"rescueRef"`
	RescueCommit *string  `json:"rescueCommit"`
	RescuedPaths []string `json:"rescuedPaths"`

	RescueSkipped []SkippedPath  `json:"rescueSkipped"`
	Interactive   *bool          `json:"interactive"`
	HostSocket    *string        `json:"hostSocket"`
	ClientTTY     *string        `json:"clientTty"`
	ExitStatus    *ExitStatus    `json:"exitStatus"`
	EndedBy       *string        `json:"endedBy"`
	Turn          *string        `json:"turn"`
	TurnAt        *Stamp         `json:"turnAt"`
	SessionIDs    []Conversation `json:"sessionIds"`
	ResumedFrom   *string        `json:"resumedFrom"`
	Scratch       *string        `json:"scratch"`
	ConfigHome    *string        `json:"configHome"`
	Flags         []string       `json:"flags"`
	// ResumedBy is the session that went on with this one; ResumeClaim is the
	// processKey of the process that is about to start it.
	ResumedBy   *string `json:"resumedBy"`
	ResumeClaim *string `json:"resumeClaim"`
	// Program is the real CLI that the shim found, as PATH named it.
	Program *string `json:"program"`
	// GitCommonDir is the git folder that all worktrees of the repository
	// share: a lost worktree is added to it again.
	GitCommonDir *string `json:"gitCommonDir"`
	// MachineID tells machines apart that share the ledger's folder.
	MachineID *string `json:"machineId"`

	// TurnOrder is the Order of the fact that turn came from: two events of one
	// second are told apart by it.
	TurnOrder *uint64 `json:"turnOrder"`
	// Told are the keys of what the hook has said to the model, each once a
	// session.
	Told []string `json:"told"`
	// TakenFacts are the names of the fact files that the last write took in:
	// one that is still there was not deleted in time and is not taken in again.
	TakenFacts []string `json:"takenFacts"`

	// unknown are the fields this version does not know, in the order they
	// stood in; they are written back as they came.
	unknown []unknownField
}

// Values of enrolledBy, launchedBy, endedBy, turn and mux.kind.
const (
	EnrolledByShim      = "shim"
	EnrolledByHook      = "hook"
	EnrolledByDiscovery = "discovery"

	LaunchedByUser    = "user"
	LaunchedByFactory = "factory"
	LaunchedByAgent   = "agent"

	EndedByUser = "user"
	EndedByLoss = "loss"

	TurnYours = "yours"
	TurnIts   = "its"

	MuxTmux  = "tmux"
	MuxDtach = "dtach"
)

// Mux is the multiplexer a session sits in; all null for none, which is normal.
type Mux struct {
	Kind   *string `json:"kind"`
	Socket *string `json:"socket"`
	Target *string `json:"target"`
}

// ExitStatus is what the holder's own wait saw: an exit code, or the number of
// the signal that ended the process.
type ExitStatus struct {
	Code   *int `json:"code"`
	Signal *int `json:"signal"`
}

// Conversation is one conversation that a session's process carried.
type Conversation struct {
	ID             string  `json:"id"`
	TranscriptPath *string `json:"transcriptPath"`
	Since          *Stamp  `json:"since"`
}

// SkippedPath is a path that a rescue could not save, and why.
type SkippedPath struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// unknownField keeps a field of a later version as it stood.
type unknownField struct {
	name  string
	value json.RawMessage
}

// Ptr makes a field's value out of one that is known.
func Ptr[T any](v T) *T { return &v }

// Known makes a field's value out of a string that is empty when not known.
func Known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Value is a field's value, or the zero value where it is null.
func Value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
