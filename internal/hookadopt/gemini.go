package hookadopt

import (
	"path/filepath"
	"strings"

	"agentwrap/internal/ledger"
)

// gemini is Google's Gemini CLI. It wants JSON from every hook, and tells the end
// of a session up to three times.
var gemini = dialect{
	runtime: "gemini",
	names:   []string{"gemini"},
	idVar:   "GEMINI_SESSION_ID",
	meaning: func(p payload) meaning {
		m := meaning{foreign: p.agent != ""}
		switch p.event {
		case "SessionStart":
			m.begins = true
		case "BeforeAgent":
			m.turn = ledger.TurnIts
		case "AfterAgent":
			m.turn = ledger.TurnYours
		case "Notification":
			if p.notification == "ToolPermission" {
				m.turn = ledger.TurnYours
			}
		case "SessionEnd":
			if p.reason != "clear" {
				m.end = verbatimEnd(p.reason)
			}
		}
		return m
	},
	transcript: func(p payload, at place) (string, bool) {
		// A resume names a second, new file, which is not the conversation's.
		if p.source == "resume" || len(p.conversation) < 8 {
			return "", true
		}
		// session-<time>-<first 8 of the id>.jsonl
		name, short := filepath.Base(p.transcript), "-"+p.conversation[:8]
		if strings.HasPrefix(name, "session-") && (strings.HasSuffix(name, short+".jsonl") || strings.HasSuffix(name, short+".json")) && isFile(p.transcript) {
			return p.transcript, true
		}
		return at.find(p.conversation), true
	},
	answer: func(event, said string) []byte {
		if said == "" {
			return []byte("{}")
		}
		return hookSpecificOutput(event, said)
	},
}
