// Package opencodedb reads what opencode keeps of its sessions, for every view.
// All of them share one sqlite database, so that the file itself tells of none.
// It is only ever read, and nothing beside it is made or changed. The shim does
// not link this package: its driver's start costs more than a launch.
package opencodedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	_ "modernc.org/sqlite" // the driver named sqlite

	"agentwrap/internal/transcript"
)

// ErrUnknown is wrapped by the error for a session that is not in the store.
var ErrUnknown = errors.New("opencode knows no such session")

// Path is where opencode keeps its store: below $XDG_DATA_HOME, else
// ~/.local/share; "" where there is neither that nor a HOME.
func Path(getenv func(string) string) string {
	data := getenv("XDG_DATA_HOME")
	if data == "" && getenv("HOME") != "" {
		data = filepath.Join(getenv("HOME"), ".local", "share")
	}
	if data == "" {
		return ""
	}
	return filepath.Join(data, "opencode", "opencode.db")
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	path string
	db   *sql.DB
}

// busyWait bounds a wait for opencode's own writing, in milliseconds.
const busyWait = "200"

// Open opens the store. The error wraps fs.ErrNotExist where there is none.
func Open(path string) (*Store, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open opencode's store: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("open opencode's store %s: it is not a regular file", path)
	}
	query := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "busy_timeout(" + busyWait + ")"}}
	if _, err := os.Lstat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		// Nobody has it open, and sqlite would make the files that go with
		// writing: without them it is read as it stands.
		query.Set("immutable", "1")
	}
	source := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("open opencode's store %s: %w", path, err)
	}
	return &Store{path, db}, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// Limits of one look at a session: how many messages, how many parts of each,
// how many characters of a text.
const (
	messageLimit = 8
	partLimit    = 32
	textLimit    = 4 << 10
)

// Session is what the store tells of one session; ModTime is its own last
// change, Size is 0. The error wraps ErrUnknown for one that is not there.
func (s *Store) Session(ctx context.Context, id string) (transcript.Digest, error) {
	var d transcript.Digest
	var title string
	var updated int64
	err := s.db.QueryRowContext(ctx, `SELECT substr(title, 1, ?), time_updated FROM session WHERE id = ?`, textLimit, id).Scan(&title, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return d, fmt.Errorf("session %q in %s: %w", id, s.path, ErrUnknown)
	}
	if err == nil {
		d.ModTime = time.UnixMilli(updated)
		err = s.fill(ctx, &d, id)
	}
	if err != nil {
		return d, fmt.Errorf("read session %q in opencode's store %s: %w", id, s.path, err)
	}
	if !isPlaceholder(title) {
		d.Title = transcript.OneLine(title)
	}
	return d, nil
}

// fill takes the activity from the last messages and, as a title for a session
// that has none of its own, the first prompt.
func (s *Store) fill(ctx context.Context, d *transcript.Digest, id string) error {
	last, err := s.messages(ctx, id, "DESC")
	if err != nil {
		return err
	}
	for n, m := range last {
		if m.changed.After(d.ModTime) {
			d.ModTime = m.changed
		}
		if n == 0 && m.failure == "MessageAbortedError" {
			d.Interrupted = m.changed
		}
		if m.role != "assistant" || d.Activity != "" {
			continue
		}
		if d.Activity, err = s.firstText(ctx, m.id, "DESC", part.activity); err != nil {
			return err
		}
	}
	first, err := s.messages(ctx, id, "ASC")
	if err != nil {
		return err
	}
	for _, m := range first {
		if m.role == "user" {
			d.Title, err = s.firstText(ctx, m.id, "ASC", part.prompt)
			return err
		}
	}
	return nil
}

// message is one turn's head: failure is the name of the error it ended with.
type message struct {
	id, role, failure string
	changed           time.Time
}

// messages are a session's first (ASC) or last (DESC) ones. Damaged ones are
// passed over.
func (s *Store) messages(ctx context.Context, session, order string) ([]message, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, time_updated, coalesce(json_extract(data, '$.role'), ''), coalesce(json_extract(data, '$.error.name'), '')
		FROM message WHERE session_id = ? AND json_valid(data) ORDER BY time_created `+order+`, id `+order+` LIMIT ?`, session, messageLimit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []message
	for rows.Next() {
		var m message
		var changed int64
		if err := rows.Scan(&m.id, &changed, &m.role, &m.failure); err != nil {
			return nil, err
		}
		m.changed = time.UnixMilli(changed)
		list = append(list, m)
	}
	return list, rows.Err()
}

// part is a piece of a message: a text, or a tool with its input as JSON.
type part struct {
	kind, text, tool, input string
	// synthetic tells that the program wrote it, not a person.
	synthetic bool
}

// firstText is what the first (ASC) or last (DESC) part of a message that says
// anything says.
func (s *Store) firstText(ctx context.Context, messageID, order string, says func(part) string) (string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT coalesce(json_extract(data, '$.type'), ''), coalesce(substr(json_extract(data, '$.text'), 1, ?1), ''),
			coalesce(json_extract(data, '$.tool'), ''), coalesce(substr(json_extract(data, '$.state.input'), 1, ?1), ''), json_extract(data, '$.synthetic') IS TRUE
		FROM part WHERE message_id = ?2 AND json_valid(data) ORDER BY id `+order+` LIMIT ?3`, textLimit, messageID, partLimit)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var p part
		if err := rows.Scan(&p.kind, &p.text, &p.tool, &p.input, &p.synthetic); err != nil {
			return "", err
		}
		if text := says(p); text != "" {
			return text, nil
		}
	}
	return "", rows.Err()
}

func (p part) prompt() string {
	if p.kind != "text" || p.synthetic {
		return ""
	}
	return transcript.OneLine(p.text)
}

func (p part) activity() string {
	switch p.kind {
	case "tool":
		return transcript.ToolUse(p.tool, gjson.Parse(p.input))
	case "text":
		return transcript.OneLine(p.text)
	}
	return ""
}

// isPlaceholder tells the title that a session has until it is given one.
func isPlaceholder(title string) bool {
	return title == "" || strings.HasPrefix(title, "New session - ") || strings.HasPrefix(title, "Child session - ")
}
