// Package reopen gets people back into their sessions: a pure decision for each
// (join it where it lives, resume its conversation where it died, or say why
// not and what to do), and the hands that carry it out. There is one door in:
// whatever starts anew goes through the shim and its record.
package reopen

import (
	"fmt"

	"agentwrap/internal/ledger"
)

// Action is what gets a person back into a session.
type Action int

const (
	// Refuse leaves everything as it is; Plan says why and what to do.
	Refuse Action = iota
	// Join attaches to the session's host.
	Join
	// JoinOwn goes to the session in the user's own multiplexer.
	JoinOwn
	// Resume starts the runtime again on the session's conversation.
	Resume
	// Fresh offers a new session in the same folder: there is no conversation
	// to go on with.
	Fresh
)

// Folder is what is known of the folder a session was born in.
type Folder int

const (
	FolderThere Folder = iota
	FolderGone
	// FolderUnusable is there but cannot be entered.
	FolderUnusable
	// FolderUnknown was never recorded.
	FolderUnknown
)

// Facts are all that the decision depends on.
type Facts struct {
	Entry *ledger.Entry
	Class ledger.Classification
	// HostAnswers tells that the session's host can be reached.
	HostAnswers bool
	// Inside tells that the asking terminal is this very session.
	Inside bool
	// LiveConversation is another session that runs and carries the same
	// conversation, "" for none.
	LiveConversation string
	// ResumedBy is a session that already went on with this one, "" for none.
	ResumedBy string
	// Claimed tells that someone else is resuming this session right now.
	Claimed bool
	Folder  Folder
	// CanResume tells that the runtime resumes a conversation by its id.
	CanResume bool
	// HasShim tells that the runtime's shim is installed.
	HasShim bool
}

// Plan is a decision with its reason.
type Plan struct {
	Action Action
	// Why is the reason of a refusal, Next what to do about it; both in plain
	// words.
	Why, Next string
	// Recreate tells that the refusal is for the folder alone, which can be
	// made again.
	Recreate bool
}

// Decide tells how to get back into a session.
func Decide(f Facts) Plan {
	switch state := f.Class.State; {
	case state.Alive():
		return decideAlive(f)
	case state == ledger.Orphaned || state == ledger.Finished:
		return decideDead(f)
	}
	return refuse("it cannot be told whether it still runs: "+f.Class.Evidence, "look again with: agent-sessions show %s", f.Entry.LedgerID)
}

func decideAlive(f Facts) Plan {
	e := f.Entry
	own := e.HostSocket == nil && e.Mux.Kind != nil && e.Mux.Socket != nil
	switch {
	case f.Inside:
		return refuse("this terminal is inside that very session", "")
	case f.HostAnswers:
		return Plan{Action: Join}
	case own:
		return Plan{Action: JoinOwn}
	}
	return refuse("it runs "+whereItRuns(f)+" and cannot be joined from here",
		"go there, or end it with: agent-sessions stop %[1]s; then: agent-sessions attach %[1]s", e.LedgerID)
}

// whereItRuns names the terminal and the process of a session that has no host.
func whereItRuns(f Facts) string {
	where := "without a terminal"
	if tty := ledger.Value(f.Entry.TTY); tty != "" {
		where = "on " + tty
	}
	return fmt.Sprintf("%s (pid %d)", where, f.Class.Process.PID)
}

func decideDead(f Facts) Plan {
	e := f.Entry
	switch {
	case f.LiveConversation != "":
		return refuse("its conversation is open in another session", "join that one: agent-sessions attach %s", f.LiveConversation)
	case f.ResumedBy != "":
		return refuse("it was resumed already", "go on with that one: agent-sessions attach %s", f.ResumedBy)
	case f.Claimed:
		return refuse("it is being resumed right now", "look with: agent-sessions list")
	case f.Folder == FolderGone:
		plan := refuse("its folder "+ledger.Value(e.CWD)+" is gone", "make it again and go on with: agent-sessions attach %s --recreate", e.LedgerID)
		plan.Recreate = true
		return plan
	case f.Folder == FolderUnusable:
		return refuse("its folder "+ledger.Value(e.CWD)+" cannot be entered", "see to its permissions, then try again")
	case f.Folder == FolderUnknown:
		return refuse("the folder it ran in is not known", "start anew where it belongs: %s", e.Runtime)
	case !f.HasShim:
		return refuse("no shim for "+e.Runtime+" is installed", "run install.sh again, or see: agent-sessions doctor")
	case e.SessionID == nil:
		return Plan{Action: Fresh, Why: "no conversation of it is known"}
	case !f.CanResume:
		return Plan{Action: Fresh, Why: e.Runtime + " cannot go on with a conversation by its id"}
	}
	return Plan{Action: Resume}
}

func refuse(why, next string, args ...any) Plan {
	if len(args) > 0 {
		next = fmt.Sprintf(next, args...)
	}
	return Plan{Action: Refuse, Why: why, Next: next}
}
