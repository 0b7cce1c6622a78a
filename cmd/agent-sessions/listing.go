package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"agentwrap/internal/focus"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
)

// listing shows sessions as a table.
type listing struct {
	now   time.Time
	home  string
	short map[string]string // the shortest form of each id that fits no other
	said  map[string]focus.Record
}

func newListing(view *observe.View, a *app) listing {
	l := listing{now: a.now(), home: a.getenv("HOME"), short: map[string]string{}, said: a.focusOf(view.Sessions)}
	var ids []string
	for _, s := range view.Sessions {
		ids = append(ids, s.Entry.LedgerID)
	}
	for _, b := range view.Briefs {
		ids = append(ids, b.LedgerID)
	}
	for _, d := range view.Damaged {
		ids = append(ids, d.ID)
	}
	counts := map[string]int{}
	for _, id := range ids {
		counts[ledger.LastDigits(id)]++
	}
	for _, id := range ids {
		if l.short[id] = ledger.LastDigits(id); counts[ledger.LastDigits(id)] > 1 {
			l.short[id] = id
		}
	}
	return l
}

func (l listing) print(w io.Writer, screen present.Screen, sessions []*observe.Session) error {
	if screen.Terminal && len(sessions) == 0 {
		_, err := fmt.Fprintln(w, "no session lives, and none was lost; 'agent-sessions list --all' shows the finished ones")
		return err
	}
	t := present.Table{Columns: []present.Column{
		{Title: "ID"}, {Title: "STATE"}, {Title: "RUNTIME", Drop: 3}, {Title: "TITLE", Min: 20}, {Title: "WHERE", Min: 10},
		{Title: "TURN", Drop: 4}, {Title: "AGE", Right: true}, {Title: "ACTIVE", Right: true, Drop: 5}, {Title: "DIRTY", Right: true, Drop: 2},
		{Title: "MEM", Right: true, Drop: 7}, {Title: "TTY", Drop: 6},
	}}
	if len(l.said) > 0 {
		t.Columns = append(t.Columns, present.Column{Title: "FOCUS", Min: 12, Drop: 1})
	}
	if !screen.Terminal {
		t.Columns = make([]present.Column, len(fields(nil)))
	}
	for _, s := range sessions {
		if screen.Terminal {
			t.Rows = append(t.Rows, l.row(s))
		} else {
			t.Rows = append(t.Rows, fields(s))
		}
	}
	if err := t.Write(w, screen); err != nil || !screen.Terminal {
		return err
	}
	for _, note := range l.notes(sessions) {
		if _, err := fmt.Fprintln(w, screen.Tint(present.Dim, present.Line(note))); err != nil {
			return err
		}
	}
	return nil
}

// row is a session for people.
func (l listing) row(s *observe.Session) []present.Cell {
	e := s.Entry
	word, tone := stateWord(s)
	weight := present.Plain
	active := ledger.Value(s.LastActiveAt).Time
	if !s.Lost && (s.State == ledger.Finished || l.now.Sub(active) > staleAfter) {
		weight = present.Dim
	}
	cells := []present.Cell{
		{Text: l.short[e.LedgerID], Tone: present.Strong}, {Text: word, Tone: tone}, {Text: e.Runtime}, {Text: titleOf(s)}, {Text: where(s)},
		{Text: ledger.Value(s.Turn)}, {Text: l.since(e.StartedAt)}, {Text: l.since(s.LastActiveAt)}, {Text: dirty(s)}, {Text: memory(s)}, {Text: terminal(e)},
	}
	for i := range cells {
		if cells[i].Tone == present.Plain {
			cells[i].Tone = weight
		}
	}
	if ledger.Value(s.Turn) == ledger.TurnYours {
		cells[5].Tone = present.Notice
	}
	if len(l.said) > 0 {
		cells = append(cells, l.focus(e.LedgerID, weight))
	}
	return cells
}

// focus is what a session said it is doing, dim when that is old.
func (l listing) focus(id string, tone present.Tone) present.Cell {
	r, ok := l.said[id]
	if ok && r.Stale(l.now) {
		tone = present.Dim
	}
	text := r.Focus
	if r.TicketID != "" {
		text = strings.TrimSpace(text + " (" + r.TicketID + ")")
	}
	return present.Cell{Text: text, Tone: tone}
}

// staleAfter is how long a session that nothing happens in is shown as bright
// as the others.
const staleAfter = 24 * time.Hour

