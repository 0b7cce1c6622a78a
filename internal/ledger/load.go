package ledger

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
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

// Loaded is a ledger read in one go.
type Loaded struct {
	// Entries are those read in full, by id.
	Entries []*Entry
	// Briefs are the finished ones that were not, in no order.
	Briefs  []Brief
	Damaged []Damaged
}

// Load reads all entries, the facts that wait for them taken in. Unless all is
// set, an entry that has finished and is not lost comes as a Brief, at the cost
// of little more than reading its file: a ledger holds ten thousand of those.
// An entry that goes while it reads is not there.
func (s *Store) Load(all bool) (Loaded, error) {
	ids, err := s.IDs()
	if err != nil || len(ids) == 0 {
		return Loaded{}, err
	}
	waiting, err := s.PendingIDs()
	if err != nil {
		return Loaded{}, err
	}
	folder, err := statefile.OpenFolder(s.sessions())
	if err != nil {
		return Loaded{}, err
	}
	defer folder.Close()
	l := loader{store: s, folder: folder, all: all, waiting: waiting}
	parts := make([]Loaded, min(readers(), len(ids)/readerShare+1))
	var group sync.WaitGroup
	for i := range parts {
		from, to := i*len(ids)/len(parts), (i+1)*len(ids)/len(parts)
		group.Go(func() { parts[i] = l.load(ids[from:to]) })
	}
	group.Wait()
	loaded := parts[0]
	for _, p := range parts[1:] {
		loaded.Entries = append(loaded.Entries, p.Entries...)
		loaded.Briefs = append(loaded.Briefs, p.Briefs...)
		loaded.Damaged = append(loaded.Damaged, p.Damaged...)
	}
	slices.SortFunc(loaded.Entries, func(a, b *Entry) int { return strings.Compare(a.LedgerID, b.LedgerID) })
	return loaded, nil
}

// readerShare is how many entries are worth a reader of their own.
const readerShare = 64

func readers() int { return min(runtime.GOMAXPROCS(0), 4) }

// glanceSize is more than an entry takes that was not rescued, in bytes.
const glanceSize = 8 << 10

type loader struct {
	store   *Store
	folder  *statefile.Folder
	all     bool
	waiting []string
}

func (l loader) load(ids []string) Loaded {
	part := Loaded{Briefs: make([]Brief, 0, len(ids))}
	buf := make([]byte, glanceSize)
	for _, id := range ids {
		waits := slices.Contains(l.waiting, id)
		if !l.all && !waits {
			raw, err := l.folder.Glance(buf, id+".json")
			if err == nil {
				if b, ok := skim(raw, id); ok {
					part.Briefs = append(part.Briefs, b)
					continue
				}
			}
		}
		switch e, err := l.inFull(id, waits); {
		case errors.Is(err, ErrNoSession):
		case err != nil:
			part.Damaged = append(part.Damaged, Damaged{id, err})
		default:
			part.Entries = append(part.Entries, e)
		}
	}
	return part
}

func (l loader) inFull(id string, waits bool) (*Entry, error) {
	e, err := l.store.readFile(id)
	if err == nil && waits {
		err = l.store.WithPending(e)
	}
	return e, err
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
	if !f.is(keyLedgerID, id) {
		return b, false
	}
	b.LedgerID = id
	b.StartedAt = f.stamp(keyStartedAt)
	b.SessionID = f.text(keySessionID)
	b.FinishedAt = f.stamp(keyFinishedAt)
	b.Rescued = string(f.value(keyRescuedAt)) != "null"
	interactive := f.value(keyInteractive)
	b.EndedBy = f.text(keyEndedBy)
	b.ResumedFrom = f.text(keyResumedFrom)
	lost := b.EndedBy == EndedByLoss && string(interactive) != "false"
	return b, f.ok && !b.FinishedAt.IsZero() && !lost
}

// The fields that skim looks for, as they begin their lines.
var (
	keyLedgerID    = lineOf("ledgerId")
	keyStartedAt   = lineOf("startedAt")
	keySessionID   = lineOf("sessionId")
	keyFinishedAt  = lineOf("finishedAt")
	keyRescuedAt   = lineOf("rescuedAt")
	keyInteractive = lineOf("interactive")
	keyEndedBy     = lineOf("endedBy")
	keyResumedFrom = lineOf("resumedFrom")
)

func lineOf(name string) []byte { return []byte("\n  \"" + name + "\": ") }

// skimmer finds one field after the other.
type skimmer struct {
	rest []byte
	ok   bool
}

// value is a field's value as it stands, up to the end of its line. A line
// break inside of a string is escaped, so that each field has its own line.
func (f *skimmer) value(key []byte) []byte {
	at := bytes.Index(f.rest, key)
	if at < 0 {
		f.ok = false
		return nil
	}
	f.rest = f.rest[at+len(key):]
	end := bytes.IndexByte(f.rest, '\n')
	if end < 0 {
		f.ok = false
		return nil
	}
	return bytes.TrimSuffix(f.rest[:end], []byte{','})
}

// is tells whether a field is that string.
func (f *skimmer) is(key []byte, want string) bool {
	v := f.value(key)
	return len(v) == len(want)+2 && string(v[1:len(v)-1]) == want
}

// text is a string, "" for null; one with anything escaped in it is given up.
func (f *skimmer) text(key []byte) string {
	v := f.value(key)
	switch string(v) {
	case "null":
		return ""
	case `"` + EndedByUser + `"`:
		return EndedByUser
	}
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' || bytes.IndexByte(v, '\\') >= 0 {
		f.ok = false
		return ""
	}
	return string(v[1 : len(v)-1])
}

func (f *skimmer) stamp(key []byte) (s Stamp) {
	v := f.value(key)
	if string(v) == "null" {
		return s
	}
	if s.UnmarshalJSON(v) != nil {
		f.ok = false
	}
	return s
}
