package rescue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentwrap/internal/git"
	"agentwrap/internal/statefile"
)

// ref is the name that the snapshot gets.
func (req Request) ref() string {
	if req.Live {
		return livePrefix + req.LedgerID + "/" + req.Now.UTC().Format(liveTimeStamp)
	}
	return refPrefix + req.LedgerID
}

// nestedOf is where the refs of the repositories inside stand, for the ref of a
// snapshot: one numbered from 1 for each.
func nestedOf(ref string) string {
	for _, prefix := range []string{refPrefix, livePrefix} {
		if rest, ok := strings.CutPrefix(ref, prefix); ok {
			return nestedPrefix + rest
		}
	}
	return nestedPrefix + "unknown"
}

// known is a ref that a repository has.
type known struct{ ref, commit, parent string }

// readRefs gives the repository's snapshots, the newest first.
func readRefs(ctx context.Context, repo *git.Repository) ([]known, error) {
	out, err := repo.Run(ctx, git.Command{Args: []string{
		"for-each-ref", "--sort=-committerdate", "--format=%(refname) %(objectname) %(parent)", refPrefix, livePrefix,
	}})
	if err != nil {
		return nil, err
	}
	var refs []known
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) == 3 { // more is a merge, which is none of ours
			refs = append(refs, known{f[0], f[1], f[2]})
		}
	}
	return refs, nil
}

func find(refs []known, ref string) (known, bool) {
	for _, k := range refs {
		if k.ref == ref {
			return k, true
		}
	}
	return known{}, false
}

// staleLock is how old the lock file of one of our refs must be to be a killed
// git's: creating a ref takes a millisecond.
const staleLock = time.Minute

var errExists = errors.New("the ref is there already")

// create makes the ref, which must not be there, and flushes it to the disk.
func create(ctx context.Context, repo *git.Repository, ref, commit string) error {
	update := git.Command{Args: []string{"update-ref", ref, commit, ""}, Finish: true}
	_, err := repo.Run(ctx, update)
	if err != nil && removeStaleLock(repo, ref) {
		_, err = repo.Run(ctx, update)
	}
	if err != nil {
		if _, gone := repo.Run(ctx, git.Command{Args: []string{"rev-parse", "--verify", "--quiet", ref}}); gone == nil {
			return errExists
		}
		return err
	}
	return flushRef(filepath.Join(repo.CommonDir, ref), repo.CommonDir)
}

// removeStaleLock removes what a git that was killed while it created one of
// our refs left behind; no one else takes this lock.
func removeStaleLock(repo *git.Repository, ref string) bool {
	lock := filepath.Join(repo.CommonDir, ref+".lock")
	info, err := os.Lstat(lock)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()).Abs() < staleLock {
		return false
	}
	return os.Remove(lock) == nil
}

// flushRef makes a loose ref durable: its bytes, and its name in each folder up
// to top. Where refs are kept otherwise there is no such file, and git has done it.
func flushRef(path, top string) error {
	if err := statefile.SyncFile(path); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("the ref %s is there but may not be on the disk yet: %w", path, err)
	}
	for dir := filepath.Dir(path); len(dir) > len(top); dir = filepath.Dir(dir) {
		if err := statefile.SyncDir(dir); err != nil {
			return fmt.Errorf("the ref %s is there but may not be on the disk yet: %w", path, err)
		}
	}
	return nil
}
