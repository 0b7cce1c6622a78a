package contextfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"agentwrap/internal/statefile"
)

// ErrExists is wrapped by the error for a file that is there with other
// content.
var ErrExists = errors.New("it is there with other content")

// Addition is a file to be added.
type Addition struct {
	Category, Task string
	// For is who it is for, such as @TaskManager; "" for nobody in particular.
	For string
	// Keywords are what it is found by; none means the task's name.
	Keywords []string
	Content  []byte
	// Replace takes the place of a tracked file with other content.
	Replace bool
}

// Limit bounds a file's content, in bytes.
const Limit = 8 << 20

// Add writes a file into a session's folder and tracks it, and returns its path
// and its session. An empty session is the one of ledgerIDs, of which the first
// is the session's own; where there is none yet, one begins. A file that is
// there with other content is an error (ErrExists) unless Replace is set.
func (s Store) Add(session string, ledgerIDs []string, a Addition) (file, id string, err error) {
	name, err := FileName(a.Category, a.Task)
	if err != nil {
		return "", "", err
	}
	if len(a.Content) > Limit {
		return "", "", fmt.Errorf("add %s: it has %d bytes, at most %d are kept", name, len(a.Content), Limit)
	}
	if len(a.Keywords) == 0 {
		a.Keywords = []string{a.Task}
	}
	all, err := s.open(true)
	if err != nil {
		return "", "", fmt.Errorf("add context file %s: %w", name, err)
	}
	defer all.close()
	dir, m, err := s.begin(all, session, ledgerIDs)
	if err != nil {
		return "", "", fmt.Errorf("add context file %s: %w", name, err)
	}
	defer dir.Close()
	if err := s.put(dir, m, name, a); err != nil {
		return "", "", fmt.Errorf("add context file %s: %w", name, err)
	}
	return filepath.Join(s.Dir(m.SessionID), name), m.SessionID, nil
}

// begin opens the session's folder; it makes one where there is none yet.
func (s Store) begin(all *sessions, session string, ledgerIDs []string) (*os.File, *Manifest, error) {
	if session == "" {
		id, err := s.Of(ledgerIDs)
		if errors.Is(err, ErrNoSession) {
			return s.create(all, ledgerIDs)
		}
		if err != nil {
			return nil, nil, err
		}
		session = id
	}
	return openSession(all, session)
}

func openSession(all *sessions, session string) (*os.File, *Manifest, error) {
	if !isName(session, 255) {
		return nil, nil, fmt.Errorf("%.80q: %w", session, ErrNoSession)
	}
	dir, err := statefile.OpenDir(all.File, session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: %w", session, ErrNoSession)
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := readManifest(dir, session)
	if err != nil {
		dir.Close()
		return nil, nil, err
	}
	return dir, m, nil
}

func (s Store) create(all *sessions, ledgerIDs []string) (*os.File, *Manifest, error) {
	own := ""
	if len(ledgerIDs) > 0 {
		own = ledgerIDs[0]
	}
	for range 100 {
		id := newID(s.Now())
		if taken, err := statefile.OpenDir(all.File, id); err == nil {
			taken.Close()
			continue
		}
		dir, err := statefile.MakeDirAt(all.File, id)
		if err != nil {
			return nil, nil, err
		}
		m := s.newManifest(id, own)
		if err := writeManifest(dir, m); err != nil {
			dir.Close()
			return nil, nil, errors.Join(err, statefile.RemoveEmptyDir(all.File, id))
		}
		return dir, m, nil
	}
	return nil, nil, errors.New("no free session id after 100 tries")
}

// put writes the file, then tracks it: what a crash leaves between the two is
// a file too many, which stays, never a tracked one that is not ours.
func (s Store) put(dir *os.File, m *Manifest, name string, a Addition) error {
	category, err := statefile.MakeDirAt(dir, path.Dir(name))
	if err != nil {
		return err
	}
	defer category.Close()
	at := statefile.In(category, path.Base(name))
	_, tracked := m.ContextFiles[name]
	err = statefile.Create(at, a.Content, statefile.Synced)
	if errors.Is(err, fs.ErrExist) {
		err = replace(at, tracked, a)
	}
	if err != nil {
		return err
	}
	m.track(name, File{Created: s.stamp(), For: a.For, Keywords: merge(nil, a.Keywords)})
	m.LastActivity = s.stamp()
	return writeManifest(dir, m)
}

func replace(at string, tracked bool, a Addition) error {
	old, err := statefile.Read(at, Limit)
	switch {
	case err != nil:
		return err
	case bytes.Equal(old, a.Content):
		return nil
	case !tracked:
		return fmt.Errorf("%w and is not tracked: give the task another name", ErrExists)
	case !a.Replace:
		return fmt.Errorf("%w: give the task another name, or --replace it", ErrExists)
	}
	return statefile.Write(at, a.Content, statefile.Synced)
}

// Touch marks a session as active now and returns its manifest.
func (s Store) Touch(session string) (*Manifest, error) {
	all, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", session, ErrNoSession)
	}
	if err != nil {
		return nil, err
	}
	defer all.close()
	dir, m, err := openSession(all, session)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	m.LastActivity = s.stamp()
	return m, writeManifest(dir, m)
}
