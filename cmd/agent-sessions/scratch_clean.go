package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/present"
	"agentwrap/internal/procscan"
	"agentwrap/internal/scratch"
	"agentwrap/internal/scratch/cleanup"
	"agentwrap/internal/settings"
	"agentwrap/internal/statefile"
)

// scratchWait is how long a clean-up by hand waits for one that is under way.
const scratchWait = 30 * time.Second

func newScratchListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:     "list",
		Short:   "all scratch folders: whose, how large, how old",
		Long:    "Lists the scratch folders with their session, state, size, the time since they last changed, and why each is kept.",
		Example: "  agent-sessions scratch list",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runScratchList(a, asJSON) },
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runScratchList(a *app, asJSON bool) error {
	c, err := a.scratchCleaner()
	if err != nil {
		return err
	}
	decisions, err := c.Plan()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printScratchJSON(decisions)
	}
	t := present.Table{Columns: []present.Column{
		{Title: "SESSION", Min: 12}, {Title: "STATE"}, {Title: "SIZE", Right: true}, {Title: "CHANGED", Right: true}, {Title: "WHY", Min: 10, Drop: 1},
	}}
	limit := uint64(a.settings().Scratch.NoticeBytes)
	for _, d := range decisions {
		t.Rows = append(t.Rows, scratchRow(d, c.Now, limit))
	}
	return t.Write(a.out, a.screen())
}

func scratchRow(d cleanup.Decision, now time.Time, limit uint64) []present.Cell {
	size, changed := present.Cell{Text: "?"}, present.Cell{Text: "?"}
	if d.Surveyed {
		size = present.Cell{Text: present.Bytes(d.Bytes), Raw: fmt.Sprint(d.Bytes)}
		changed = present.Cell{Text: present.Age(now.Sub(d.Changed)), Raw: d.Changed.UTC().Format(time.RFC3339)}
	}
	if d.Bytes > limit {
		size.Tone = present.Alert
	}
	return []present.Cell{{Text: d.Session}, {Text: string(d.State), Tone: scratchTones[d.State]}, size, changed, {Text: d.Why}}
}

var scratchTones = map[cleanup.State]present.Tone{
	cleanup.Live: present.Good, cleanup.InUse: present.Good, cleanup.Resting: present.Dim, cleanup.Due: present.Dim, cleanup.Unproved: present.Notice,
}

// scratchItem is a folder in `scratch list --json` and `scratch clean --json`.
// bytes and changed are null where the folder could not be looked into; removed
// and error are there only once something was carried out.
type scratchItem struct {
	Path    string  `json:"path"`
	Session string  `json:"session"`
	State   string  `json:"state"`
	Why     string  `json:"why"`
	Bytes   *uint64 `json:"bytes"`
	Changed *string `json:"changed"`
	Removed *bool   `json:"removed,omitempty"`
	Error   string  `json:"error,omitempty"`
}

func scratchItemOf(d cleanup.Decision) scratchItem {
	item := scratchItem{Path: d.Path, Session: d.Session, State: string(d.State), Why: d.Why}
	if d.Surveyed {
		changed := d.Changed.UTC().Format(time.RFC3339)
		item.Bytes, item.Changed = &d.Bytes, &changed
	}
	return item
}

func (a *app) printScratchJSON(decisions []cleanup.Decision) error {
	items := make([]scratchItem, len(decisions))
	for i, d := range decisions {
		items[i] = scratchItemOf(d)
	}
	return printJSON(a, items)
}

func newScratchCleanCommand(a *app) *cobra.Command {
	var dryRun, asJSON bool
	cmd := command(&cobra.Command{
		Use:   "clean",
		Short: "remove the scratch folders of sessions that ended days ago",
		Long: "Removes the scratch folders of sessions that have ended and in which nothing changed for some days, as the sweep\n" +
			"does by itself. What a process has open, what a lease names and what cannot be proved to have ended stays.\n" +
			"Every folder is looked at again right before it goes.",
		Example: "  agent-sessions scratch clean --dry-run\n  agent-sessions scratch clean",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if dryRun {
				return runScratchPlan(a, asJSON)
			}
			return runScratchClean(a, asJSON)
		},
	}, exitRefused)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be removed and what kept, and change nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runScratchPlan(a *app, asJSON bool) error {
	c, err := a.scratchCleaner()
	if err != nil {
		return err
	}
	decisions, err := c.Plan()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printScratchJSON(decisions)
	}
	for _, d := range decisions {
		a.printScratchDecision(d)
	}
	return nil
}

// printScratchDecision is one line of the plan, before and while it is carried
// out.
func (a *app) printScratchDecision(d cleanup.Decision) {
	verb := "keep"
	if d.State == cleanup.Due {
		verb = "remove"
	}
	fmt.Fprintf(a.out, "%s\t%s\t%s: %s\n", verb, present.Line(d.Path), d.State, present.Line(d.Why))
}

func runScratchClean(a *app, asJSON bool) error {
	if err := procscan.InHostNamespace(); err != nil {
		return refuse("scratch clean: the processes that use a folder cannot be seen from here: %v", err)
	}
	c, err := a.scratchCleaner()
	if err != nil {
		return err
	}
	outcomes, err := c.Clean(scratchWait)
	if errors.Is(err, statefile.ErrLocked) {
		return refuse("scratch clean: another clean-up is under way; try again when it is done")
	}
	if err != nil {
		return err
	}
	items := make([]scratchItem, len(outcomes))
	for i, o := range outcomes {
		items[i] = scratchItemOf(o.Decision)
		items[i].Removed = &o.Removed
		if o.Failed != nil {
			items[i].Error = o.Failed.Error()
			err = errors.Join(err, fmt.Errorf("scratch clean: %w", o.Failed))
		}
		if !asJSON {
			a.printScratchDecision(o.Decision)
		}
	}
	if asJSON {
		err = errors.Join(printJSON(a, items), err)
	}
	return err
}

// scratchCleaner looks after the scratch folders of this environment.
func (a *app) scratchCleaner() (cleanup.Cleaner, error) {
	store, err := a.store()
	if err != nil {
		return cleanup.Cleaner{}, err
	}
	root, err := scratch.Root(a.getenv)
	if err != nil {
		return cleanup.Cleaner{}, err
	}
	leases, err := scratch.LeaseRoot(a.getenv)
	rest := time.Duration(a.settings().Scratch.Days) * 24 * time.Hour
	return cleanup.Cleaner{Root: root, LeaseRoot: leases, Ledger: store, Now: a.now(), Rest: rest}, err
}

// settings are the user's. What is wrong with them is told by doctor.
func (a *app) settings() settings.Settings {
	s, _ := settings.Read(a.getenv)
	return s
}
