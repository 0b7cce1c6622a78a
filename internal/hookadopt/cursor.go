package hookadopt

import (
	"strings"

	"agentwrap/internal/ledger"
)

// cursor is Cursor's CLI, by its public documentation. The editor reads the same
// hooks file; its calls have no session of ours above them.
var cursor = dialect{
	runtime: "cursor-agent",
	names:   []string{"cursor-agent", "agent"},
	meaning: func(p payload) meaning {
		var m meaning
		switch p.event {
		case "sessionStart":
			m.begins = true
		case "beforeSubmitPrompt":
			m.turn = ledger.TurnIts
		case "stop":
			m.turn = ledger.TurnYours
		case "sessionEnd":
			m.end = verbatimEnd(p.reason)
		}
		return m
	},
	transcript: func(p payload, _ place) (string, bool) {
		if p.conversation != "" && strings.Contains(p.transcript, p.conversation) && isFile(p.transcript) {
			return p.transcript, true
		}
		return "", true
	},
	answer: func(event, said string) []byte {
		if event == "beforeSubmitPrompt" {
			return []byte(`{"continue":true}`)
		}
		if said == "" {
			return []byte("{}")
		}
		return encode(map[string]string{"additional_context": said})
	},
}
