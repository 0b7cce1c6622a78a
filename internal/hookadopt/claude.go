package hookadopt

import (
	"path/filepath"
	"strings"

	"agentwrap/internal/ledger"
	"agentwrap/internal/transcript"
)

// claude is Claude Code.
var claude = dialect{
	runtime:    "claude",
	names:      []string{"claude"},
	pidVar:     "CLAUDE_PID",
	idVar:      "CLAUDE_CODE_SESSION_ID",
	meaning:    claudeMeaning,
	transcript: claudeTranscript,
	answer:     hookSpecificOutput,
	goOn:       block,
}

func claudeMeaning(p payload) meaning {
	m := meaning{foreign: p.agent != "" && p.event != "SubagentStop" && p.event != "SubagentStart"}
	switch p.event {
	case "SessionStart":
		m.begins = true
	case "UserPromptSubmit":
		m.turn = ledger.TurnIts
	case "Stop":
		m.turn, m.stops = ledger.TurnYours, true
	case "Notification":
		switch p.notification {
		case "permission_prompt", "idle_prompt", "elicitation_dialog":
			m.turn = ledger.TurnYours
		}
	case "SessionEnd":
		m.end = claudeEnd(p.reason)
	}
	if m.foreign {
		m.turn = ""
	}
	return m
}

// claudeEnd puts the documented reasons into the ledger's prose. What is not
// documented, and resume, whose direction is not, goes through as it came;
// other states no reason. clear ends a conversation, not the session: the same
// process begins the next one.
func claudeEnd(reason string) *ledger.End {
	switch reason {
	case "clear":
		return nil
	case "prompt_input_exit":
		return &ledger.End{Reason: ledger.Ptr("exited at the prompt"), EndedBy: ledger.Ptr(ledger.EndedByUser)}
	case "logout":
		return &ledger.End{Reason: ledger.Ptr("logged out"), EndedBy: ledger.Ptr(ledger.EndedByUser)}
	case "bypass_permissions_disabled":
		return &ledger.End{Reason: ledger.Ptr("bypassing permissions was disabled")}
	case "", "other":
		return &ledger.End{LossWhereInteractive: reason == "other"}
	}
	return &ledger.End{Reason: ledger.Ptr(reason)}
}

// claudeTranscript is the file that the event names, if it is there and is that
// conversation's own; else the one found by the id. At the beginning there is
// none yet, and after a resume from elsewhere the event names one that never is.
func claudeTranscript(p payload, at place) (path string, own bool) {
	if isSubagents(p.transcript) {
		return "", false
	}
	path = p.transcript
	if filepath.Base(path) != p.conversation+".jsonl" || filepath.Base(filepath.Dir(filepath.Dir(path))) != "projects" || !isFile(path) {
		// A folder that cannot be read has no transcript to show either.
		path, _ = transcript.FindClaude(at.configHome, p.conversation, at.cwd)
	}
	return path, true
}

// isSubagents tells a subagent's transcript: by its place, and by its first
// line in versions that kept it elsewhere.
func isSubagents(path string) bool {
	if strings.Contains(path, "/subagents/") {
		return true
	}
	sidechain, err := transcript.IsSidechain(path)
	return err == nil && sidechain
}
