// Package focus keeps what each agent session of a working tree is doing now,
// and which ticket it holds: notes of one machine, outside of the repository,
// for the other sessions and their person to read (docs/runstore.md, "Focus",
// "Claims").
package focus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentwrap/internal/caller"
	"agentwrap/internal/statefile"
)

// StaleAfter is how long a session may be silent before its record is dimmed.
const StaleAfter = 20 * time.Minute

// textLimit bounds each text of a record, in bytes; recordLimit its file.
const (
	textLimit   = 4 << 10
	recordLimit = 64 << 10
)

// Record is what one session is doing (docs/runstore.md, "Focus"). UpdatedAt is
// RFC 3339.
type Record struct {
	ID        string `json:"id"`
	TicketID  string `json:"ticket_id,omitempty"`
	Focus     string `json:"focus"`
	Reasoning string `json:"reasoning,omitempty"`
	Model     string `json:"model,omitempty"`
	Host      string `json:"host,omitempty"`
	PID       int    `json:"pid,omitempty"`
	UpdatedAt string `json:"updated_at"`
}

// Age is how long ago the record was updated; ok is false where it says no time.
func (r Record) Age(now time.Time) (age time.Duration, ok bool) {
	at, err := time.Parse(time.RFC3339, r.UpdatedAt)
	return now.Sub(at), err == nil
}

// Stale tells a record that has not been updated for StaleAfter, or at a time
// that cannot be read.
func (r Record) Stale(now time.Time) bool {
	age, ok := r.Age(now)
	return !ok || age >= StaleAfter
}

// Update is a partial update of a record: a nil field stays as it is.
type Update struct{ Focus, Reasoning, TicketID, Model *string }

// ErrNothing is returned for an update that says nothing a reader could use.
var ErrNothing = errors.New("one of focus, why and ticket is needed")

// Store is the records and claims of one working tree. Many processes may use
// it at once.
type Store struct{ dir string }

// Open is the store of a working tree below a ledger's root. It touches nothing
// on disk.
func Open(ledgerRoot, tree string) Store {
	if real, err := filepath.EvalSymlinks(tree); err == nil {
		tree = real
	}
	sum := sha256.Sum256([]byte(tree))
	name := safe(filepath.Base(tree), 60) + "-" + hex.EncodeToString(sum[:6])
	return Store{filepath.Join(ledgerRoot, "focus", name)}
}

// Dir is where the records are, made or not.
func (s Store) Dir() string { return s.dir }

// Path is where a session's record is.
func (s Store) Path(id string) string { return filepath.Join(s.dir, id+".json") }

// ID makes a record's id out of any name: letters, digits, '_' and '-' stay,
// others become '-'. One that is longer than 48 characters is cut, and told
// apart by the last 8 of them.
func ID(name string) string { return safe(name, 48) }

func safe(name string, most int) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if len(id) > most {
		sum := sha256.Sum256([]byte(name))
		id = id[:most-9] + "-" + hex.EncodeToString(sum[:4])
	}
	if id == "" {
		return "session"
	}
	return id
}

// DefaultID is the id of the calling session: its row's, else what the CLI's
// own variable says, else the host and the process that called.
func DefaultID(who caller.Look, host string) string {
	if row := who.Row(); row != nil {
		return ID(row.LedgerID)
	}
	if id, _ := who.Conversation(); id != "" {
		return ID(id)
	}
	return ID(host + "-" + strconv.Itoa(who.PPID))
}

// Read is the record of a session; found is false where there is none.
func (s Store) Read(id string) (r Record, found bool, err error) {
	raw, err := statefile.Read(s.Path(ID(id)), recordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("read focus %s: %w", s.Path(ID(id)), err)
	}
	return r, true, nil
}

