package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentwrap/internal/statefile"
)

// entryLimit bounds an entry's file, in bytes: a rescue of very many paths is
// the largest thing in one.
const entryLimit = 16 << 20

// ErrNoSession is wrapped by the error for an id that no entry has.
var ErrNoSession = errors.New("no such session")

// Store is the ledger under one root folder. Its methods may be called from
// many goroutines and processes at once; it holds nothing in memory.
type Store struct {
	root  string
	watch func(before, after *Entry)
}

// Open is the store under root. It touches nothing on disk.
func Open(root string) *Store { return &Store{root: root} }

// Root is where the ledger lives for an environment: $AGENT_SESSIONS_DIR, else
// ~/.local/state/agent-sessions. It fails where there is neither.
func Root(getenv func(string) string) (string, error) {
	if dir := getenv("AGENT_SESSIONS_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("find the ledger: neither AGENT_SESSIONS_DIR nor HOME is set")
	}
	return filepath.Join(home, ".local", "state", "agent-sessions"), nil
}

// Watch has every change that goes through this store told, once it is written
// and before the entry's lock is given up. before is nil for a new entry;
// neither may be kept or altered.
func (s *Store) Watch(tell func(before, after *Entry)) { s.watch = tell }

func (s *Store) tell(before, after *Entry) {
	if s.watch != nil {
		s.watch(before, after)
	}
}

// Dir is the ledger's root folder.
func (s *Store) Dir() string { return s.root }

// SocketPath is where a session's tmux socket stands by the contract; its
// holder's is the same with .io added.
func (s *Store) SocketPath(id string) string { return filepath.Join(s.root, "sock", id) }

// DamagedDir is where files that could not be read are set aside.
func (s *Store) DamagedDir() string { return filepath.Join(s.root, "damaged") }

// EntryPath is the file of an entry.
func (s *Store) EntryPath(id string) string { return filepath.Join(s.sessions(), id+".json") }

func (s *Store) sessions() string          { return filepath.Join(s.root, "sessions") }
func (s *Store) lockPath(id string) string { return filepath.Join(s.root, "lock", id) }

// Create writes the record of a new session under an id of its own, which it
// puts into e. The record is there, whole, when Create returns; d says whether
// it has also reached the disk.
func (s *Store) Create(e *Entry, d statefile.Durability) error {
	return s.CreateNamed(e, d, func(*Entry) {})
}

// CreateNamed is Create for an entry of which fields follow from its id: named
// fills them in, each time before an id is tried.
func (s *Store) CreateNamed(e *Entry, d statefile.Durability, named func(*Entry)) error {
	e.SchemaVersion = SchemaVersion
	for range 100 {
		e.LedgerID = NewID(e.Runtime, Value(e.StartedAt).Time)
		named(e)
		if err := s.create(e, d); !errors.Is(err, fs.ErrExist) {
			return wrap("record session", e.LedgerID, err)
		}
	}
	return fmt.Errorf("record session %s: no free id after 100 tries", e.LedgerID)
}

// create writes a new entry and, where they are absent, the ledger's folders.
func (s *Store) create(e *Entry, d statefile.Durability) error {
	err := s.createAs(e, d)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeDirs(); err == nil {
			err = s.createAs(e, d)
		}
	}
	if err == nil {
		s.tell(nil, e)
	}
	return err
}

func (s *Store) createAs(e *Entry, d statefile.Durability) error {
	raw, err := Encode(e)
	if err != nil {
		return err
	}
	return statefile.Create(s.EntryPath(e.LedgerID), raw, d)
}

func (s *Store) makeDirs() error {
	for _, dir := range []string{s.root, s.sessions(), filepath.Join(s.root, "lock")} {
		if err := statefile.MakeDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Read is the entry with this id, with the facts that wait for it taken in. The
// error wraps ErrNoSession or ErrDamaged.
func (s *Store) Read(id string) (*Entry, error) {
	e, err := s.readFile(id)
	if err == nil {
		err = s.WithPending(e)
	}
	return e, err
}

// Has tells whether there is an entry with this id, damaged or not.
func (s *Store) Has(id string) bool {
	if !ValidID(id) {
		return false
	}
	_, err := os.Lstat(s.EntryPath(id))
	return err == nil
}

// readFile is the entry as its file holds it.
func (s *Store) readFile(id string) (*Entry, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("session %.80q: %w", id, ErrNoSession)
	}
	raw, err := statefile.Read(s.EntryPath(id), entryLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, ErrNoSession)
	}
	if err != nil {
		return nil, wrap("read session", id, err)
	}
	return decodeAs(id, raw)
}

// decodeAs decodes the file of an id: an entry that names another is foreign.
func decodeAs(id string, raw []byte) (*Entry, error) {
	e, err := Decode(raw)
	if err == nil && e.LedgerID != id {
		err = fmt.Errorf("%w: it names session %s", ErrDamaged, e.LedgerID)
	}
	return e, wrap("read session", id, err)
}