// stateWord is a session's state in one plain word.
func stateWord(s *observe.Session) (string, present.Tone) {
	switch {
	case s.Lost:
		return "lost", present.Alert
	case s.State == ledger.AliveWorking:
		return "working", present.Good
	}
	return stateName(string(s.State)), present.Plain
}

// titleOf is what a session is about, as far as is known.
func titleOf(s *observe.Session) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Activity != "":
		return s.Activity
	case s.Entry.TranscriptPath == nil && s.Entry.SessionID == nil && s.Lost:
		return "(started, no transcript)"
	}
	return ""
}

// where is the project and branch, and how many other sessions run in the same
// working tree.
func where(s *observe.Session) string {
	place := ledger.Value(s.Entry.Project)
	if place == "" {
		place = filepath.Base(ledger.Value(s.Entry.CWD))
	}
	if branch := ledger.Value(s.Entry.Branch); branch != "" {
		place += ":" + branch
	}
	if n := len(s.SharedWith); n > 0 {
		place += " +" + strconv.Itoa(n)
	}
	return place
}

// since is how long ago a time lies, in its largest unit.
func (l listing) since(t *ledger.Stamp) string {
	if t == nil {
		return ""
	}
	age, _, _ := strings.Cut(present.Age(l.now.Sub(t.Time)), " ")
	return age
}

// dirty is the number of uncommitted files, "…" where counting takes too long.
func dirty(s *observe.Session) string {
	switch {
	case s.DirtySlow:
		return "…"
	case s.DirtyCount == nil || *s.DirtyCount == 0:
		return ""
	}
	return strconv.Itoa(*s.DirtyCount)
}

func memory(s *observe.Session) string {
	if s.Memory == nil {
		return ""
	}
	return present.Bytes(uint64(*s.Memory))
}

// terminal is the one that a session was typed in.
func terminal(e *ledger.Entry) string {
	tty := e.ClientTTY
	if tty == nil {
		tty = e.TTY
	}
	return strings.TrimPrefix(ledger.Value(tty), "/dev/")
}

// notes stand below the table: each rescue with the way to restore it, and at
// most one hint.
func (l listing) notes(sessions []*observe.Session) []string {
	var notes []string
	lost, expiring := 0, ""
	for _, s := range sessions {
		if s.Lost {
			lost++
		}
		if ref := ledger.Value(s.Entry.RescueRef); ref != "" && s.Lost {
			notes = append(notes, fmt.Sprintf("%s: uncommitted work is safe in %s: %s", l.short[s.Entry.LedgerID], ref, restoreCommand(s.Entry)))
		}
		if at := s.TranscriptExpiresAt; at != nil && at.Sub(l.now) < expiryNotice && s.State != ledger.Finished {
			expiring = fmt.Sprintf("%s: %s itself deletes this conversation in %s", l.short[s.Entry.LedgerID], s.Entry.Runtime, present.Age(at.Sub(l.now)))
		}
	}
	switch {
	case expiring != "":
		notes = append(notes, expiring)
	case lost > 0:
		notes = append(notes, "agent-sessions attach ID gets a lost session back")
	}
	return notes
}

// expiryNotice is how long before a CLI deletes a transcript it is told.
const expiryNotice = 3 * 24 * time.Hour

// fields are a session for programs, in the order that the help gives; without
// a session, as many.
func fields(s *observe.Session) []present.Cell {
	if s == nil {
		s = &observe.Session{Entry: &ledger.Entry{}}
	}
	e := s.Entry
	values := []string{
		e.LedgerID, string(s.State), e.Runtime, s.Title, ledger.Value(e.Project), ledger.Value(e.Branch), ledger.Value(e.CWD),
		stamp(e.StartedAt), stamp(s.LastActiveAt), ledger.Value(s.Turn), "", "", ledger.Value(e.TTY), "",
	}
	if s.DirtyCount != nil {
		values[10] = strconv.Itoa(*s.DirtyCount)
	}
	if s.Memory != nil {
		values[11] = strconv.FormatInt(*s.Memory, 10)
	}
	if s.Lost {
		values[13] = "lost"
	}
	cells := make([]present.Cell, len(values))
	for i, v := range values {
		cells[i].Text = v
	}
	return cells
}

func stamp(t *ledger.Stamp) string {
	if t == nil {
		return ""
	}
	return t.String()
}
