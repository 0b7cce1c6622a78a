package hookadopt

import "agentwrap/internal/ledger"

// opencode is opencode, by its plugin (internal/opencodeplugin), whose words
// these are. It tells of no end, and all its sessions share one store, which is
// no session's transcript.
var opencode = dialect{
	runtime: "opencode",
	names:   []string{"opencode"},
	pidVar:  "OPENCODE_PID",
	meaning: func(p payload) meaning {
		var m meaning
		switch p.event {
		case "created":
			m.begins = true
		case "prompt":
			m.turn = ledger.TurnIts
		case "idle", "asked":
			m.turn = ledger.TurnYours
		}
		return m
	},
	transcript: func(payload, place) (string, bool) { return "", true },
	answer:     func(event, said string) []byte { return nil },
}