// UpdateOptions are how an update waits and how far it is to get.
type UpdateOptions struct {
	Wait       time.Duration // for the entry's lock; statefile.ErrLocked after it
	Durability statefile.Durability
}

// Within waits at most d for the lock; the write reaches the disk soon.
func Within(d time.Duration) UpdateOptions { return UpdateOptions{Wait: d} }

// Durable waits at most d for the lock and then for the disk: for a write that
// binds an id, ends a row or marks a rescue.
func Durable(d time.Duration) UpdateOptions {
	return UpdateOptions{Wait: d, Durability: statefile.Synced}
}

// ErrUnchanged, returned by an update's change, leaves the entry as it is.
var ErrUnchanged = errors.New("unchanged")

// Update reads an entry, lets change alter it and writes it back, under the
// entry's lock, once the facts that wait for it are taken in. Nothing is written
// when change fails (its error is returned) or when the entry is damaged
// (ErrDamaged) or newer (ErrNewer).
func (s *Store) Update(id string, o UpdateOptions, change func(*Entry) error) error {
	return s.update(id, o.Wait, func(e *Entry) (statefile.Durability, error) { return o.Durability, change(e) })
}

// update is Update where only the change itself tells how far its write is to
// get.
func (s *Store) update(id string, wait time.Duration, change func(*Entry) (statefile.Durability, error)) error {
	lock, err := s.lock(id, wait)
	if err != nil {
		return wrap("update session", id, err)
	}
	defer lock.Release()
	e, err := s.readWritable(id)
	if err != nil {
		return err
	}
	before := *e
	durability, err := change(e)
	if errors.Is(err, ErrUnchanged) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.write(e, durability); err != nil {
		return err
	}
	s.tell(&before, e)
	return nil
}

// readWritable reads an entry that this version may write and takes in the
// facts that wait for it. Its caller holds the entry's lock.
func (s *Store) readWritable(id string) (*Entry, error) {
	e, err := s.readFile(id)
	if err != nil {
		return nil, err
	}
	if e.SchemaVersion > SchemaVersion {
		return nil, fmt.Errorf("update session %s: %w (schemaVersion %d): update agentwrap", id, ErrNewer, e.SchemaVersion)
	}
	return e, s.takeIn(e)
}

// write replaces the file of an entry.
func (s *Store) write(e *Entry, d statefile.Durability) error {
	raw, err := Encode(e)
	if err != nil {
		return err
	}
	return wrap("update session", e.LedgerID, statefile.Write(s.EntryPath(e.LedgerID), raw, d))
}

// lock takes the lock of an entry that is there: an id that nobody has must
// not leave a lock file behind.
func (s *Store) lock(id string, wait time.Duration) (*statefile.Lock, error) {
	if !ValidID(id) {
		return nil, ErrNoSession
	}
	if _, err := os.Lstat(s.EntryPath(id)); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoSession
	}
	lock, err := statefile.Acquire(s.lockPath(id), wait)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeDirs(); err == nil {
			lock, err = statefile.Acquire(s.lockPath(id), wait)
		}
	}
	return lock, err
}

// Remove deletes an entry for which still holds true, read under its lock, and
// what waits for it.
func (s *Store) Remove(id string, still func(*Entry) bool) (removed bool, err error) {
	lock, err := s.lock(id, time.Second)
	if err != nil {
		return false, wrap("remove session", id, err)
	}
	e, err := s.readWritable(id)
	if err != nil || !still(e) {
		lock.Release()
		return false, err
	}
	defer lock.Discard()
	if err := s.dropPending(id); err != nil {
		return false, wrap("remove session", id, err)
	}
	return true, wrap("remove session", id, statefile.Remove(s.EntryPath(id)))
}

// SetAside moves a damaged entry's file out of the way, with the facts that
// wait for it, and returns where to.
func (s *Store) SetAside(id string, now time.Time) (string, error) {
	lock, err := s.lock(id, time.Second)
	if err != nil {
		return "", wrap("set aside session", id, err)
	}
	defer lock.Discard()
	if _, err := s.readFile(id); !errors.Is(err, ErrDamaged) {
		return "", fmt.Errorf("set aside session %s: its entry is not damaged", id)
	}
	if _, err := statefile.SetAside(s.pendingDir(id), s.DamagedDir(), now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", wrap("set aside session", id, err)
	}
	return statefile.SetAside(s.EntryPath(id), s.DamagedDir(), now)
}

// IDs are the ids that have a file, in no order. No ledger is no ids.
func (s *Store) IDs() ([]string, error) {
	names, err := readNames(s.sessions())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	ids := names[:0]
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok && ValidID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func wrap(what, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, id, err)
}
