package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
	"agentwrap/internal/rescue"
)

// details are one session in words, for show.
type details struct {
	*observe.Session
	now time.Time
	// said and waits are what it said it is doing, and the messages that wait.
	said, waits string
}

// detail is one line; without a value it is not shown.
type detail struct{ name, value string }

func (d details) all() []detail {
	e := d.Entry
	lines := []detail{
		{"id", e.LedgerID},
		{"state", d.state()},
		{"because", d.Evidence},
		{"title", d.Title},
		{"activity", d.Activity},
		{"focus", d.said},
		{"turn", ledger.Value(d.Turn)},
		{"messages", d.waits},
		{"folder", ledger.Value(e.CWD)},
		{"repository", d.repository()},
		{"shared with", strings.Join(d.SharedWith, ", ")},
		{"uncommitted", d.uncommitted()},
		{"rescued", d.rescued()},
		{"restore", d.restore()},
		{"started", d.at(e.StartedAt)},
		{"last active", d.at(d.LastActiveAt)},
		{"finished", d.at(e.FinishedAt)},
		{"ended", d.ended()},
		{"launched by", d.launchedBy()},
		{"resumed from", ledger.Value(e.ResumedFrom)},
		{"resumed by", d.ResumedBy()},
		{"terminal", terminal(e)},
		{"process", d.process()},
		{"memory", memory(d.Session)},
		{"account", ledger.Value(e.Account)},
		{"settings in", ledger.Value(e.ConfigHome)},
		{"scratch", ledger.Value(e.Scratch)},
	}
	lines = append(lines, d.conversations()...)
	return append(lines, detail{"get back", d.getBack()})
}

func (d details) state() string {
	word, _ := stateWord(d.Session)
	if name := string(d.State); !strings.EqualFold(word, name) {
		word += " (" + name + ")"
	}
	return word
}

func (d details) at(t *ledger.Stamp) string {
	if t == nil {
		return ""
	}
	return t.String() + ", " + present.Ago(t.Time, d.now)
}

func (d details) repository() string {
	e := d.Entry
	if e.RepoRoot == nil {
		return ""
	}
	text := *e.RepoRoot
	if e.Branch != nil {
		text += ", branch " + *e.Branch
	}
	if ledger.Value(e.Worktree) {
		text += ", a linked worktree"
	}
	return text
}

func (d details) uncommitted() string {
	if d.DirtySlow {
		return "… (git takes too long here)"
	}
	if d.DirtyCount == nil {
		return ""
	}
	return strconv.Itoa(*d.DirtyCount) + " files"
}

func (d details) rescued() string {
	e := d.Entry
	if e.RescueRef == nil {
		return ""
	}
	text := fmt.Sprintf("%s, %d files", *e.RescueRef, len(e.RescuedPaths))
	if n := len(e.RescueSkipped); n > 0 {
		text += fmt.Sprintf(", %d not saved: %s (%s)", n, e.RescueSkipped[0].Path, e.RescueSkipped[0].Why)
	}
	return text
}

func (d details) restore() string {
	if d.Entry.RescueRef == nil || d.Entry.CWD == nil {
		return ""
	}
	return restoreCommand(d.Entry)
}

// restoreCommand brings a rescue back into its working tree, or into the main
// checkout where that is gone.
func restoreCommand(e *ledger.Entry) string {
	checkout, ok := strings.CutSuffix(ledger.Value(e.GitCommonDir), "/.git")
	if !ok {
		checkout = ""
	}
	return rescue.RestoreCommand(placeFor(ledger.Value(e.CWD), checkout), ledger.Value(e.RescueRef))
}

// placeFor is a session's folder, or the main checkout where that is gone.
func placeFor(cwd, main string) string {
	if _, err := os.Stat(cwd); err != nil && main != "" {
		return main
	}
	return cwd
}

func (d details) ended() string {
	e := d.Entry
	var parts []string
	if e.FinishReason != nil {
		parts = append(parts, *e.FinishReason)
	}
	if x := e.ExitStatus; x != nil && x.Code != nil {
		parts = append(parts, fmt.Sprintf("exit status %d", *x.Code))
	} else if x != nil && x.Signal != nil {
		parts = append(parts, "killed by "+unix.SignalName(unix.Signal(*x.Signal)))
	}
	switch ledger.Value(e.EndedBy) {
	case ledger.EndedByUser:
		parts = append(parts, "by its user")
	case ledger.EndedByLoss:
		parts = append(parts, "not by its user")
	}
	return strings.Join(parts, ", ")
}

func (d details) launchedBy() string {
	by, parent := ledger.Value(d.Entry.LaunchedBy), d.Entry.ParentLedgerID
	if parent == nil {
		parent = d.Entry.Parent
	}
	if parent != nil {
		return by + " " + *parent
	}
	return by
}

func (d details) process() string {
	if d.ProcessKey == nil {
		return ""
	}
	return strconv.Itoa(d.Process.PID)
}

// conversations are every conversation that the session carried, the newest
// last.
func (d details) conversations() []detail {
	carried := d.Entry.SessionIDs
	if len(carried) == 0 && d.Entry.SessionID != nil {
		carried = []ledger.Conversation{{ID: *d.Entry.SessionID, TranscriptPath: d.Entry.TranscriptPath}}
	}
	var lines []detail
	for _, c := range carried {
		lines = append(lines, detail{"conversation", strings.TrimSpace(c.ID + " " + ledger.Value(c.TranscriptPath))})
	}
	if at := d.TranscriptExpiresAt; at != nil {
		lines = append(lines, detail{"kept until", at.UTC().Format(time.RFC3339) + ", then " + d.Entry.Runtime + " itself deletes it"})
	}
	return lines
}

func (d details) getBack() string {
	if d.State == ledger.Unknown {
		return ""
	}
	return "agent-sessions attach " + d.Entry.LedgerID
}
