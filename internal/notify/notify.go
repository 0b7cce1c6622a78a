// Package notify tells the user of what happened to a session: once for each
// entry into a condition, never by a timer and never twice (docs/ledger.md,
// "Notices").
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"agentwrap/internal/present"
	"agentwrap/internal/settings"
	"agentwrap/internal/statefile"
)

// fileLimit bounds notified.json, in bytes.
const fileLimit = 8 << 20

// Notifier tells the user by the means that are there.
type Notifier struct {
	// Root is the ledger's folder.
	Root     string
	Settings settings.Notify
	// Environ is the environment of the program that tells.
	Environ []string
	Now     func() time.Time
}

// Tell decides for all sessions and tells what is new. What is told is written
// down first: a notice may be lost with the machine, but never comes twice.
// What cannot be delivered goes into the log. told are the notices.
func (n *Notifier) Tell(ctx context.Context, subjects []Subject) (told []Notice, err error) {
	before, torn, err := n.read()
	if err != nil {
		return nil, err
	}
	notices, after := Decide(subjects, before, n.Settings, n.Now())
	if err := n.write(before, after); err != nil || torn {
		return nil, err
	}
	for _, notice := range notices {
		n.Say(ctx, notice)
	}
	return notices, nil
}

// Say tells one thing, whether it was told before or not: for who remembers
// that by himself. What cannot be delivered goes into the log.
func (n *Notifier) Say(ctx context.Context, notice Notice) {
	notice.Summary, notice.Text = present.Line(notice.Summary), present.Line(notice.Text)
	if err := n.deliver(ctx, notice); err != nil {
		n.log(notice, err)
	}
}

func (n *Notifier) path() string { return filepath.Join(n.Root, "notified.json") }

// read reads what was told. A torn file is set aside, and what it may have held
// counts as told: nothing is told twice.
func (n *Notifier) read() (told Told, torn bool, err error) {
	raw, err := statefile.Read(n.path(), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return Told{}, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read what was told: %w", err)
	}
	if err := json.Unmarshal(raw, &told); err == nil {
		return told, false, nil
	}
	if _, err := statefile.SetAside(n.path(), filepath.Join(n.Root, "damaged"), n.Now()); err != nil {
		return nil, true, fmt.Errorf("set what was told aside: %w", err)
	}
	return Told{}, true, nil
}

func (n *Notifier) write(before, after Told) error {
	old, err := json.Marshal(before)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(after)
	if err != nil || slices.Equal(old, raw) {
		return err
	}
	if err := statefile.Write(n.path(), append(raw, '\n'), statefile.Soon); err != nil {
		return fmt.Errorf("write what was told: %w", err)
	}
	return nil
}

// deliverWithin is how long the program that tells may take.
const deliverWithin = 5 * time.Second

var errNobody = errors.New("no notify command is set and notify-send is not there")

func (n *Notifier) deliver(ctx context.Context, notice Notice) error {
	command := n.Settings.Command
	if len(command) == 0 {
		path, err := exec.LookPath("notify-send")
		if err != nil {
			return errNobody
		}
		command = []string{path, "--app-name=agent-sessions", "--"}
	}
	ctx, cancel := context.WithTimeout(ctx, deliverWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], notice.Summary, notice.Text)...)
	cmd.Env = append(slices.Clip(n.Environ), "AGENT_SESSIONS_EVENT="+notice.Event, "AGENT_SESSIONS_ID="+notice.LedgerID)
	cmd.Dir, cmd.WaitDelay = "/", time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	return nil
}

// logLimit bounds the log, in bytes; the one before it is kept.
const logLimit = 1 << 20

// log writes a notice down that could not be delivered. Where even that fails
// there is nowhere left to tell it.
func (n *Notifier) log(notice Notice, why error) {
	dir := filepath.Join(n.Root, "log")
	line := fmt.Sprintf("%s %s %s: %s (not delivered: %s)\n", n.Now().UTC().Format(time.RFC3339), notice.Event, notice.Summary, notice.Text, present.Line(why.Error()))
	if err := statefile.MakeDir(dir); err == nil {
		_ = statefile.AppendBounded(filepath.Join(dir, "notices.log"), []byte(line), logLimit)
	}
}
