package git

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// Dirty is how much uncommitted work there is in a folder's working tree.
type Dirty struct {
	// Count is the number of lines that git status --porcelain prints.
	Count int
	// Slow says that the time was up before the count was known.
	Slow bool
	// Err is why there is no count: one of [Runner.Open]'s errors.
	Err error
}

// dirtyWorkers is how many folders are looked at at once: more than there are
// cores, so that a few on a hanging disk do not hold up the rest.
const dirtyWorkers = 16

// DirtyCounts counts for each folder, several at a time, and returns when all
// are known or after limit; one that took half of limit, or is not known by
// then, is Slow.
func (r *Runner) DirtyCounts(ctx context.Context, dirs []string, limit time.Duration) map[string]Dirty {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	counts := make(map[string]Dirty, len(dirs))
	for _, dir := range dirs {
		counts[dir] = Dirty{Slow: true}
	}
	type counted struct {
		dir string
		Dirty
	}
	todo, done := make(chan string, len(counts)), make(chan counted, len(counts))
	for dir := range counts {
		todo <- dir
	}
	close(todo)
	for range min(dirtyWorkers, len(counts)) {
		go func() {
			for dir := range todo {
				done <- counted{dir, r.dirty(ctx, dir, limit/2)}
			}
		}()
	}
	for range counts {
		select {
		case c := <-done:
			counts[c.dir] = c.Dirty
		case <-ctx.Done(): // a git that cannot even be killed, on a dead network disk, is not waited for
			return counts
		}
	}
	return counts
}

func (r *Runner) dirty(ctx context.Context, dir string, limit time.Duration) Dirty {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	count, err := r.DirtyCount(ctx, dir)
	if err != nil && ctx.Err() != nil {
		return Dirty{Slow: true}
	}
	return Dirty{Count: count, Err: err}
}

// DirtyCount counts the uncommitted paths of the working tree that dir is in,
// as `git --no-optional-locks -C dir status --porcelain` lists them, without
// starting a program that the repository names.
func (r *Runner) DirtyCount(ctx context.Context, dir string) (int, error) {
	repo, err := r.Open(ctx, dir)
	if err != nil {
		return 0, err
	}
	out, err := repo.Run(ctx, Command{Dir: dir, Args: []string{"status", "--porcelain", IgnoreNested}})
	if err != nil {
		return 0, err
	}
	nested, err := repo.dirtyNested(ctx, out)
	return bytes.Count(out, []byte{'\n'}) + nested, err
}

// dirtyNested counts the submodules with uncommitted work that status, told to
// look into none, did not list.
func (repo *Repository) dirtyNested(ctx context.Context, status []byte) (int, error) {
	links, err := repo.Gitlinks(ctx)
	count := 0
	for _, path := range links {
		if bytes.Contains(status, []byte(" "+path+"\n")) {
			continue
		}
		nested, err := repo.OpenNested(ctx, path)
		if isNone(err) {
			continue
		} else if err != nil {
			return count, err
		}
		if n, err := nested.runner.DirtyCount(ctx, nested.Top); err != nil {
			return count, err
		} else if n > 0 {
			count++
		}
	}
	return count, err
}

// isNone says that there is no working tree to look at.
func isNone(err error) bool {
	return errors.Is(err, ErrNoDir) || errors.Is(err, ErrNotRepository) || errors.Is(err, ErrNoTree) || errors.Is(err, ErrForeign)
}
