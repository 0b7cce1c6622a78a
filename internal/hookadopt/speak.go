package hookadopt

import (
	"context"
	"encoding/json"
	"slices"

	"agentwrap/internal/ledger"
)

// Speaker has at most one sentence for the model at the beginning of a
// conversation.
type Speaker struct {
	// Key names what is said: each is said once a session.
	Key string
	// Say is the sentence for the session of a row, "" for none. It gives up
	// when ctx ends; what it says after that is lost.
	Say func(ctx context.Context, row *ledger.Entry) string
}

// speak asks each speaker that the row has not heard yet, in order, until a
// moment, and returns what they said with their keys. One that does not come
// back in time is not waited for, nor are those behind it.
func (h *hook) speak(row *ledger.Entry) (keys, said []string) {
	ctx, cancel := context.WithDeadline(context.Background(), h.began.Add(speakUntil))
	defer cancel()
	for _, s := range h.Speakers {
		if slices.Contains(row.Told, s.Key) {
			continue
		}
		answer := make(chan string, 1)
		go h.guard(func() error {
			var sentence string
			defer func() { answer <- sentence }()
			sentence = s.Say(ctx, row)
			return nil
		})
		select {
		case sentence := <-answer:
			if sentence != "" {
				keys, said = append(keys, s.Key), append(said, sentence)
			}
		case <-ctx.Done():
			return keys, said
		}
	}
	return keys, said
}

// hookSpecificOutput is how Claude Code, and those that follow it, take words
// for the model: "" prints nothing.
func hookSpecificOutput(event, said string) []byte {
	if said == "" {
		return nil
	}
	return encode(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": event, "additionalContext": said}})
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}
