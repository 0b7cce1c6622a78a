package runstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"agentwrap/internal/jsonobject"
	"agentwrap/internal/statefile"
)

// Message is a follow-up that waits for a session, one line of messages.jsonl.
type Message struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	SessionID string `json:"session_id"`
	CreatedAt string `json:"created_at"`
}

// Queued is a message with how far its delivery has got. A message leaves the
// queue when it was delivered, dropped or popped.
type Queued struct {
	Message
	// OfferedAt is when it was handed to the session, "" for not yet; OfferedBy by
	// which way: WayStop or WayTyped.
	OfferedAt string `json:"offered_at,omitempty"`
	OfferedBy string `json:"offered_by,omitempty"`
	// Transcript is the conversation's file then, Size its length in bytes: what
	// stands behind that may show that the message arrived.
	Transcript string `json:"transcript,omitempty"`
	Size       int64  `json:"transcript_size,omitempty"`
	// Unconfirmed tells that nothing ever showed that it arrived. It is not sent
	// again by itself.
	Unconfirmed bool `json:"unconfirmed,omitempty"`

	others jsonobject.Others
}

// Ways in which a message is handed over.
const (
	WayStop  = "stop"
	WayTyped = "typed"
)

// TextLimit bounds a message's text, queueLimit a whole queue, in bytes.
const (
	TextLimit  = 1 << 20
	queueLimit = 64 << 20
)

const idPrefix = "msg_"

// Number is the number in a message's id, 0 for an id of another form.
func (m Message) Number() int {
	digits, ok := strings.CutPrefix(m.ID, idPrefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 {
		return 0
	}
	return n
}

func (s *FileStore) messagesPath(sessionID string) string { return s.path(sessionID, "messages.jsonl") }

// Queue is what waits for a session, in order, and what was offered and not
// confirmed.
func (s *FileStore) Queue(sessionID string) ([]Queued, error) {
	if err := validID(sessionID); err != nil {
		return nil, err
	}
	queue, _, err := s.readQueue(sessionID)
	return queue, err
}

// readQueue reads a queue; damaged are the lines that hold no message. A last
// line without an end was cut off by a crash and is none.
func (s *FileStore) readQueue(sessionID string) (queue []Queued, damaged []byte, err error) {
	raw, err := statefile.Read(s.messagesPath(sessionID), queueLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the messages of session %s: %w", sessionID, err)
	}
	for line := range bytes.Lines(raw) {
		var q Queued
		others, err := jsonobject.Decode(line, &q)
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case err != nil || q.ID == "":
			damaged = append(append(damaged, bytes.TrimSuffix(line, []byte("\n"))...), '\n')
		default:
			q.others = others
			queue = append(queue, q)
		}
	}
	return queue, damaged, nil
}

// UpdateQueue changes a session's queue while nobody else does. Lines that hold
// no message are kept in a file of their own. Where change fails nothing is
// changed and its error is returned.
func (s *FileStore) UpdateQueue(sessionID string, change func([]Queued) ([]Queued, error)) error {
	return s.locked(sessionID, func() error { return s.updateQueue(sessionID, change) })
}

func (s *FileStore) updateQueue(sessionID string, change func([]Queued) ([]Queued, error)) error {
	queue, damaged, err := s.readQueue(sessionID)
	if err != nil {
		return err
	}
	if len(damaged) > 0 {
		if err := statefile.Append(s.path(sessionID, "messages.damaged"), damaged); err != nil {
			return fmt.Errorf("set damaged messages of session %s aside: %w", sessionID, err)
		}
	}
	changed, err := change(slices.Clone(queue))
	if err != nil {
		return err
	}
	if len(damaged) == 0 && slices.EqualFunc(queue, changed, equal) {
		return nil
	}
	if err := s.writeQueue(sessionID, changed); err != nil {
		return fmt.Errorf("write the messages of session %s: %w", sessionID, err)
	}
	return nil
}

func equal(a, b Queued) bool {
	a.others, b.others = nil, nil
	return reflect.DeepEqual(a, b)
}

func (s *FileStore) writeQueue(sessionID string, queue []Queued) error {
	if len(queue) == 0 {
		return statefile.Remove(s.messagesPath(sessionID))
	}
	var raw []byte
	for _, q := range queue {
		line, err := jsonobject.Encode(q, q.others)
		if err != nil {
			return err
		}
		raw = append(append(raw, line...), '\n')
	}
	if len(raw) > queueLimit {
		return fmt.Errorf("%d bytes would wait, at most %d may", len(raw), queueLimit)
	}
	return statefile.Write(s.messagesPath(sessionID), raw, s.durability)
}

// AppendMessage puts a message behind those that wait. No two messages of a
// session ever have one id.
func (s *FileStore) AppendMessage(sessionID, text string) (Message, error) {
	if len(text) > TextLimit {
		return Message{}, fmt.Errorf("queue a message: it has %d bytes, at most %d are kept", len(text), TextLimit)
	}
	var m Message
	err := s.UpdateQueue(sessionID, func(queue []Queued) ([]Queued, error) {
		number, err := s.nextNumber(sessionID, queue)
		if err != nil {
			return nil, err
		}
		m = Message{ID: idPrefix + strconv.Itoa(number), Text: text, SessionID: sessionID, CreatedAt: s.stamp()}
		return append(queue, Queued{Message: m}), nil
	})
	return m, err
}

// nextNumber is a number that no message of the session had. It is written down
// as used before the message is, which is in the same folder and synced.
func (s *FileStore) nextNumber(sessionID string, queue []Queued) (int, error) {
	path := s.path(sessionID, ".messages-numbered")
	last := 0
	raw, err := statefile.Read(path, 64)
	if err == nil {
		last, err = strconv.Atoi(string(bytes.TrimSpace(raw)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("number a message: %s is damaged: write the number of the last message into it", path)
	}
	for _, q := range queue {
		last = max(last, q.Number())
	}
	return last + 1, statefile.Write(path, []byte(strconv.Itoa(last+1)+"\n"), statefile.Soon)
}

// PopMessages takes all messages out of the queue.
func (s *FileStore) PopMessages(sessionID string) ([]Message, error) {
	if queue, err := s.Queue(sessionID); err != nil || len(queue) == 0 {
		return []Message{}, err // and no folder is made for a session without any
	}
	popped := []Message{}
	err := s.UpdateQueue(sessionID, func(queue []Queued) ([]Queued, error) {
		popped = messagesOf(queue)
		return nil, nil
	})
	return popped, err
}

// ListMessages are the messages in the queue.
func (s *FileStore) ListMessages(sessionID string) ([]Message, error) {
	queue, err := s.Queue(sessionID)
	return messagesOf(queue), err
}

func messagesOf(queue []Queued) []Message {
	messages := make([]Message, len(queue))
	for i, q := range queue {
		messages[i] = q.Message
	}
	return messages
}

// ErrNoMessage is wrapped by the error for a message that is not in the queue
// (any more).
var ErrNoMessage = errors.New("has no message")

// DropMessage takes one message out of the queue, by its number or its id.
func (s *FileStore) DropMessage(sessionID, which string) (Message, error) {
	var dropped Message
	err := s.UpdateQueue(sessionID, func(queue []Queued) ([]Queued, error) {
		at := slices.IndexFunc(queue, func(q Queued) bool { return q.ID == which || q.ID == idPrefix+which })
		if at < 0 {
			return nil, fmt.Errorf("session %s: %w %.80q: 'agent-sessions messages' lists those that wait", sessionID, ErrNoMessage, which)
		}
		dropped = queue[at].Message
		return slices.Delete(queue, at, at+1), nil
	})
	return dropped, err
}
