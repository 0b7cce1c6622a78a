package runstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"agentwrap/internal/jsonobject"
	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

// Session is a session of the store.
type Session struct{ Meta SessionMeta }

// SessionMeta is what is kept of a session, in sessions/<id>/meta.json. Status
// is information only: what a session is is told by the ledger's classification.
type SessionMeta struct {
	Runner            string `json:"runner"`
	SessionID         string `json:"session_id"`
	InitialPrompt     string `json:"initial_prompt,omitempty"`
	RunnerSessionID   string `json:"runner_session_id,omitempty"`
	TerminalSessionID string `json:"terminal_session_id,omitempty"`
	Status            string `json:"status"`
	Workspace         string `json:"workspace,omitempty"`
	Model             string `json:"model,omitempty"`
	// PrependPaths are absolute folders that go before PATH, in this order.
	PrependPaths []string `json:"prepend_paths,omitempty"`
	// Env are KEY=VALUE; the last of a key counts.
	Env []string `json:"env,omitempty"`
	// AgentRunnerConfigHome is the CLI's own folder (CODEX_HOME and the like).
	AgentRunnerConfigHome string `json:"agent_runner_config_home,omitempty"`
	CreatedAt             string `json:"created_at,omitempty"`
	UpdatedAt             string `json:"updated_at,omitempty"`

	others jsonobject.Others
}

// plainMeta is SessionMeta with times as they are found.
type plainMeta struct {
	*bareMeta
	CreatedAt text `json:"created_at"`
	UpdatedAt text `json:"updated_at"`
}

type bareMeta SessionMeta

// UnmarshalJSON reads a session's metadata. A time may be a string, a number or
// a bool, which are taken as they are written, or null.
func (m *SessionMeta) UnmarshalJSON(raw []byte) error {
	plain := plainMeta{bareMeta: (*bareMeta)(m)}
	if err := json.Unmarshal(raw, &plain); err != nil {
		return err
	}
	m.CreatedAt, m.UpdatedAt = string(plain.CreatedAt), string(plain.UpdatedAt)
	return nil
}

// text is a string, or a number or a bool as it is written, or null for none.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[':
		return fmt.Errorf("%.40s is not a time", raw)
	case raw[0] == '"':
		return json.Unmarshal(raw, (*string)(t))
	case string(raw) == "null":
		*t = ""
	default:
		*t = text(raw)
	}
	return nil
}

// GetSession reads a session's metadata. The error wraps ErrNoSession where
// there is none.
func (s *FileStore) GetSession(sessionID string) (*Session, error) {
	if err := validID(sessionID); err != nil {
		return nil, err
	}
	path := s.path(sessionID, "meta.json")
	raw, err := statefile.Read(path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", sessionID, ErrNoSession)
	}
	var m SessionMeta
	if err == nil {
		m.others, err = jsonobject.Decode(raw, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: mend it or move it away", path, err)
	}
	return &Session{m}, nil
}

// ListSessions are the sessions that have metadata which can be read, by id.
func (s *FileStore) ListSessions() ([]SessionMeta, error) {
	list, err := os.ReadDir(s.sessions())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the run store: %w", err)
	}
	var metas []SessionMeta
	for _, d := range list {
		if session, err := s.GetSession(d.Name()); err == nil {
			metas = append(metas, session.Meta)
		}
	}
	return metas, nil
}

// CreateSession keeps a new session. One that is there is an error (ErrExists).
func (s *FileStore) CreateSession(sessionID string, meta SessionMeta) error {
	if strings.TrimSpace(meta.Runner) == "" {
		return fmt.Errorf("create session %s: its runner is missing", sessionID)
	}
	return s.locked(sessionID, func() error {
		path := s.path(sessionID, "meta.json")
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("create session %s: %w", sessionID, ErrExists)
		}
		meta.SessionID, meta.UpdatedAt = sessionID, s.stamp()
		if meta.CreatedAt == "" {
			meta.CreatedAt = meta.UpdatedAt
		}
		return writeObject(path, meta, meta.others)
	})
}

func (s *FileStore) stamp() string { return s.now().UTC().Format(time.RFC3339) }

// UpdateSession changes a session's metadata while nobody else does.
func (s *FileStore) UpdateSession(sessionID string, change func(*SessionMeta)) error {
	if _, err := s.GetSession(sessionID); err != nil {
		return err // and no folder is made for a session that is not there
	}
	return s.locked(sessionID, func() error {
		session, err := s.GetSession(sessionID)
		if err != nil {
			return err
		}
		m := &session.Meta
		change(m)
		m.SessionID, m.UpdatedAt = sessionID, s.stamp()
		return writeObject(s.path(sessionID, "meta.json"), m, m.others)
	})
}

// EnsureSession is the session, made from what the ledger knows of it where the
// store has none yet.
func (s *FileStore) EnsureSession(e *ledger.Entry) error {
	err := s.CreateSession(e.LedgerID, SessionMeta{Runner: e.Runtime, Workspace: ledger.Value(e.CWD), RunnerSessionID: ledger.Value(e.SessionID)})
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// UpdateSessionStatus notes a status.
func (s *FileStore) UpdateSessionStatus(sessionID, status string) error {
	return s.UpdateSession(sessionID, func(m *SessionMeta) { m.Status = status })
}

// UpdateSessionRunnerSessionID notes the CLI's own id of the conversation; an
// empty one changes nothing.
func (s *FileStore) UpdateSessionRunnerSessionID(sessionID, runnerSessionID string) error {
	return s.updateID(sessionID, runnerSessionID, func(m *SessionMeta, id string) { m.RunnerSessionID = id })
}

// UpdateSessionTerminalSessionID notes the terminal's id; an empty one changes
// nothing.
func (s *FileStore) UpdateSessionTerminalSessionID(sessionID, terminalSessionID string) error {
	return s.updateID(sessionID, terminalSessionID, func(m *SessionMeta, id string) { m.TerminalSessionID = id })
}

func (s *FileStore) updateID(sessionID, id string, set func(*SessionMeta, string)) error {
	if id = strings.TrimSpace(id); id == "" {
		_, err := s.GetSession(sessionID)
		return err
	}
	return s.UpdateSession(sessionID, func(m *SessionMeta) { set(m, id) })
}

// UpdateSessionWorkspace notes where the session works.
func (s *FileStore) UpdateSessionWorkspace(sessionID, workspace string) error {
	return s.UpdateSession(sessionID, func(m *SessionMeta) { m.Workspace = workspace })
}

// UpdateSessionEnvConfig is as in Store.
func (s *FileStore) UpdateSessionEnvConfig(sessionID string, prependPaths, env []string, configHome string) error {
	return s.UpdateSession(sessionID, func(m *SessionMeta) {
		m.PrependPaths, m.Env = prependPaths, env
		if configHome != "" {
			m.AgentRunnerConfigHome = configHome
		}
	})
}
