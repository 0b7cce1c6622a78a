package rescue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentwrap/internal/git"
)

// Why a snapshot was not restored.
var (
	// ErrUncommitted: there is uncommitted work in the way, and Force was not set.
	ErrUncommitted = errors.New("there is uncommitted work in the way")
	// ErrNoPlace: neither the session's folder nor a main checkout is there.
	ErrNoPlace = errors.New("no working tree to restore into")
	// ErrConflict: the work is in the tree, with conflicts to be resolved.
	ErrConflict = errors.New("the work is in the tree, with conflicts")
	// ErrOtherRepository: the folder is in a repository that has not got it.
	ErrOtherRepository = errors.New("this repository does not hold the snapshot")
)

// Restored is what a restore came to.
type Restored struct {
	// Dir is the top of the working tree that the work is in.
	Dir string
	// Paths are what was put there, relative to Dir. Conflicts are those of them
	// that have to be resolved, with ErrConflict.
	Paths, Conflicts []string
	// Nested are the repositories inside that got theirs back; NotNested could
	// not, with why and what to do.
	Nested    []string
	NotNested []Note
}

// Restore puts a snapshot's work into a working tree, as cherry-pick -n does:
// into the index and onto the disk, with HEAD where it was. dir is any folder of
// the tree, [Place] finds one. force lets it go on over uncommitted work; even
// then none of it is overwritten. Bytes come back as they were saved: the user's
// filters are not run.
func Restore(ctx context.Context, runner *git.Runner, s Snap, dir string, force bool) (Restored, error) {
	repo, err := runner.Open(ctx, dir)
	if err != nil {
		return Restored{}, fmt.Errorf("restore of %s: %w", s.Ref, err)
	}
	r := Restored{Dir: repo.Top}
	if _, err := repo.Run(ctx, git.Command{NoIndex: true, Args: []string{"cat-file", "-e", s.Commit + "^{commit}"}}); err != nil {
		return r, fmt.Errorf("%s: %w", repo.Top, ErrOtherRepository)
	}
	d, err := startDiffer(ctx, repo, repo.Top)
	if err != nil {
		return r, err
	}
	defer d.close()
	saved, order, err := d.changes(s.Commit)
	if err != nil {
		return r, err
	}
	r.Paths = order
	if err := inTheWay(ctx, repo, saved, force); err != nil {
		return r, err
	}
	if len(order) > 0 {
		if err := pick(ctx, repo, s.Commit, &r); err != nil {
			return r, err
		}
		if err := errors.Join(materialise(ctx, repo, saved), exactly(ctx, repo, s.Raw, saved)); err != nil {
			return r, err
		}
	}
	restoreNested(ctx, runner, repo, s, force, &r)
	return r, nil
}

// pick is git cherry-pick -n. Partial clones may fetch what a merge needs.
func pick(ctx context.Context, repo *git.Repository, commit string, r *Restored) error {
	_, err := repo.Run(ctx, git.Command{Args: []string{"cherry-pick", "-n", commit}, Network: true, Finish: true})
	if err == nil {
		return nil
	}
	out, uerr := repo.Run(ctx, git.Command{Args: []string{"diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff"}})
	if uerr != nil || len(out) == 0 {
		return err
	}
	r.Conflicts = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	return fmt.Errorf("%s: %w", repo.Top, ErrConflict)
}

// inTheWay refuses a tree with changes to tracked files, or with other files
// where the snapshot has some. Git itself overwrites no work, but for files that
// it ignores: so files of other bytes are refused whatever force says.
func inTheWay(ctx context.Context, repo *git.Repository, saved map[string]entry, force bool) error {
	if err := othersInTheWay(ctx, repo, saved); err != nil || force {
		return err
	}
	st, _, err := readStatus(ctx, repo)
	if err != nil {
		return err
	}
	for _, c := range st.changes {
		if _, ours := saved[c.path]; c.kind != '?' || ours {
			return fmt.Errorf("%s: %w: %s", repo.Top, ErrUncommitted, c.path)
		}
	}
	return nil
}

func othersInTheWay(ctx context.Context, repo *git.Repository, saved map[string]entry) error {
	out, err := repo.Run(ctx, git.Command{Args: []string{"ls-files", "-z", "--cached"}})
	if err != nil {
		return err
	}
	tracked := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		tracked[path] = true
	}
	root, err := os.OpenRoot(repo.Top)
	if err != nil {
		return err
	}
	defer root.Close()
	for path, e := range saved {
		if e.mode == modeNone || e.mode == modeGitlink || tracked[path] {
			continue
		}
		if other := otherAt(root, path, e, repo.Format, tracked); other != "" {
			return fmt.Errorf("%s: %w: %s", repo.Top, ErrUncommitted, other)
		}
	}
	return nil
}

