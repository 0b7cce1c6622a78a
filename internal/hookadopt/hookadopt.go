// Package hookadopt is the journey of one hook call of an agent CLI: it finds
// the session that called, makes its record where there is none, takes what the
// event says into the ledger and answers the CLI. `agent-sessions hook` is all
// of it. Whatever fails here, the CLI goes on (docs/hooks.md).
package hookadopt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"agentwrap/internal/enrol"
	"agentwrap/internal/ledger"
	"agentwrap/internal/runtimes"
)

// A call takes at most 100 ms of its own time. What it has to say must be known
// and what it has to write must have its lock by these moments after its
// beginning; what comes later is not said, and is left for the next writer.
const (
	speakUntil = 40 * time.Millisecond
	lockUntil  = 75 * time.Millisecond
	pruneUntil = 90 * time.Millisecond
)

// Call is one call of a hook by a CLI.
type Call struct {
	// CLI is the word after `hook`, one of CLIs.
	CLI     string
	Stdin   io.Reader
	Stdout  io.Writer
	Environ []string // KEY=VALUE
	Now     func() time.Time
	// Speakers are asked in order at the beginning of a conversation.
	Speakers []Speaker
	// Messages are those that wait for the session. nil: none is handed over.
	Messages Messages
	// Watch is told what changes in the ledger; nil for nobody.
	Watch func(before, after *ledger.Entry)
	// Prune removes what ended long ago, at the end of a session, as long as
	// more says that there is time.
	Prune func(store *ledger.Store, now time.Time, more func() bool) error
}

// CLIs are the words that Call.CLI may be.
func CLIs() []string {
	var names []string
	for name := range dialects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Run carries out a call of one of CLIs. It never fails: what goes wrong stands
// in the ledger's log.
func Run(c Call) {
	h := &hook{Call: c, dialect: *dialects[c.CLI], env: environment(c.Environ), began: c.Now(), order: ledger.EventOrder()}
	h.guard(h.run)
	if out := h.out(); len(out) > 0 {
		_, _ = h.Stdout.Write(append(out, '\n'))
	}
	if h.ended && h.Prune != nil {
		h.guard(func() error {
			return h.Prune(h.store, h.began, func() bool { return h.Now().Before(h.began.Add(pruneUntil)) })
		})
	}
}

// out is what is printed.
func (h *hook) out() []byte {
	if h.next != "" {
		return h.goOn(h.next)
	}
	return h.answer(h.payload.event, strings.Join(h.said, "\n"))
}

// guard does something that must not fail.
func (h *hook) guard(do func() error) {
	defer func() {
		if r := recover(); r != nil {
			h.log(fmt.Errorf("panic: %v: %s", r, debug.Stack()))
		}
	}()
	if err := do(); err != nil {
		h.log(err)
	}
}

// hook is one call under way.
type hook struct {
	Call
	dialect
	env     environment
	began   time.Time
	order   uint64
	store   *ledger.Store
	payload payload
	said    []string
	ended   bool
	// own tells that the event is of the session's own conversation, which is
	// kept at path, "" where that is not known.
	own  bool
	path string
	// next is the message that the session goes on with.
	next string
}

func (h *hook) run() error {
	root, err := ledger.Root(h.env.get)
	if err != nil {
		return err
	}
	h.store = ledger.Open(root)
	h.store.Watch(h.Call.Watch)
	var unread error
	h.payload, unread = readPayload(h.Stdin)
	return errors.Join(unread, h.adopt())
}

// adopt finds the session and takes the event into its row.
func (h *hook) adopt() error {
	o, err := h.owner(above(os.Getpid()), h.claimed())
	if errors.Is(err, errShared) {
		return h.adoptShared()
	}
	if err != nil {
		return err
	}
	row, process, err := h.find(o)
	if err != nil {
		return err
	}
	fact := h.fact(row, enrol.CWD(o.innermost().PID))
	fact.Process = process
	created := false
	if row == nil {
		if row, created, err = h.enrol(o, fact); err != nil {
			return err
		}
	}
	return h.finish(row, fact, created)
}

// adoptShared is adopt for a call by a service of the CLI. Its environment and
// its ancestors are those of whoever started it and prove nothing.
func (h *hook) adoptShared() error {
	row, err := h.byConversation()
	if err != nil {
		return err
	}
	return h.finish(row, h.fact(row, ""), false)
}

// fact is what the event says of the session of a row (nil for one that is to be
// made) whose process works in cwd, "" for not known.
func (h *hook) fact(row *ledger.Entry, cwd string) ledger.Fact {
	f := ledger.Fact{At: ledger.At(h.began), Order: h.order}
	if row != nil && cwd != "" && cwd != ledger.Value(row.CWD) {
		f.Place = ledger.Ptr(enrol.PlaceOf(cwd))
	}
	m := h.meaning(h.payload)
	path, own := h.transcript(h.payload, h.place(cwd))
	if m.foreign || !own {
		return f
	}
	h.own, h.path = true, path
	if h.payload.conversation != "" {
		f.Conversation = &ledger.Conversation{ID: h.payload.conversation, TranscriptPath: ledger.Known(path)}
	}
	f.Begins, f.Turn, f.End = m.begins, m.turn, m.end
	return f
}

// place is where the files of a session in cwd are.
func (h *hook) place(cwd string) place {
	profile := runtimes.For(h.runtime)
	moved := ""
	if profile.ConfigHomeVar != "" {
		moved = h.env.get(profile.ConfigHomeVar)
	}
	return place{configHome: profile.Folder(moved, h.env.get("HOME")), pattern: profile.Transcripts, cwd: cwd}
}

// finish says what there is to say and writes the fact, unless it is written
// already and nothing was added to it.
func (h *hook) finish(row *ledger.Entry, f ledger.Fact, written bool) error {
	h.ended = f.End != nil
	if f.Begins {
		f.Told, h.said = h.speak(row)
	}
	if h.handOver(row); h.next != "" {
		f.Turn = ledger.TurnIts
	}
	if !written || len(f.Told) > 0 || h.next != "" {
		wait := max(0, h.began.Add(lockUntil).Sub(h.Now()))
		if _, err := h.store.Record(row.LedgerID, f, wait); err != nil {
			return err
		}
	}
	return nil
}
