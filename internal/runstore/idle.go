package runstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"agentwrap/internal/statefile"
)

// DefaultIdleTimeout is how long a session that ends when it is idle must have
// been so, where its policy says no time.
const DefaultIdleTimeout = 10 * time.Minute

// IdlePolicy is whether and when a session ends by itself, in
// sessions/<id>/idle-policy.json.
type IdlePolicy struct {
	ExitOnIdle  bool          `json:"exit_on_idle"`
	IdleTimeout time.Duration `json:"-"`
}

// filedPolicy is a policy as its file holds it: a time such as 10m or 1h30m.
type filedPolicy struct {
	ExitOnIdle  bool   `json:"exit_on_idle"`
	IdleTimeout string `json:"idle_timeout"`
}

// IdlePolicyPath is the file of a session's policy.
func IdlePolicyPath(home, sessionID string) string {
	return filepath.Join(home, "sessions", sessionID, "idle-policy.json")
}

func (p IdlePolicy) valid() (IdlePolicy, error) {
	if p.IdleTimeout < 0 {
		return p, fmt.Errorf("an idle timeout of %s is negative", p.IdleTimeout)
	}
	if p.ExitOnIdle && p.IdleTimeout == 0 {
		p.IdleTimeout = DefaultIdleTimeout
	}
	return p, nil
}

// WriteIdlePolicy keeps a session's policy. No time with ExitOnIdle means
// DefaultIdleTimeout; a negative one is an error.
func (s *FileStore) WriteIdlePolicy(sessionID string, p IdlePolicy) error {
	p, err := p.valid()
	if err != nil {
		return fmt.Errorf("keep the idle policy of session %s: %w", sessionID, err)
	}
	return s.locked(sessionID, func() error {
		raw, err := json.Marshal(filedPolicy{p.ExitOnIdle, compact(p.IdleTimeout)})
		if err != nil {
			return err
		}
		return statefile.Write(IdlePolicyPath(s.home, sessionID), append(raw, '\n'), statefile.Synced)
	})
}

// ReadIdlePolicy reads a session's policy; found is false where there is none.
func (s *FileStore) ReadIdlePolicy(sessionID string) (p IdlePolicy, found bool, err error) {
	if err := validID(sessionID); err != nil {
		return p, false, err
	}
	path := IdlePolicyPath(s.home, sessionID)
	raw, err := statefile.Read(path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return p, false, nil
	}
	var filed filedPolicy
	if err == nil {
		err = json.Unmarshal(raw, &filed)
	}
	if err == nil {
		p, err = filed.policy()
	}
	if err != nil {
		return IdlePolicy{}, false, fmt.Errorf("read %s: %w: set it anew with 'agent-sessions idle'", path, err)
	}
	return p, true, nil
}

func (f filedPolicy) policy() (IdlePolicy, error) {
	p := IdlePolicy{ExitOnIdle: f.ExitOnIdle}
	if f.IdleTimeout != "" {
		var err error
		if p.IdleTimeout, err = time.ParseDuration(f.IdleTimeout); err != nil {
			return p, fmt.Errorf("its idle_timeout %.40q is no time such as 10m", f.IdleTimeout)
		}
	}
	return p.valid()
}

// compact is a length of time without the zeros at its end: 10m, 1h, 1h30m.
func compact(d time.Duration) string {
	s := d.String()
	if cut, ok := strings.CutSuffix(s, "m0s"); ok {
		s = cut + "m"
	}
	if cut, ok := strings.CutSuffix(s, "h0m"); ok {
		s = cut + "h"
	}
	return s
}
