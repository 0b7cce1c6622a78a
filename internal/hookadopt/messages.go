package hookadopt

import "agentwrap/internal/ledger"

// Messages are those that wait for a session.
type Messages interface {
	// AtStop is the text that the session of a row goes on with at the end of its
	// turn, "" for none. again tells that this end follows one at which a hook had
	// it go on.
	AtStop(row *ledger.Entry, transcript string, again bool) (string, error)
	// Heard is told of a prompt that the session took, "" for the session's end:
	// what was handed over before may stand in the transcript by now.
	Heard(row *ledger.Entry, transcript, prompt string) error
}

// handOver takes the next message at the end of a turn. What fails costs nobody
// anything: the message goes on waiting.
func (h *hook) handOver(row *ledger.Entry) {
	if h.Messages == nil || !h.own {
		return
	}
	m := h.meaning(h.payload)
	h.guard(func() (err error) {
		switch {
		case m.stops && h.goOn != nil:
			h.next, err = h.Messages.AtStop(row, h.path, h.payload.again)
		case m.end != nil:
			err = h.Messages.Heard(row, h.path, "")
		case h.payload.prompt != "":
			err = h.Messages.Heard(row, h.path, h.payload.prompt)
		}
		return err
	})
}

// block is how Claude Code, and those that follow it, are told to go on.
func block(text string) []byte {
	return encode(map[string]string{"decision": "block", "reason": text})
}
