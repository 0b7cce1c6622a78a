package rescue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

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
	if !mayHaveRefs(repo.CommonDir) {
		return nil, nil
	}
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

// mayHaveRefs looks at where git keeps refs: most repositories have none of ours.
func mayHaveRefs(commonDir string) bool {
	for _, name := range []string{refPrefix, livePrefix, "reftable"} {
		if _, err := os.Stat(filepath.Join(commonDir, name)); err == nil {
			return true
		}
	}
	packed, err := os.ReadFile(filepath.Join(commonDir, "packed-refs"))
	return err == nil && bytes.Contains(packed, []byte(" refs/rescued"))
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

// creator is a git update-ref that is there before there is a commit. It is left
// to finish by itself when this process is killed.
type creator struct{ process *git.Process }

func startCreator(ctx context.Context, repo *git.Repository) (*creator, error) {
	p, err := repo.Start(ctx, git.Command{NoIndex: true, Args: []string{"update-ref", "--stdin"}, Finish: true})
	if err != nil {
		return nil, err
	}
	return &creator{p}, nil
}

func (c *creator) close() { c.process.Kill() }

// create does what `git update-ref ref commit ""` does.
func (c *creator) create(ref, commit string) error {
	_, _ = fmt.Fprintf(c.process.Stdin, "create %s %s\n", ref, commit) // git's end says what went wrong
	return c.process.Wait()
}

// create makes the ref, which must not be there, and flushes it to the disk.
func (j *job) create(ctx context.Context, ref, commit string) error {
	err := j.creator.create(ref, commit)
	if err != nil && removeStaleLock(j.repo, ref) {
		_, err = j.repo.Run(ctx, git.Command{NoIndex: true, Args: []string{"update-ref", ref, commit, ""}, Finish: true})
	}
	if err != nil {
		if _, gone := j.repo.Run(ctx, git.Command{Args: []string{"rev-parse", "--verify", "--quiet", ref}}); gone == nil {
			return errExists
		}
		return err
	}
	return flushRef(filepath.Join(j.repo.CommonDir, ref), j.repo.CommonDir)
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
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var flushing errgroup.Group
	flushing.Go(func() error { return statefile.SyncFile(path) })
	for dir := filepath.Dir(path); len(dir) > len(top); dir = filepath.Dir(dir) {
		flushing.Go(func() error { return statefile.SyncDir(dir) })
	}
	if err := flushing.Wait(); err != nil {
		return fmt.Errorf("the ref %s is there but may not be on the disk yet: %w", path, err)
	}
	return nil
}
