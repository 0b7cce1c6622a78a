package runstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"agentwrap/internal/jsonobject"
	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

// lockWait bounds how long a change waits for others' of the same session: a
// hundred of them may be at it, each of which waits for the disk.
const lockWait = time.Minute

// fileLimit bounds the files of one object, in bytes.
const fileLimit = 1 << 20

// FileStore is the run store in files. Every change is atomic and locked; many
// processes may use it at once.
type FileStore struct {
	home string
	now  func() time.Time
	wait time.Duration
	// durability is that of a queue's changes.
	durability statefile.Durability
}

// NewFileStore is the store at home, else where the environment says (Home). It
// touches nothing on disk.
func NewFileStore(home string, getenv func(string) string) (*FileStore, error) {
	home, err := Home(home, getenv)
	if err != nil {
		return nil, err
	}
	return &FileStore{home: home, now: time.Now, wait: lockWait, durability: statefile.Synced}, nil
}

// Within is the same store for whoever may only wait so long for others' changes
// (statefile.ErrLocked after it), and not for the disk.
func (s *FileStore) Within(wait time.Duration) *FileStore {
	hurried := *s
	hurried.wait, hurried.durability = wait, statefile.Soon
	return &hurried
}

// Home is the store's folder.
func (s *FileStore) Home() string { return s.home }

func (s *FileStore) sessions() string { return filepath.Join(s.home, "sessions") }

func (s *FileStore) path(sessionID, name string) string {
	return filepath.Join(s.sessions(), sessionID, name)
}

func (s *FileStore) configPath() string { return filepath.Join(s.home, "config.json") }

func validID(sessionID string) error {
	if !ledger.ValidID(sessionID) {
		return fmt.Errorf("session %.80q: %w", sessionID, ErrNoSession)
	}
	return nil
}

// locked makes a session's folder and does something while nobody else changes
// that session.
func (s *FileStore) locked(sessionID string, do func() error) error {
	if err := validID(sessionID); err != nil {
		return err
	}
	return s.lockedIn(filepath.Join(s.sessions(), sessionID), do)
}

func (s *FileStore) lockedIn(dir string, do func() error) error {
	path := filepath.Join(dir, ".lock")
	lock, err := statefile.Acquire(path, s.wait)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeDirs(dir); err == nil {
			lock, err = statefile.Acquire(path, s.wait)
		}
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	return do()
}

func (s *FileStore) makeDirs(dir string) error {
	for _, d := range []string{s.home, s.sessions(), dir} {
		if err := statefile.MakeDir(d); err != nil {
			return err
		}
	}
	return nil
}

// Config is the stored configuration, empty where there is none.
func (s *FileStore) Config() (Config, error) {
	c, _, err := s.config()
	return c, err
}

func (s *FileStore) config() (c Config, others jsonobject.Others, err error) {
	raw, err := statefile.Read(s.configPath(), fileLimit)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return c, nil, nil
	}
	if err == nil {
		others, err = jsonobject.Decode(raw, &c)
	}
	if err != nil {
		return Config{}, nil, fmt.Errorf("read %s: %w: mend it or move it away", s.configPath(), err)
	}
	return c, others, nil
}

// SaveConfig replaces the configuration.
func (s *FileStore) SaveConfig(c Config) error {
	return s.UpdateConfig(func(old *Config) { *old = c })
}

// UpdateConfig changes the configuration while nobody else does.
func (s *FileStore) UpdateConfig(change func(*Config)) error {
	return s.lockedIn(s.home, func() error {
		c, others, err := s.config()
		if err != nil {
			return err
		}
		change(&c)
		return writeObject(s.configPath(), c, others)
	})
}

func writeObject(path string, v any, others jsonobject.Others) error {
	raw, err := jsonobject.Encode(v, others)
	if err != nil {
		return err
	}
	return statefile.Write(path, append(raw, '\n'), statefile.Synced)
}

// ClearAllSessions removes the sessions that the store has, and nothing that a
// link in their place leads to.
func (s *FileStore) ClearAllSessions() error {
	root, err := os.Open(s.sessions())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("clear the run store: %w", err)
	}
	defer root.Close()
	names, err := root.Readdirnames(-1)
	for _, name := range names {
		if rerr := removeSession(root, name); rerr != nil {
			err = errors.Join(err, fmt.Errorf("clear the run store: %w", rerr))
		}
	}
	return err
}

func removeSession(root *os.File, name string) error {
	if !ledger.ValidID(name) {
		return nil
	}
	dir, err := statefile.OpenDir(root, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	id, err := statefile.IDOf(dir)
	if err != nil {
		return err
	}
	return statefile.RemoveTree(root, name, id)
}
