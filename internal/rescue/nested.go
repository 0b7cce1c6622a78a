package rescue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentwrap/internal/git"
)

// maxDepth bounds how deep repositories in repositories are followed.
const maxDepth = 8

// lookLinks adds the nested repositories that git status did not list.
func (s *survey) lookLinks(links []string) {
	for _, path := range links {
		if !slices.Contains(s.nested, path) {
			s.nested = append(s.nested, path)
		}
	}
}

// saveNested saves the repositories that stand in repo's working tree, each as
// a commit in the store of the outermost, and fills in which commit each is at.
// prefix is repo's own path below the outermost.
func (j *job) saveNested(ctx context.Context, repo *git.Repository, s *survey, prefix string, depth int) error {
	at := map[string]string{}
	for _, path := range s.nested {
		nested, err := repo.OpenNested(ctx, path)
		if err == nil && depth == maxDepth {
			err = errors.New("repositories are nested too deep")
		}
		if _, gone := os.Lstat(filepath.Join(repo.Top, path, ".git")); gone != nil {
			continue // a submodule that is not checked out
		}
		if err == nil {
			if nested.CommonDir == repo.CommonDir {
				continue // another working tree of the same repository
			}
			err = ownStore(repo, nested)
		}
		if err != nil {
			s.skip(path, "a nested repository: %v", err)
			continue
		}
		inner, err := j.saveOne(ctx, nested, filepath.Join(prefix, path), s.records(path), depth)
		if err != nil {
			return err
		}
		at[path] = inner.head
		for _, n := range inner.skipped {
			s.skip(filepath.Join(path, n.Path), "%s", n.Why)
		}
		for _, n := range inner.raw {
			s.raw = append(s.raw, Note{filepath.Join(path, n.Path), n.Why})
		}
	}
	s.fillGitlinks(at)
	return nil
}

// ownStore makes sure that a nested repository's objects are its own: in its
// tree, or where a submodule's are. What stands in the tree must not be able to
// have another repository's files copied into this one.
func ownStore(outer, nested *git.Repository) error {
	info, err := os.Lstat(filepath.Join(nested.Top, ".git"))
	if err != nil {
		return err
	}
	own := info.IsDir() && nested.GitDir == filepath.Join(nested.Top, ".git")
	for _, dir := range []string{outer.GitDir, outer.CommonDir} {
		own = own || strings.HasPrefix(nested.GitDir, filepath.Join(dir, "modules")+"/")
	}
	if !own || nested.CommonDir != nested.GitDir {
		return errors.New("its git folder is elsewhere")
	}
	if _, err := os.Lstat(filepath.Join(nested.GitDir, "objects/info/alternates")); err == nil {
		return errors.New("it borrows objects from elsewhere")
	}
	return nil
}

// records says that HEAD and the index have the nested repository at the commit
// that it is at.
func (s *survey) records(path string) bool {
	return !slices.ContainsFunc(s.items, func(i item) bool { return i.path == path })
}

// fillGitlinks gives the items of nested repositories their commits and drops
// those that have none or have not moved.
func (s *survey) fillGitlinks(at map[string]string) {
	kept := s.items[:0]
	for _, i := range s.items {
		if i.mode == modeGitlink && i.oid == "" {
			i.oid = at[i.path]
			if i.oid == "" {
				continue
			}
		}
		if !i.unchanged() {
			kept = append(kept, i)
		}
	}
	s.items = kept
}

