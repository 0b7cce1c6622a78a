package cleanup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/internal/ledger"
	"agentwrap/internal/procscan"
	"agentwrap/internal/statefile"
)

// Cleaner looks after the scratch folders below one root. Several may be at
// work at once.
type Cleaner struct {
	Root      string // of the scratch folders
	LeaseRoot string
	Ledger    *ledger.Store
	Now       time.Time
	Rest      time.Duration
}

// Outcome is what became of one folder.
type Outcome struct {
	Decision
	Removed bool
	// Failed is why a folder that was due is still there, whole or in part.
	Failed error
}

// Plan is what Clean would do now: a decision for each folder. It changes
// nothing. No root is no folders.
func (c Cleaner) Plan() ([]Decision, error) {
	root, err := c.open()
	if root == nil {
		return nil, err
	}
	defer root.Close()
	return c.plan(root)
}

// Clean carries out the plan of this moment: every folder that is due goes. It
// looks again at each right before, and leaves those that changed, that a
// process has entered, or that were replaced meanwhile. It waits at most wait
// for another's clean-up of the same root (statefile.ErrLocked after it).
func (c Cleaner) Clean(wait time.Duration) ([]Outcome, error) {
	root, err := c.open()
	if root == nil {
		return nil, err
	}
	defer root.Close()
	lock, err := statefile.Acquire(filepath.Join(c.Root, ".clean.lock"), wait)
	if err != nil {
		return nil, fmt.Errorf("clean scratch folders: %w", err)
	}
	defer lock.Release()
	decisions, err := c.plan(root)
	if err != nil {
		return nil, err
	}
	return c.carryOut(root, decisions), nil
}

func (c Cleaner) open() (*os.File, error) {
	path, err := filepath.EvalSymlinks(c.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the scratch root: %w", err)
	}
	return os.Open(path)
}

func (c Cleaner) plan(root *os.File) ([]Decision, error) {
	found, err := folders(root)
	if err != nil {
		return nil, err
	}
	for i := range found {
		survey(root, &found[i])
	}
	return c.decide(found), nil
}

// decide gathers the facts and decides on each folder. Processes are searched
// only for those that nothing else keeps.
func (c Cleaner) decide(found []Folder) []Decision {
	facts := Facts{Now: c.Now, Rest: c.Rest}
	facts.Owned, facts.LedgerErr = owned(c.Ledger)
	facts.Leased, facts.LeasesErr = leased(c.LeaseRoot)
	var due []Folder
	for _, f := range found {
		if Decide(f, facts).State == Due {
			due = append(due, f)
		}
	}
	facts.InUse, facts.InUseErr = inUse(due)
	decisions := make([]Decision, len(found))
	for i, f := range found {
		decisions[i] = Decide(f, facts)
	}
	return decisions
}

// inUse tells who is in which of the folders.
func inUse(due []Folder) (map[statefile.FileID]string, error) {
	if len(due) == 0 {
		return nil, nil
	}
	trees := make([]procscan.Tree, len(due))
	for i, f := range due {
		trees[i] = procscan.Tree{Path: f.Path, Dev: f.ID.Dev, Inodes: f.inodes}
	}
	who, err := procscan.Inside(trees)
	if err != nil {
		return nil, err
	}
	used := map[statefile.FileID]string{}
	for i, f := range due {
		if who[i] != "" {
			used[f.ID] = who[i]
		}
	}
	return used, nil
}

// carryOut removes what is due. A folder first gets a name that nobody knows,
// so that nobody can enter it by the one it had; then it is looked at again;
// then it goes, or gets its name back.
func (c Cleaner) carryOut(root *os.File, decisions []Decision) []Outcome {
	outcomes := make([]Outcome, len(decisions))
	var hidden []Folder
	var at []int
	for i, d := range decisions {
		outcomes[i].Decision = d
		if d.State != Due && !d.Begun {
			continue
		}
		f, err := hide(root, d.Folder)
		if err != nil {
			outcomes[i].Failed = err
			continue
		}
		survey(root, &f)
		hidden, at = append(hidden, f), append(at, i)
	}
	for n, again := range c.decide(hidden) {
		o := &outcomes[at[n]]
		o.State, o.Why = again.State, again.Why
		if again.State == Due {
			o.Failed = statefile.RemoveTree(root, again.Name, o.ID)
			o.Removed = o.Failed == nil
		} else {
			o.Failed = unhide(root, again.Folder)
		}
	}
	return outcomes
}

// hide renames a folder, if it is still the one that was looked at.
func hide(root *os.File, f Folder) (Folder, error) {
	if f.Begun {
		return f, nil
	}
	name := begunName(f)
	if err := rename(root, f.Name, name); err != nil {
		return f, err
	}
	was := f.ID
	f.Name, f.Path = name, filepath.Join(root.Name(), name)
	if err := identify(root, &f); err != nil {
		return f, errors.Join(err, unhide(root, f))
	}
	if f.ID != was {
		return f, errors.Join(fmt.Errorf("remove scratch folder %s: %w", f.Home.Name, statefile.ErrReplaced), unhide(root, f))
	}
	return f, nil
}

// unhide gives a folder its name back. Where the name has been taken since, the
// folder stays beside it.
func unhide(root *os.File, f Folder) error {
	if err := rename(root, f.Name, f.Home.Name); err != nil {
		return fmt.Errorf("scratch folder %s stays as %s: %w", f.Home.Name, f.Path, err)
	}
	return nil
}

func rename(root *os.File, from, to string) error {
	err := unix.Renameat2(int(root.Fd()), from, int(root.Fd()), to, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: filepath.Join(root.Name(), from), New: to, Err: err}
	}
	return nil
}