// Load are all records, newest first, those without a time last. What cannot be
// read is passed over and comes back as unreadable.
func (s Store) Load() (records []Record, unreadable []error, err error) {
	list, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list focus records: %w", err)
	}
	for _, d := range list {
		name, isRecord := strings.CutSuffix(d.Name(), ".json")
		if !isRecord || d.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		r, found, err := s.readNamed(name)
		switch {
		case err != nil:
			unreadable = append(unreadable, err)
		case found:
			records = append(records, r)
		}
	}
	slices.SortStableFunc(records, func(a, b Record) int { return b.time().Compare(a.time()) })
	return records, unreadable, nil
}

// Unreadable is what of all working trees' records and claims cannot be read, for
// doctor.
func Unreadable(ledgerRoot string) []error {
	trees, err := os.ReadDir(filepath.Join(ledgerRoot, "focus"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []error{fmt.Errorf("list focus records: %w", err)}
	}
	var all []error
	for _, d := range trees {
		s := Store{filepath.Join(ledgerRoot, "focus", d.Name())}
		_, records, err := s.Load()
		_, claims, cerr := s.Claims()
		for _, e := range slices.Concat(records, claims, []error{err, cerr}) {
			if e != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// readNamed reads a file of the folder. One that names another session is
// foreign.
func (s Store) readNamed(name string) (Record, bool, error) {
	if ID(name) != name {
		return Record{}, false, fmt.Errorf("read focus %s: %q is no session's name", s.Path(name), name)
	}
	r, found, err := s.Read(name)
	if err == nil && found && r.ID != name {
		err = fmt.Errorf("read focus %s: it is the record of %.80q", s.Path(name), r.ID)
	}
	return r, found, err
}

func (r Record) time() time.Time {
	at, _ := time.Parse(time.RFC3339, r.UpdatedAt) // the zero time for none
	return at
}

// Save merges an update into the record of a session and makes it where there is
// none. A damaged record is an error and stays.
func (s Store) Save(id string, u Update, by Record, now time.Time) (Record, error) {
	if !said(u.Focus) && !said(u.Reasoning) && !said(u.TicketID) {
		return Record{}, ErrNothing
	}
	for _, text := range []*string{u.Focus, u.Reasoning, u.TicketID, u.Model} {
		if text != nil && len(*text) > textLimit {
			return Record{}, fmt.Errorf("save focus of %s: a text has %d bytes, at most %d are kept", id, len(*text), textLimit)
		}
	}
	var r Record
	err := s.locked(func() (err error) {
		if r, _, err = s.Read(id); err != nil {
			return err
		}
		r.ID, r.Host, r.PID, r.UpdatedAt = ID(id), by.Host, by.PID, now.UTC().Format(time.RFC3339)
		for _, f := range []struct{ to, from *string }{{&r.Focus, u.Focus}, {&r.Reasoning, u.Reasoning}, {&r.TicketID, u.TicketID}, {&r.Model, u.Model}} {
			if f.from != nil {
				*f.to = *f.from
			}
		}
		return write(s.Path(r.ID), r)
	})
	return r, err
}

func said(text *string) bool { return text != nil && *text != "" }

// Remove deletes the record of a session; one that is not there is no error.
func (s Store) Remove(id string) error {
	if err := statefile.Remove(s.Path(ID(id))); err != nil {
		return fmt.Errorf("remove focus: %w", err)
	}
	return nil
}

// lockWait bounds how long a change waits for others in the same tree.
const lockWait = 5 * time.Second

// locked makes the folder and does something while nobody else changes it.
func (s Store) locked(do func() error) error {
	for _, dir := range []string{filepath.Dir(filepath.Dir(s.dir)), filepath.Dir(s.dir), s.dir} {
		if err := statefile.MakeDir(dir); err != nil {
			return err
		}
	}
	lock, err := statefile.Acquire(filepath.Join(s.dir, ".lock"), lockWait)
	if err != nil {
		return err
	}
	defer lock.Release()
	return do()
}

func write(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return statefile.Write(path, append(raw, '\n'), statefile.Soon)
}
