// Package hookconfig edits the hook settings of the agent CLIs, which are other
// programs' files: only our own entries are added, changed or removed, and all
// else keeps its bytes. `agent-sessions hooks` and doctor use it (docs/hooks.md,
// "Installing").
package hookconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"agentwrap/internal/opencodeplugin"
)

// State is what a CLI's settings have of our hooks.
type State string

const (
	Installed State = "installed"
	// Outdated has some, or calls another program or in another form.
	Outdated State = "outdated"
	Absent   State = "absent"
)

// Report is what was found or done for one CLI.
type Report struct {
	CLI   string `json:"cli"`
	File  string `json:"file"`
	State State  `json:"state"`
	// Changed tells that the file was changed.
	Changed bool `json:"changed"`
	// Disabled tells that the settings turn all hooks off, ours too.
	Disabled bool `json:"disabled"`
	// Next is what there is left to do for the user, "" for nothing.
	Next string `json:"next"`
}

// Config is what hooks are installed with.
type Config struct {
	// Program is the absolute path of agent-sessions.
	Program string
	Getenv  func(string) string
}

func find(cli string) (*target, error) {
	i := slices.IndexFunc(targets, func(t *target) bool { return t.cli == cli })
	if i < 0 {
		return nil, fmt.Errorf("%q has no hooks that can be installed: it is one of %v", cli, CLIs())
	}
	return targets[i], nil
}

// Used tells whether a CLI has a folder of its own here.
func (c Config) Used(cli string) bool {
	t, err := find(cli)
	if err != nil {
		return false
	}
	st, err := os.Stat(filepath.Dir(t.file(c.Getenv)))
	return err == nil && st.IsDir() && t.file(c.Getenv) != ""
}

// Program is the name of a CLI's program.
func Program(cli string) string {
	if cli == cursor.cli {
		return "cursor-agent"
	}
	return cli
}

// Status tells what a CLI's settings have. It changes nothing.
func (c Config) Status(cli string) (Report, error) {
	if cli == opencodeCLI {
		return c.plugin(nil)
	}
	t, f, err := c.open(cli)
	if err != nil {
		return Report{}, err
	}
	raw, err := f.read()
	if err != nil {
		return Report{}, err
	}
	return c.report(t, f, raw)
}

// Install puts our hooks into a CLI's settings, or brings those that are there
// up to date. The file as it was without them stays beside it. Doing it twice
// changes nothing; two at once wait for each other.
func (c Config) Install(cli string) (Report, error) {
	if cli == opencodeCLI {
		return c.plugin(c.writePlugin)
	}
	return c.change(cli, func(t *target, _ file, raw []byte) (edition, error) {
		after, err := t.install(raw, c.Program)
		without, uerr := t.uninstall(raw)
		ed := edition{after: after, backup: keepBackup}
		if bytes.Equal(without, raw) {
			ed.backup = takeBackup
		}
		return ed, errors.Join(err, uerr)
	})
}

// Uninstall takes our hooks out of a CLI's settings. A file that nobody has
// changed since the installation is again, byte for byte, what it was before.
func (c Config) Uninstall(cli string) (Report, error) {
	if cli == opencodeCLI {
		return c.plugin(opencodeplugin.Remove)
	}
	if r, err := c.Status(cli); err == nil && r.State == Absent {
		return r, nil // nothing to take out, and no folder to make for it
	}
	return c.change(cli, func(t *target, f file, raw []byte) (edition, error) {
		if before, ok := f.beforeInstall(); ok && t.installs(before, raw, c.Program) {
			return edition{before, dropBackup}, nil
		}
		after, err := t.uninstall(raw)
		return edition{after, takeBackup}, err
	})
}

// installs tells whether raw is what the installation made of before, which
// had nothing of ours.
func (t *target) installs(before, raw []byte, program string) bool {
	if without, err := t.uninstall(before); err != nil || !bytes.Equal(without, before) {
		return false
	}
	after, err := t.install(before, program)
	return err == nil && bytes.Equal(after, raw)
}

func (c Config) change(cli string, edit func(*target, file, []byte) (edition, error)) (Report, error) {
	t, f, err := c.open(cli)
	if err != nil {
		return Report{}, err
	}
	after, changed, err := f.edit(func(raw []byte) (edition, error) { return edit(t, f, raw) })
	if err != nil {
		return Report{}, err
	}
	report, err := c.report(t, f, after)
	report.Changed = changed
	if changed && report.State == Installed {
		report.Next = t.next
	}
	return report, err
}

func (c Config) open(cli string) (*target, file, error) {
	t, err := find(cli)
	if err != nil {
		return nil, file{}, err
	}
	path := t.file(c.Getenv)
	if path == "" {
		return nil, file{}, fmt.Errorf("find the settings of %s: HOME is not set", cli)
	}
	f, err := openFile(path)
	return t, f, err
}

func (c Config) report(t *target, f file, raw []byte) (Report, error) {
	r := Report{CLI: t.cli, File: f.named, State: Absent}
	wanted, err := t.install(raw, c.Program)
	if err != nil {
		return r, f.refuse(err)
	}
	without, err := t.uninstall(raw)
	if err != nil {
		return r, f.refuse(err)
	}
	switch {
	case bytes.Equal(wanted, raw):
		r.State = Installed
	case !bytes.Equal(without, raw):
		r.State = Outdated
	}
	doc, err := t.parse(raw)
	if err != nil {
		return r, f.refuse(err)
	}
	if v := (object{Object: doc.Value.(*hujson.Object)}).member(t.disabledBy); v != nil {
		r.Disabled = v.Value.Kind() == 't'
	}
	return r, nil
}
