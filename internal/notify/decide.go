package notify

import (
	"fmt"
	"maps"
	"time"

	"agentwrap/internal/settings"
)

// Events that a user can be told of.
const (
	// Lost: a session ended against its user's will.
	Lost = "lost"
	// NeedsYou: a session waits for its user.
	NeedsYou = "needs-you"
	// Finished: a long run came to its end.
	Finished = "finished"
	// Large: a scratch folder has grown over the user's limit.
	Large = "large"
)

// Conditions that are remembered between two looks without being told: since
// when a turn, or a run without a screen, goes on.
const (
	working = "working"
	running = "running"
)

// Subject is a session as far as it can be told of.
type Subject struct {
	LedgerID string
	// Name is what the user knows it by: its title, project or runtime.
	Name string
	// Running tells that its process runs, Ended that it has ended.
	Running, Ended bool
	// Lost tells that it ended against its user's will, since LostSince.
	Lost      bool
	LostSince time.Time
	// Yours tells that it is the user's turn, Its that it is the session's, both
	// since TurnAt.
	Yours, Its bool
	TurnAt     time.Time
	// Headless tells a run without a screen.
	Headless  bool
	StartedAt time.Time
	// Attached tells that the user is looking at it.
	Attached bool
}

// Told is what is remembered, by session and event: which entry into the
// condition was told of last.
type Told map[string]map[string]string

// Notice is one thing to tell.
type Notice struct {
	LedgerID string `json:"ledgerId"`
	Event    string `json:"event"`
	Summary  string `json:"summary"`
	Text     string `json:"text"`
}

// Decide tells what to tell, and what to remember instead of told. It is pure:
// the same conditions a second time give no notice.
func Decide(subjects []Subject, told Told, s settings.Notify, now time.Time) ([]Notice, Told) {
	next := Told{}
	var notices []Notice
	for _, sub := range subjects {
		d := decider{Subject: sub, settings: s, now: now, memory: maps.Clone(told[sub.LedgerID])}
		if d.memory == nil {
			d.memory = map[string]string{}
		}
		d.lost()
		d.turn()
		d.run()
		if len(d.memory) > 0 && (!sub.Ended || sub.Lost) {
			next[sub.LedgerID] = d.memory
		}
		notices = append(notices, d.notices...)
	}
	return together(notices), next
}

// decider decides for one session.
type decider struct {
	Subject
	settings settings.Notify
	now      time.Time
	memory   map[string]string
	notices  []Notice
}

// enter tells of an event when its condition is entered: edge names the entry.
func (d *decider) enter(event string, edge time.Time, wanted bool, summary, text string) {
	key := edge.UTC().Format(time.RFC3339)
	if d.memory[event] == key {
		return
	}
	d.memory[event] = key
	if wanted && (d.settings.Attached || !d.Attached) {
		d.notices = append(d.notices, Notice{d.LedgerID, event, summary, text})
	}
}

func (d *decider) lost() {
	if !d.Lost {
		delete(d.memory, Lost)
		return
	}
	// Told once, whatever time later looks give for it.
	if _, known := d.memory[Lost]; !known {
		d.enter(Lost, d.LostSince, d.settings.Lost, "Session lost: "+d.Name, "Bring it back with: agent-sessions attach "+d.LedgerID)
	}
}

// turn: whose turn it is, from the moment it became so. A turn of its own that
// took long ends with "finished", a short one with "needs you".
func (d *decider) turn() {
	began, worked := d.since(working)
	switch {
	case !d.Running:
		delete(d.memory, working)
	case d.Its:
		d.memory[working] = d.TurnAt.UTC().Format(time.RFC3339)
	case d.Yours:
		delete(d.memory, working)
		took := d.TurnAt.Sub(began)
		if worked && took >= d.settings.FinishedAfter && d.settings.Finished {
			d.memory[NeedsYou] = d.TurnAt.UTC().Format(time.RFC3339)
			d.enter(Finished, d.TurnAt, true, "Finished: "+d.Name, fmt.Sprintf("It worked for %d minutes. Go to it with: agent-sessions attach %s", int(took/time.Minute), d.LedgerID))
			return
		}
		d.enter(NeedsYou, d.TurnAt, d.settings.NeedsYou, "Your turn: "+d.Name, "Go to it with: agent-sessions attach "+d.LedgerID)
	}
}

// run: a run without a screen that took long is told of when it has ended.
func (d *decider) run() {
	began, known := d.since(running)
	switch {
	case d.Running && d.Headless && d.now.Sub(d.StartedAt) >= d.settings.FinishedAfter:
		d.memory[running] = d.StartedAt.UTC().Format(time.RFC3339)
	case known && d.Ended:
		delete(d.memory, running)
		if !d.Lost {
			d.enter(Finished, began, d.settings.Finished, "Finished: "+d.Name, "What it did: agent-sessions show "+d.LedgerID)
		}
	}
}

func (d *decider) since(condition string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, d.memory[condition])
	return at, err == nil
}

// manyAtOnce is how many notices of lost sessions become one: a reboot loses
// all of them.
const manyAtOnce = 3

func together(notices []Notice) []Notice {
	var lost, others []Notice
	for _, n := range notices {
		if n.Event == Lost {
			lost = append(lost, n)
		} else {
			others = append(others, n)
		}
	}
	if len(lost) <= manyAtOnce {
		return notices
	}
	all := Notice{Event: Lost, Summary: fmt.Sprintf("%d sessions were lost", len(lost)), Text: "See them with: agent-sessions list. Bring them all back with: agent-sessions reopen --lost"}
	return append([]Notice{all}, others...)
}
