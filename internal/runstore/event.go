package runstore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
)

// Event is one line of a session's event log, events.jsonl (docs/runstore.md,
// "Events"). Timestamp is RFC 3339.
type Event struct {
	ID        string          `json:"id,omitempty"`
	Type      string          `json:"type"`
	Role      string          `json:"role,omitempty"`
	Phase     string          `json:"phase,omitempty"`
	Timestamp string          `json:"timestamp,omitempty"`
	Text      string          `json:"text,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	ToolInput json.RawMessage `json:"tool_input,omitempty"`
	Output    string          `json:"output,omitempty"`
	Stderr    string          `json:"stderr,omitempty"`
	ExitCode  *int            `json:"exit_code,omitempty"`
}

// Types of events: the contract's, then those of this project.
const (
	EventThink      = "think"
	EventToolCall   = "tool_call"
	EventMessage    = "message"
	EventError      = "error"
	EventDone       = "done"
	EventStepStart  = "step_start"
	EventStepFinish = "step_finish"
	EventSleep      = "sleep"

	EventBirth        = "birth"
	EventAdopted      = "adopted"
	EventState        = "state"
	EventConversation = "conversation"
	EventRescue       = "rescue"
	EventQueue        = "queue"
	EventIdle         = "idle"
	EventEnd          = "end"
)

// lineLimit bounds a line of the log, in bytes: a longer one is passed over.
const lineLimit = 16 << 20

func (s *FileStore) eventsPath(sessionID string) string { return s.path(sessionID, "events.jsonl") }

// AppendEvent adds an event, with the time where it has none. A line that a
// crash cut off before it stays what it is, no event, and takes nothing with it.
func (s *FileStore) AppendEvent(sessionID string, ev Event) error {
	if ev.Timestamp == "" {
		ev.Timestamp = s.stamp()
	}
	line, err := json.Marshal(ev)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	err = s.locked(sessionID, func() error {
		path := s.eventsPath(sessionID)
		torn, err := endsTorn(path)
		if err != nil {
			return err
		}
		if torn {
			line = append([]byte{'\n'}, line...)
		}
		return statefile.Append(path, append(line, '\n'))
	})
	if err != nil {
		return fmt.Errorf("log an event of session %s: %w", sessionID, err)
	}
	return nil
}

// endsTorn tells a file that does not end in a newline.
func endsTorn(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	var last [1]byte
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return false, err
	}
	_, err = f.ReadAt(last[:], end-1)
	return last[0] != '\n', err
}

// ReadEvents is as in Store. A line that holds no event is passed over, and so
// is the rest of one in whose middle the offset lies.
func (s *FileStore) ReadEvents(sessionID string, afterOffset int64) ([]Event, int64, error) {
	if err := validID(sessionID); err != nil {
		return nil, 0, err
	}
	if afterOffset < 0 {
		return nil, 0, fmt.Errorf("read events of session %s: offset %d is negative", sessionID, afterOffset)
	}
	f, err := os.OpenFile(s.eventsPath(sessionID), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read events of session %s: %w", sessionID, err)
	}
	defer f.Close()
	events, offset, err := readEvents(f, afterOffset)
	if err != nil {
		return events, offset, fmt.Errorf("read events of session %s: %w", sessionID, err)
	}
	return events, offset, nil
}

func readEvents(f io.ReadSeeker, after int64) (events []Event, offset int64, err error) {
	// One byte earlier, to see whether a line begins there.
	if _, err := f.Seek(max(after-1, 0), io.SeekStart); err != nil {
		return nil, after, err
	}
	r := bufio.NewReaderSize(f, 64<<10)
	offset = max(after-1, 0)
	if after > 0 {
		n, err := skipLine(r)
		if err != nil {
			return nil, after, ignoreEnd(err)
		}
		offset += n
	}
	for {
		line, n, err := readLine(r)
		if err != nil {
			return events, offset, ignoreEnd(err)
		}
		offset += n
		var ev Event
		if json.Unmarshal(line, &ev) == nil && ev.Type != "" {
			events = append(events, ev)
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// skipLine reads up to and with the next newline, however far that is.
func skipLine(r *bufio.Reader) (n int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err
		}
	}
}

// readLine reads a whole line; of one over lineLimit only its length comes back.
func readLine(r *bufio.Reader) (line []byte, n int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		if n <= lineLimit {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, n, err
		}
	}
}
