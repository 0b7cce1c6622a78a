// Package runstore is the durable run store: what is kept of a session beside
// the ledger's entry, for its person and for other programs of the same
// contract: its metadata, its event log, the messages that wait for it, and when
// it may end by itself (docs/runstore.md, "Run store").
package runstore

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Store is the contract's storage. A session is known by its id alone, which is
// its ledgerId; its runner is metadata. Files are made when they are needed.
type Store interface {
	Home() string
	Config() (Config, error)
	SaveConfig(Config) error
	ListSessions() ([]SessionMeta, error)
	ClearAllSessions() error
	GetSession(sessionID string) (*Session, error)
	CreateSession(sessionID string, meta SessionMeta) error
	UpdateSessionStatus(sessionID, status string) error
	UpdateSessionRunnerSessionID(sessionID, runnerSessionID string) error
	UpdateSessionTerminalSessionID(sessionID, terminalSessionID string) error
	UpdateSessionWorkspace(sessionID, workspace string) error
	// UpdateSessionEnvConfig replaces the stored lists as they are given, nothing
	// left out of them; configHome replaces only when it is not empty.
	UpdateSessionEnvConfig(sessionID string, prependPaths, env []string, configHome string) error
	AppendEvent(sessionID string, ev Event) error
	// ReadEvents reads the complete lines behind a byte offset and returns the
	// offset behind the last of them.
	ReadEvents(sessionID string, afterOffset int64) ([]Event, int64, error)
	AppendMessage(sessionID, text string) (Message, error)
	PopMessages(sessionID string) ([]Message, error)
	ListMessages(sessionID string) ([]Message, error)
}

var _ Store = (*FileStore)(nil)

// ErrNoSession is wrapped by the error for a session that the store does not
// have.
var ErrNoSession = errors.New("no such session in the run store")

// ErrExists is wrapped by the error for a session that is there already.
var ErrExists = errors.New("session is in the run store already")

// Config is what is kept for all sessions, in config.json.
type Config struct {
	DefaultAgentRunner string `json:"default_agent_runner"`
	DefaultModel       string `json:"default_model"`
	LastSession        string `json:"last_session"`
	// SelectedWorkspace is the workspace of new sessions.
	SelectedWorkspace string `json:"selected_workspace,omitempty"`
	// RecentWorkspaces are the last ones used, newest first, at most 12.
	RecentWorkspaces []string `json:"recent_workspaces,omitempty"`
}

// recentLimit is how many workspaces are remembered.
const recentLimit = 12

// Use makes a workspace the selected and the most recent one.
func (c *Config) Use(workspace string) {
	c.SelectedWorkspace = workspace
	others := slices.DeleteFunc(slices.Clone(c.RecentWorkspaces), func(w string) bool { return w == workspace })
	c.RecentWorkspaces = append([]string{workspace}, others...)
	c.RecentWorkspaces = c.RecentWorkspaces[:min(len(c.RecentWorkspaces), recentLimit)]
}

// Home is where the run store is: home, else $AGENT_RUN_HOME, else ~/.agent-run.
func Home(home string, getenv func(string) string) (string, error) {
	if home == "" {
		home = getenv("AGENT_RUN_HOME")
	}
	if home != "" {
		return filepath.Abs(home)
	}
	if user := getenv("HOME"); user != "" {
		return filepath.Join(user, ".agent-run"), nil
	}
	return "", errors.New("find the run store: neither AGENT_RUN_HOME nor HOME is set")
}

// FormatRelativeAge is how long before now a time lies, in at most two units
// without blanks, the second only where it is not zero: 1m5s ago. No time is
// "-"; less than a second and times to come are "just now".
func FormatRelativeAge(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	rest := int64(max(now.Sub(t), 0) / time.Second)
	var b strings.Builder
	for _, unit := range []struct {
		name    string
		seconds int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}} {
		n := rest / unit.seconds
		rest %= unit.seconds
		switch {
		case n == 0 && b.Len() == 0:
			continue
		case n == 0:
			return b.String() + " ago"
		}
		second := b.Len() > 0
		fmt.Fprintf(&b, "%d%s", n, unit.name)
		if second {
			break
		}
	}
	if b.Len() == 0 {
		return "just now"
	}
	return b.String() + " ago"
}
