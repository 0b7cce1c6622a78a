// Package deliver hands the messages that wait for a session over to it: by the
// hook at a turn's end while it works, typed at its prompt while it is idle. A
// message is marked as offered before it is handed over, and leaves the queue
// once it was seen to have arrived: it is never sent twice, and one of which
// nothing was seen is told, not sent again (docs/runstore.md, "Messages").
package deliver

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"agentwrap/internal/runstore"
)

// Desk is what messages are handed over from.
type Desk struct {
	Store *runstore.FileStore
	Now   func() time.Time
}

// stopsInARow is how many ends of a turn in a row may go on with a message:
// Claude Code overrides the next one.
const stopsInARow = 8

// introduction tells the model whose words a hook hands over.
const introduction = "Message from the user:\n"

// wire is a message's text as it is handed over.
func wire(q runstore.Queued) string {
	if q.OfferedBy == runstore.WayStop {
		return introduction + q.Text
	}
	return typed(q.Text)
}

// Moment is the end of a turn, or another moment at which a hook tells of a
// conversation.
type Moment struct {
	SessionID  string
	Transcript string // the conversation's file, "" where it is not known
	// Again tells that this end of a turn follows one that a hook had go on.
	Again bool
	// Prompt is what the session was just asked, as its hook tells.
	Prompt string
}

// AtStop is the text that a session is to go on with at the end of its turn, ""
// for none. What was handed over before is settled first.
func (d Desk) AtStop(m Moment) (text string, err error) {
	if !d.waits(m.SessionID) {
		return "", nil
	}
	var log journal
	err = d.Store.UpdateQueue(m.SessionID, func(queue []runstore.Queued) ([]runstore.Queued, error) {
		log, text = nil, ""
		queue = log.settle(queue, m, true)
		before, err := d.Store.CountStop(m.SessionID, m.Again)
		if err != nil || before >= stopsInARow {
			return queue, err
		}
		if at := next(queue); at >= 0 {
			d.offer(&queue[at], runstore.WayStop, m.Transcript)
			log.add(queue[at], "offered")
			text = wire(queue[at])
		}
		return queue, nil
	})
	if err != nil {
		return "", err
	}
	d.write(m.SessionID, log)
	return text, nil
}

// Settle looks which messages that were handed over have arrived. over tells
// that this is a moment by which they would have: those of which nothing is seen
// are unconfirmed from now on.
func (d Desk) Settle(m Moment, over bool) error {
	if !d.waits(m.SessionID) {
		return nil
	}
	var log journal
	err := d.Store.UpdateQueue(m.SessionID, func(queue []runstore.Queued) ([]runstore.Queued, error) {
		log = nil
		return log.settle(queue, m, over), nil
	})
	if err == nil {
		d.write(m.SessionID, log)
	}
	return err
}

// waits tells, at the cost of one look, whether anything waits for a session.
func (d Desk) waits(sessionID string) bool {
	queue, err := d.Store.Queue(sessionID)
	return err != nil || len(queue) > 0
}

// next is the first message that was not offered yet, -1 for none. As long as
// one is on its way, none is.
func next(queue []runstore.Queued) int {
	if slices.ContainsFunc(queue, func(q runstore.Queued) bool { return q.OfferedAt != "" && !q.Unconfirmed }) {
		return -1
	}
	return slices.IndexFunc(queue, func(q runstore.Queued) bool { return q.OfferedAt == "" })
}

func (d Desk) offer(q *runstore.Queued, way, transcript string) {
	q.OfferedAt, q.OfferedBy, q.Transcript = d.Now().UTC().Format(time.RFC3339), way, transcript
	if st, err := os.Stat(transcript); err == nil {
		q.Size = st.Size()
	} else if !errors.Is(err, fs.ErrNotExist) {
		q.Transcript = "" // what may stand in it already cannot be told
	}
}

// journal is what happened to messages, for the event log.
type journal []runstore.Event

func (j *journal) add(q runstore.Queued, what string) {
	*j = append(*j, runstore.Event{ID: q.ID, Type: runstore.EventQueue, Phase: what})
}

// settle takes what has arrived out of a queue.
func (j *journal) settle(queue []runstore.Queued, m Moment, over bool) []runstore.Queued {
	kept := queue[:0:0]
	for _, q := range queue {
		switch {
		case q.OfferedAt == "":
		case m.Prompt != "" && same(m.Prompt, wire(q)), seen(q, m.Transcript):
			j.add(q, "delivered")
			continue
		case over && !q.Unconfirmed:
			q.Unconfirmed = true
			j.add(q, "unconfirmed")
		}
		kept = append(kept, q)
	}
	return kept
}

// write logs what happened. The log is information: what cannot be written is
// not.
func (d Desk) write(sessionID string, log journal) {
	for _, ev := range log {
		if d.Store.AppendEvent(sessionID, ev) != nil {
			return
		}
	}
}

// Queue puts a message behind those that wait.
func (d Desk) Queue(sessionID, text string) (runstore.Message, error) {
	m, err := d.Store.AppendMessage(sessionID, text)
	if err == nil {
		d.write(sessionID, journal{{ID: m.ID, Type: runstore.EventQueue, Phase: "queued"}})
	}
	return m, err
}

// Drop takes a message out of the queue.
func (d Desk) Drop(sessionID, which string) (runstore.Message, error) {
	m, err := d.Store.DropMessage(sessionID, which)
	if err == nil {
		d.write(sessionID, journal{{ID: m.ID, Type: runstore.EventQueue, Phase: "dropped"}})
	}
	return m, err
}
