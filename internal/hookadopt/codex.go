package hookadopt

import (
	"path/filepath"
	"strings"

	"agentwrap/internal/ledger"
)

// codex is OpenAI's Codex CLI. Its SessionStart comes with the first prompt; its
// SessionEnd comes only when the user leaves.
var codex = dialect{
	runtime: "codex",
	names:   []string{"codex"},
	meaning: func(p payload) meaning {
		m := meaning{foreign: p.agent != ""}
		switch p.event {
		case "SessionStart":
			m.begins = true
		case "UserPromptSubmit":
			m.turn = ledger.TurnIts
		case "Stop":
			m.turn, m.stops = ledger.TurnYours, true
		case "Interrupt", "PermissionRequest":
			m.turn = ledger.TurnYours
		case "SessionEnd":
			m.end = verbatimEnd(p.reason)
			m.end.EndedBy = ledger.Ptr(ledger.EndedByUser)
		}
		return m
	},
	transcript: func(p payload, at place) (string, bool) {
		// rollout-<time>-<id>.jsonl
		if strings.HasSuffix(p.transcript, "-"+p.conversation+".jsonl") && strings.HasPrefix(filepath.Base(p.transcript), "rollout-") && isFile(p.transcript) {
			return p.transcript, true
		}
		return at.find(p.conversation), true
	},
	answer: hookSpecificOutput,
	goOn:   block,
}

// verbatimEnd passes a reason through as it came. other and none state none.
func verbatimEnd(reason string) *ledger.End {
	if reason == "other" {
		reason = ""
	}
	return &ledger.End{Reason: ledger.Known(reason)}
}
