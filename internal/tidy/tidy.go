// Package tidy removes what sessions that are over have left: scratch folders
// that have rested, and stale context files. The sweep calls it at the end of
// each of its runs (docs/scratch.md, "Clean-up").
package tidy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agentwrap/internal/contextfiles"
	"agentwrap/internal/ledger"
	"agentwrap/internal/scratch"
	"agentwrap/internal/scratch/cleanup"
	"agentwrap/internal/settings"
	"agentwrap/internal/statefile"
)

// Interval is how often there is something to do: each time every scratch
// folder is walked.
const Interval = time.Hour

// Tidier is what a tidying works with.
type Tidier struct {
	Ledger   *ledger.Store
	Getenv   func(string) string
	Settings settings.Scratch
	Now      func() time.Time
}

// Report is what one tidying did.
type Report struct {
	// Scratch are the scratch folders that were removed, Context the context
	// files, by their paths.
	Scratch []string `json:"scratch"`
	Context []string `json:"context"`
	// Large are the folders that have grown over the user's limit since they
	// were last looked at.
	Large []Large `json:"large"`
	// Failed is what could not be done; it is tried again.
	Failed []string `json:"failed"`
}

// Large is a scratch folder that its user should know of.
type Large struct {
	Path    string `json:"path"`
	Session string `json:"session"`
	Bytes   uint64 `json:"bytes"`
}

// Run tidies up where the last time is at least Interval ago; done is false
// where it is not. It may run beside itself.
func (t Tidier) Run() (r Report, done bool, err error) {
	stamp := filepath.Join(t.Ledger.Dir(), "tidied")
	if st, err := os.Lstat(stamp); err == nil && t.Now().Sub(st.ModTime()).Abs() < Interval {
		return r, false, nil
	}
	err = errors.Join(t.scratch(&r), t.context(&r))
	return r, true, errors.Join(err, statefile.Write(stamp, nil, statefile.Lazy))
}

func (t Tidier) scratch(r *Report) error {
	root, err := scratch.Root(t.Getenv)
	if err != nil {
		return err
	}
	leases, err := scratch.LeaseRoot(t.Getenv)
	if err != nil {
		return err
	}
	c := cleanup.Cleaner{Root: root, LeaseRoot: leases, Ledger: t.Ledger, Now: t.Now(), Rest: time.Duration(t.Settings.Days) * 24 * time.Hour}
	outcomes, err := c.Clean(0)
	if errors.Is(err, statefile.ErrLocked) {
		return nil // somebody cleans by hand
	}
	for _, o := range outcomes {
		switch {
		case o.Failed != nil:
			r.Failed = append(r.Failed, o.Failed.Error())
		case o.Removed:
			r.Scratch = append(r.Scratch, o.Path)
		}
	}
	if err != nil {
		return err
	}
	r.Large, err = t.grown(outcomes)
	return err
}

// grown are the folders over the limit that were not so the last time. What is
// over it is written down, so that each is told of once.
func (t Tidier) grown(outcomes []cleanup.Outcome) (grown []Large, err error) {
	path := filepath.Join(t.Ledger.Dir(), "scratch-large.json")
	var known, large []string
	if raw, err := statefile.Read(path, 1<<20); err == nil {
		// A damaged list is begun anew: what is large is told once more.
		_ = json.Unmarshal(raw, &known)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, o := range outcomes {
		if o.Removed || o.Bytes <= uint64(t.Settings.NoticeBytes) {
			continue
		}
		if large = append(large, o.Path); !slices.Contains(known, o.Path) {
			grown = append(grown, Large{o.Path, o.Session, o.Bytes})
		}
	}
	if slices.Equal(known, large) {
		return grown, nil
	}
	raw, err := json.Marshal(large)
	if err != nil {
		return nil, err
	}
	return grown, statefile.Write(path, raw, statefile.Soon)
}

// context cleans the stale context files of every tree that is known to have
// some, and of those that sessions work in.
func (t Tidier) context(r *Report) error {
	trees, err := contextfiles.Trees(t.Ledger.Dir())
	if err != nil {
		return err
	}
	loaded, err := t.Ledger.Load(false)
	if err != nil {
		return err
	}
	if len(loaded.Damaged) > 0 {
		// Whose they are cannot be told.
		return fmt.Errorf("context files are not cleaned: %w", loaded.Damaged[0].Err)
	}
	open := map[string]bool{}
	for _, e := range loaded.Open() {
		for _, id := range t.Ledger.Lineage(e) {
			open[id] = true
		}
		if root := ledger.Value(e.RepoRoot); root != "" && !slices.Contains(trees, root) {
			trees = append(trees, root)
		}
	}
	for _, tree := range trees {
		t.clean(r, tree, open)
	}
	return nil
}

func (t Tidier) clean(r *Report, tree string, open map[string]bool) {
	store := contextfiles.Store{Tree: tree, Now: t.Now}
	cleaned, err := store.CleanStale(func(id string) bool { return open[id] })
	for _, c := range cleaned {
		for _, name := range c.Deleted {
			r.Context = append(r.Context, filepath.Join(c.Plan.Dir, name))
		}
		err = errors.Join(err, c.Err)
	}
	if err != nil {
		r.Failed = append(r.Failed, err.Error())
	}
}