// otherAt is an untracked file that stands where e shall be, with other bytes,
// "" for none.
func otherAt(root *os.Root, path string, e entry, format string, tracked map[string]bool) string {
	info, err := root.Lstat(path)
	switch {
	case err != nil:
		return "" // nothing there, or a file above it, which is a path of its own
	case !info.IsDir():
		if has, err := oidAt(root, path, info, format); err == nil && has == e.oid {
			return ""
		}
		return path
	}
	found := ""
	_ = fs.WalkDir(root.FS(), path, func(inside string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !tracked[inside] {
			found = inside
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// oidAt is the object that a file's bytes, or a link's target, make.
func oidAt(root *os.Root, path string, info fs.FileInfo, format string) (string, error) {
	i := item{path: path, seen: info}
	if info.Mode()&fs.ModeSymlink != 0 {
		i.mode = modeLink
	}
	c, err := readItem(root, i, format, 0)
	return c.oid, err
}

// exactly puts the bytes that were saved as they are onto the disk where git's
// conversions made others of them and no merge had a part in it.
func exactly(ctx context.Context, repo *git.Repository, raw []Note, saved map[string]entry) error {
	if len(raw) == 0 {
		return nil
	}
	root, err := os.OpenRoot(repo.Top)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, n := range raw {
		e := saved[n.Path]
		info, err := root.Lstat(n.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if has, err := oidAt(root, n.Path, info, repo.Format); err != nil || has == e.oid || !merged(ctx, repo, n.Path, e.oid) {
			continue
		}
		content, err := repo.Run(ctx, git.Command{NoIndex: true, Args: []string{"cat-file", "blob", e.oid}})
		if err != nil {
			return err
		}
		if err := root.WriteFile(n.Path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// merged says that the index has just this object at a path.
func merged(ctx context.Context, repo *git.Repository, path, oid string) bool {
	out, err := repo.Run(ctx, git.Command{Args: []string{"--literal-pathspecs", "ls-files", "--stage", "-z", "--", path}})
	f := strings.Fields(string(out))
	return err == nil && len(f) > 1 && f[1] == oid
}

// materialise puts onto the disk what a sparse checkout keeps off it.
func materialise(ctx context.Context, repo *git.Repository, saved map[string]entry) error {
	if repo.Setting("core.sparsecheckout") != "true" {
		return nil
	}
	var absent strings.Builder
	for path, e := range saved {
		if e.mode == modeNone || e.mode == modeGitlink {
			continue
		}
		if _, err := os.Lstat(filepath.Join(repo.Top, path)); errors.Is(err, os.ErrNotExist) {
			absent.WriteString(path + "\x00")
		}
	}
	if absent.Len() == 0 {
		return nil
	}
	_, err := repo.Run(ctx, git.Command{
		Args:  []string{"update-index", "--no-skip-worktree", "-z", "--stdin"},
		Stdin: strings.NewReader(absent.String()),
	})
	if err != nil {
		return err
	}
	_, err = repo.Run(ctx, git.Command{
		Args: []string{"checkout-index", "-z", "--stdin"}, Stdin: strings.NewReader(absent.String()),
	})
	return err
}

// restoreNested gives the repositories inside their work back, where they are.
func restoreNested(ctx context.Context, runner *git.Runner, outer *git.Repository, s Snap, force bool, r *Restored) {
	for _, n := range s.Nested {
		note := func(why string) { r.NotNested = append(r.NotNested, Note{n.Path, why}) }
		repo, err := outer.OpenNested(ctx, n.Path)
		if err != nil {
			note(fmt.Sprintf("no repository is there now: its files are in the commit %s", n.Ref))
			continue
		}
		if err := restoreInto(ctx, runner, outer, repo, n.Ref, force); err != nil {
			note(err.Error())
			continue
		}
		r.Nested = append(r.Nested, n.Path)
	}
}

// restoreInto copies a nested repository's snapshot into its own store, which
// may be another than it was, and restores it there.
func restoreInto(ctx context.Context, runner *git.Runner, outer, inner *git.Repository, ref string, force bool) error {
	oid, err := outer.Run(ctx, git.Command{NoIndex: true, Args: []string{"rev-parse", "--verify", ref}})
	if err != nil {
		return err
	}
	err = quarantined(inner, func(dir string) error { return transfer(ctx, outer, inner, ref, dir) })
	if err != nil {
		return err
	}
	_, err = Restore(ctx, runner, Snap{Ref: ref, Commit: strings.TrimSpace(string(oid))}, inner.Top, force)
	return err
}

// Place finds the working tree that a snapshot belongs in: its session's own
// where that is still there, else the main checkout of its repository.
func Place(ctx context.Context, runner *git.Runner, s Snap) (string, error) {
	for _, dir := range []string{s.CWD, s.Main} {
		if dir == "" {
			continue
		}
		repo, err := runner.Open(ctx, dir)
		if err != nil {
			continue
		}
		if _, err := repo.Run(ctx, git.Command{NoIndex: true, Args: []string{"cat-file", "-e", s.Commit}}); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s: %w: %q is gone; name one with --into DIR", s.Ref, ErrNoPlace, s.CWD)
}
