// Package contextfiles keeps the tracked context files of a session in its
// working tree: files that one agent writes for another to read, with a
// manifest that says which they are. Only what the manifest tracks is ever
// deleted (docs/scratch.md, "Context files").
package contextfiles

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentwrap/internal/statefile"
)

// Categories are the folders of a session.
var Categories = []string{"features", "documentation", "code", "tasks", "general"}

// ErrNoSession is wrapped by the error for a session of context files that is
// not there.
var ErrNoSession = errors.New("no such session of context files")

// maxTask is the length of the longest task name, in bytes.
const maxTask = 100

// FileName is the path of a task's file below its session's folder.
func FileName(category, task string) (string, error) {
	if !slices.Contains(Categories, category) {
		return "", fmt.Errorf("%q is no category: they are %s", category, strings.Join(Categories, ", "))
	}
	if !isName(task, maxTask) {
		return "", fmt.Errorf("%.120q cannot be a task's name: use letters, digits, '.', '_' and '-', such as user-auth, at most %d", task, maxTask)
	}
	if category == "tasks" {
		return category + "/" + task + "-tasks.md", nil
	}
	return category + "/" + task + "-context.md", nil
}

// isName tells a word of letters, digits, '.', '_' and '-' that can be a file's
// name and is no option.
func isName(s string, most int) bool {
	if s == "" || len(s) > most || s[0] == '.' || s[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
}

// Store is the context files of one working tree. Many processes may use it at
// once.
type Store struct {
	// Tree is the working tree's top folder.
	Tree string
	// CommonDir is its repository's git folder, "" outside of one.
	CommonDir string
	Now       func() time.Time
}

// sessionsPath is where the sessions' folders are, below the tree.
const sessionsPath = ".tmp/sessions"

// Dir is the folder of a session, made or not.
func (s Store) Dir(session string) string { return filepath.Join(s.Tree, sessionsPath, session) }

// newID is an id of the form YYYYMMDD-HHMMSS-xxxx, the last four random.
func newID(now time.Time) string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return now.UTC().Format("20060102-150405") + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(random[:])[:4])
}

// lockWait bounds how long an operation waits for others in the same tree.
const lockWait = 10 * time.Second

// sessions is the opened folder of the sessions, locked against others.
type sessions struct {
	*os.File
	lock *statefile.Lock
}

func (s *sessions) close() {
	s.lock.Release()
	s.Close()
}

// open opens and locks the sessions' folder, and makes it where it is absent if
// create is set. A link in the place of a folder is an error.
func (s Store) open(create bool) (*sessions, error) {
	tree, err := os.Open(s.Tree)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	dir, err := openPath(tree, sessionsPath, create)
	if err != nil {
		return nil, err
	}
	lock, err := statefile.Acquire(statefile.In(dir, ".lock"), lockWait)
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("lock the context files of %s: %w", s.Tree, err)
	}
	return &sessions{dir, lock}, nil
}

// openPath opens the folder at path below from, folder by folder.
func openPath(from *os.File, path string, create bool) (*os.File, error) {
	if !create {
		return statefile.OpenDir(from, path)
	}
	dir := from
	for _, name := range strings.Split(path, "/") {
		next, err := statefile.MakeDirAt(dir, name)
		if dir != from {
			dir.Close()
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// IDs are the sessions of the tree, oldest first by their names. A tree without
// any is no error.
func (s Store) IDs() ([]string, error) {
	list, err := os.ReadDir(filepath.Join(s.Tree, sessionsPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list context files: %w", err)
	}
	var ids []string
	for _, d := range list {
		if d.IsDir() && isName(d.Name(), 255) {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}

// Of is the session of context files that a session of the ledger has, by its
// own id or one of those it continues: the newest where there are several. The
// error is ErrNoSession where there is none.
func (s Store) Of(ledgerIDs []string) (string, error) {
	ids, err := s.IDs()
	if err != nil {
		return "", err
	}
	for _, id := range slices.Backward(ids) {
		m, err := s.Manifest(id)
		if err == nil && m.LedgerID != nil && slices.Contains(ledgerIDs, *m.LedgerID) {
			return id, nil
		}
	}
	return "", ErrNoSession
}
