package ledger

import (
	"encoding/json"
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

// Facts that could not be written in time (docs/hooks.md, "When the entry is
// locked"): each waits in a file of its own, pending/<ledgerId>/<order>-<pid>.json,
// until a writer that holds the entry's lock takes it in. The order is the
// event's CLOCK_BOOTTIME in nanoseconds: no step of the wall clock moves it, and
// a session never outlives its boot.

// factLimit bounds one fact's file, in bytes.
const factLimit = 64 << 10

// factFile is one fact that waits, by its file's name.
type factFile struct {
	name  string
	fact  Fact
	taken bool  // the entry has it already
	err   error // why it could not be read
}

func (s *Store) pendingRoot() string         { return filepath.Join(s.root, "pending") }
func (s *Store) pendingDir(id string) string { return filepath.Join(s.pendingRoot(), id) }

// Record applies a fact to an entry. What cannot be written because the entry
// stays locked for longer than wait is left for the next writer instead
// (deferred); it shows in every Read at once. The error wraps ErrNoSession,
// ErrDamaged or ErrNewer as Update's does.
func (s *Store) Record(id string, f Fact, wait time.Duration) (deferred bool, err error) {
	err = s.update(id, wait, func(e *Entry) (statefile.Durability, error) {
		if Apply(e, f) {
			return statefile.Synced, nil
		}
		return statefile.Soon, nil
	})
	if errors.Is(err, statefile.ErrLocked) {
		return true, s.leave(id, f)
	}
	return false, err
}

// leave puts a fact where the next writer finds it.
func (s *Store) leave(id string, f Fact) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return wrap("leave a fact for session", id, err)
	}
	for try := range uint64(100) {
		path := filepath.Join(s.pendingDir(id), fmt.Sprintf("%020d-%d.json", f.Order+try, os.Getpid()))
		err = statefile.Create(path, raw, f.durability())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// Never made, or a writer has just emptied and removed it.
			if err := statefile.MakeDir(s.pendingDir(id)); err != nil {
				return wrap("leave a fact for session", id, err)
			}
		case !errors.Is(err, fs.ErrExist):
			return wrap("leave a fact for session", id, err)
		}
	}
	return wrap("leave a fact for session", id, err)
}

// durability is how far a fact that waits must have got: one that may bind or
// end a session must not be lost with the machine.
func (f Fact) durability() statefile.Durability {
	if f.Process != nil || f.Begins || f.End != nil {
		return statefile.Synced
	}
	return statefile.Soon
}

// PendingIDs are the ids of the entries that facts wait for: a reader of many
// entries asks once and gives only these to WithPending.
func (s *Store) PendingIDs() ([]string, error) {
	names, err := readNames(s.pendingRoot())
	return slices.DeleteFunc(names, func(name string) bool { return !ValidID(name) }), err
}

// WithPending takes the facts that wait for an entry into this copy of it,
// which is for showing. The files stay.
func (s *Store) WithPending(e *Entry) error {
	files, err := s.pending(e)
	for _, f := range files {
		if f.err == nil && !f.taken {
			Apply(e, f.fact)
		}
	}
	return err
}

// takeIn takes the facts that wait into an entry and its file, then deletes
// them. Its caller holds the entry's lock. The entry itself names those it has
// taken, so that an end between write and deletion takes in nothing twice.
func (s *Store) takeIn(e *Entry) error {
	files, err := s.pending(e)
	if err != nil {
		return err
	}
	before := *e
	e.TakenFacts = nil
	durability, fresh := statefile.Soon, false
	for _, f := range files {
		if f.err != nil {
			s.setFactAside(e.LedgerID, f)
			continue
		}
		if !f.taken {
			fresh = true
			if Apply(e, f.fact) {
				durability = statefile.Synced
			}
		}
		e.TakenFacts = append(e.TakenFacts, f.name)
	}
	if fresh {
		if err := s.write(e, durability); err != nil {
			return err
		}
		s.tell(&before, e)
	}
	return s.dropTaken(e)
}

// dropTaken deletes the files that an entry has taken in and the folder that
// they leave empty.
func (s *Store) dropTaken(e *Entry) error {
	if len(e.TakenFacts) == 0 {
		return nil
	}
	dir := s.pendingDir(e.LedgerID)
	for _, name := range e.TakenFacts {
		if err := statefile.Remove(filepath.Join(dir, name)); err != nil {
			return wrap("take in facts for session", e.LedgerID, err)
		}
	}
	e.TakenFacts = nil
	// Not empty when another hook has just left a fact: that is the next writer's.
	_ = statefile.Remove(dir)
	return nil
}

// setFactAside moves a file that holds no fact out of the way. Where that
// fails it stays, is passed over and tried again.
func (s *Store) setFactAside(id string, f factFile) {
	if errors.Is(f.err, ErrDamaged) {
		_, _ = statefile.SetAside(filepath.Join(s.pendingDir(id), f.name), s.DamagedDir(), time.Now())
	}
}

// pending are the fact files of an entry in order.
func (s *Store) pending(e *Entry) ([]factFile, error) {
	dir := s.pendingDir(e.LedgerID)
	names, err := readNames(dir)
	if err != nil {
		return nil, wrap("read the facts for session", e.LedgerID, err)
	}
	slices.Sort(names)
	var files []factFile
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue // being written
		}
		f := factFile{name: name, taken: slices.Contains(e.TakenFacts, name)}
		if !f.taken {
			f.fact, f.err = readFact(filepath.Join(dir, name))
		}
		files = append(files, f)
	}
	return files, nil
}

func readFact(path string) (f Fact, err error) {
	raw, err := statefile.Read(path, factLimit)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("%w: fact %s: %w", ErrDamaged, path, err)
	}
	if f.At == nil {
		return f, fmt.Errorf("%w: fact %s has no time", ErrDamaged, path)
	}
	return f, nil
}

// dropPending deletes all that waits for an entry which is being removed.
func (s *Store) dropPending(id string) error {
	dir := s.pendingDir(id)
	names, err := readNames(dir)
	for _, name := range names {
		err = errors.Join(err, statefile.Remove(filepath.Join(dir, name)))
	}
	return errors.Join(err, statefile.Remove(dir))
}

// readNames are the names in a folder, none where it is absent.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