// saveOne saves one nested repository, if there is anything in it that is
// nowhere else.
// recorded says that the outer repository records the commit that it is at.
func (j *job) saveOne(ctx context.Context, repo *git.Repository, path string, recorded bool, depth int) (survey, error) {
	s, _, err := j.survey(ctx, repo)
	if err != nil {
		return survey{}, err
	}
	if err := j.saveNested(ctx, repo, &s, path, depth+1); err != nil {
		return survey{}, err
	}
	if len(s.items) == 0 {
		if elsewhere, err := elsewhere(ctx, repo, s.head); recorded || err != nil || elsewhere {
			return s, err
		}
	}
	c := commit{message: fmt.Sprintf("rescued: %s of %s\n", oneLine(path, 60), j.req.LedgerID), when: j.req.Now.Unix(), items: s.items}
	if s.head != "" {
		if c.tree, err = j.baseTree(ctx, repo, &s); err != nil || c.tree == "" {
			return s, err
		}
	}
	m, err := startImporter(ctx, repo)
	if err != nil {
		return survey{}, err
	}
	defer m.close()
	oid, err := m.write(c)
	if err != nil {
		return survey{}, err
	}
	d, err := startDiffer(ctx, repo, repo.Top)
	if err != nil {
		return survey{}, err
	}
	defer d.close()
	if _, err := verify(ctx, repo, d, s.items, oid); err != nil {
		return survey{}, err
	}
	return s, j.bring(ctx, repo, path, oid)
}

// elsewhere says that a clean nested repository need not be saved: it has no
// commit, or a remote has the one it is at.
func elsewhere(ctx context.Context, repo *git.Repository, head string) (bool, error) {
	if head == "" {
		return true, nil
	}
	out, err := repo.Run(ctx, git.Command{Args: []string{"for-each-ref", "--count=1", "--contains=" + head, "refs/remotes"}})
	return len(out) > 0, err
}

// baseTree is the tree of the nested repository's own commit, which goes along
// so that the snapshot is whole by itself; "" where it is over the limit.
func (j *job) baseTree(ctx context.Context, repo *git.Repository, s *survey) (string, error) {
	out, err := repo.Run(ctx, git.Command{Args: []string{"ls-tree", "-r", "-l", "-z", s.head}})
	if err != nil {
		return "", err
	}
	var size int64
	for record := range strings.SplitSeq(string(out), "\x00") {
		if f := strings.Fields(record); len(f) > 3 {
			n, _ := strconv.ParseInt(f[3], 10, 64)
			size += n
		}
	}
	if size > j.left {
		s.items = nil
		s.skip("", "a nested repository with %s of files, over what was left of the limit of %s for a snapshot", bytesOf(size), bytesOf(j.req.Limits.Total))
		return "", nil
	}
	j.left -= size
	tree, err := repo.Run(ctx, git.Command{Args: []string{"rev-parse", "--verify", s.head + "^{tree}"}})
	return strings.TrimSpace(string(tree)), err
}

// bring copies a commit with all it needs into the outermost repository and
// names it there.
func (j *job) bring(ctx context.Context, from *git.Repository, path, oid string) error {
	err := quarantined(j.repo, func(dir string) error { return transfer(ctx, from, j.repo, oid, dir) })
	if err != nil {
		return err
	}
	ref := fmt.Sprintf("%s/%d", nestedOf(j.req.ref()), len(j.nested)+1)
	if _, err := j.repo.Run(ctx, git.Command{Args: []string{"update-ref", ref, oid}, Finish: true}); err != nil {
		return err
	}
	j.nested = append(j.nested, Nested{Path: path, Ref: ref, Commit: oid})
	return flushRef(filepath.Join(j.repo.CommonDir, ref), j.repo.CommonDir)
}

// transfer puts a commit of one repository, with all it needs, into a quarantine
// of another.
func transfer(ctx context.Context, from, to *git.Repository, rev, quarantine string) error {
	pack, err := from.Start(ctx, git.Command{NoIndex: true, Args: []string{"pack-objects", "--revs", "--stdout", "-q"}})
	if err != nil {
		return err
	}
	go func() {
		fmt.Fprintln(pack.Stdin, rev)
		pack.Stdin.Close()
	}()
	_, err = to.Run(ctx, git.Command{GitDir: quarantine, Args: []string{"index-pack", "--stdin"}, Stdin: pack.Stdout})
	if err != nil {
		pack.Kill()
		return err
	}
	return pack.Wait()
}
