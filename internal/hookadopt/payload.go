package hookadopt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"agentwrap/internal/transcript"
)

// Bounds of a payload, in bytes. It holds a whole prompt or answer; what is
// wanted of it is small.
const (
	payloadLimit = 16 << 20
	drainLimit   = 256 << 20
	pathLimit    = 4096
	wordLimit    = 256
)

// payload is what one hook call says, as far as anyone here asks. It comes
// from outside: nothing in it is believed about processes, and what has not the
// shape it should have is not there.
type payload struct {
	event        string
	conversation string
	transcript   string
	source       string
	reason       string
	notification string
	// agent is the subagent that speaks, "" for the session's own agent.
	agent string
	// prompt is what the user typed, "" for another event.
	prompt string
	// again tells that the turn which ends was begun by a hook.
	again bool
}

// readPayload reads one JSON object. It does not wait for an end of file behind
// it, which not every version of every CLI gives. What could be read of an
// object that is cut off or too long comes back with the error.
func readPayload(r io.Reader) (payload, error) {
	var seen bytes.Buffer
	var raw json.RawMessage
	err := json.NewDecoder(io.TeeReader(io.LimitReader(r, payloadLimit), &seen)).Decode(&raw)
	if err != nil {
		err = fmt.Errorf("read the payload: %w", err)
		raw = seen.Bytes()
		// The CLI may still be writing: a pipe closed before it is done is its error.
		_, _ = io.CopyN(io.Discard, r, drainLimit)
	}
	return parsePayload(raw), err
}

func parsePayload(raw []byte) payload {
	fields := gjson.GetManyBytes(raw, "hook_event_name", "session_id", "conversation_id", "transcript_path", "source", "reason", "notification_type", "agent_id", "prompt", "stop_hook_active")
	text := func(i, limit int) string {
		if fields[i].Type != gjson.String || len(fields[i].Str) > limit {
			return ""
		}
		return fields[i].Str
	}
	p := payload{
		event:        text(0, wordLimit),
		conversation: text(1, wordLimit),
		transcript:   text(3, pathLimit),
		source:       text(4, wordLimit),
		reason:       text(5, wordLimit),
		notification: text(6, wordLimit),
		agent:        text(7, wordLimit),
		prompt:       text(8, payloadLimit),
		again:        fields[9].Type == gjson.True,
	}
	if id := text(2, wordLimit); id != "" {
		p.conversation = id
	}
	if !transcript.PlainID(p.conversation) {
		p.conversation = ""
	}
	if !filepath.IsAbs(p.transcript) || strings.ContainsRune(p.transcript, 0) {
		p.transcript = ""
	}
	return p
}
