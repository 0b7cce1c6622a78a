package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"agentwrap/internal/statefile"
)

// Brief is what is known of a finished entry that was not read in full.
type Brief struct {
	LedgerID    string
	SessionID   string // "" for none
	ResumedFrom string // "" for none
	StartedAt   Stamp
	FinishedAt  Stamp
	// EndedBy is "" where that is not known.
	EndedBy string
	Rescued bool
}

// Damaged is a file that holds no entry, and why.
type Damaged struct {
	ID  string
	Err error
}

// Loaded is a ledger read in one go, each list by id.
type Loaded struct {
	// Entries are those read in full.
	Entries []*Entry
	// Briefs are the finished ones that were not.
	Briefs  []Brief
	Damaged []Damaged
}

// Load reads all entries, the facts that wait for them taken in. Unless all is
// set, an entry that has finished and is not lost comes as a Brief, at the cost
// of little more than reading its file: a ledger holds ten thousand of those.
// An entry that goes while it reads is not there.
func (s *Store) Load(all bool) (Loaded, error) {
	ids, err := s.IDs()
	if err != nil {
		return Loaded{}, err
	}
	waiting, err := s.PendingIDs()
	if err != nil {
		return Loaded{}, err
	}
	slices.Sort(ids)
	l := loader{store: s, dir: s.sessions(), all: all, waiting: waiting}
	parts := make([]Loaded, min(readers(), len(ids)/readerShare+1))
	var group sync.WaitGroup
	for i := range parts {
		from, to := i*len(ids)/len(parts), (i+1)*len(ids)/len(parts)
		group.Go(func() { parts[i] = l.load(ids[from:to]) })
	}
	group.Wait()
	var loaded Loaded
	for _, p := range parts {
		loaded.Entries = append(loaded.Entries, p.Entries...)
		loaded.Briefs = append(loaded.Briefs, p.Briefs...)
		loaded.Damaged = append(loaded.Damaged, p.Damaged...)
	}
	return loaded, nil
}

// readerShare is how many entries are worth a reader of their own.
const readerShare = 64

func readers() int { return min(runtime.GOMAXPROCS(0), 4) }

type loader struct {
	store   *Store
	dir     string
	all     bool
	waiting []string
}

func (l loader) load(ids []string) Loaded {
	part := Loaded{Briefs: make([]Brief, 0, len(ids))}
	var buf []byte
	path := make([]byte, 0, len(l.dir)+maxIDLen+8)
	for _, id := range ids {
		path = append(append(append(append(path[:0], l.dir...), filepath.Separator), id...), ".json"...)
		raw, err := statefile.ReadInto(buf, string(path), entryLimit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			part.Damaged = append(part.Damaged, Damaged{id, wrap("read session", id, err)})
			continue
		}
		buf = raw
		waits := slices.Contains(l.waiting, id)
		if b, ok := skim(raw, id); ok && !l.all && !waits {
			part.Briefs = append(part.Briefs, b)
			continue
		}
		e, err := decodeAs(id, raw)
		if err == nil && waits {
			err = l.store.WithPending(e)
		}
		if err != nil {
			part.Damaged = append(part.Damaged, Damaged{id, err})
			continue
		}
		part.Entries = append(part.Entries, e)
	}
	return part
}

var (
	entryStart = []byte("{\n  \"schemaVersion\": 1,\n")
	entryEnd   = []byte("\n}\n")
)

// skim finds the few fields of a Brief in a finished entry as this program
// writes it, without decoding it. It says no to whatever it is not sure of: an
// entry that is open, was lost, or is written in another way.
func skim(raw []byte, id string) (b Brief, ok bool) {
	if !bytes.HasPrefix(raw, entryStart) || !bytes.HasSuffix(raw, entryEnd) {
		return b, false
	}
	// The fields stand in the order of the contract, those of other versions
	// behind all others: each is searched for from the one before it.
	f := skimmer{rest: raw, ok: true}
	b.LedgerID = f.text("ledgerId")
	b.StartedAt = f.stamp("startedAt")
	b.SessionID = f.text("sessionId")
	b.FinishedAt = f.stamp("finishedAt")
	b.Rescued = f.text("rescuedAt") != ""
	interactive := f.value("interactive")
	b.EndedBy = f.text("endedBy")
	b.ResumedFrom = f.text("resumedFrom")
	lost := b.EndedBy == EndedByLoss && string(interactive) != "false"
	return b, f.ok && !b.FinishedAt.IsZero() && b.LedgerID == id && !lost
}

// skimmer finds one field after the other.
type skimmer struct {
	rest []byte
	ok   bool
}

// value is a field's value as it stands, up to the end of its line. A line
// break inside of a string is escaped, so that each field has its own line.
func (f *skimmer) value(name string) []byte {
	at := bytes.Index(f.rest, []byte("\n  \""+name+"\": "))
	if at < 0 {
		f.ok = false
		return nil
	}
	f.rest = f.rest[at+len("\n  \"")+len(name)+len("\": "):]
	end := bytes.IndexByte(f.rest, '\n')
	if end < 0 {
		f.ok = false
		return nil
	}
	return bytes.TrimSuffix(f.rest[:end], []byte{','})
}

// text is a string, "" for null; one with anything escaped in it is given up.
func (f *skimmer) text(name string) string {
	v := f.value(name)
	if string(v) == "null" {
		return ""
	}
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' || bytes.IndexByte(v, '\\') >= 0 {
		f.ok = false
		return ""
	}
	return string(v[1 : len(v)-1])
}

func (f *skimmer) stamp(name string) (s Stamp) {
	v := f.value(name)
	if string(v) == "null" {
		return s
	}
	if s.UnmarshalJSON(v) != nil {
		f.ok = false
	}
	return s
}
