package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Gitlinks gives the paths below Top at which the index records a commit of
// another repository: submodules, and repositories that were added as they
// were. git status would look into each under that repository's own
// configuration and start its programs, so it is told not to
// ([IgnoreNested]), and who needs to know opens each with [Runner.Open].
func (repo *Repository) Gitlinks(ctx context.Context) ([]string, error) {
	if !repo.mayHaveGitlinks() {
		return nil, nil
	}
	out, err := repo.Run(ctx, Command{Args: []string{"ls-files", "--stage", "-z"}})
	if err != nil {
		return nil, err
	}
	var paths []string
	for len(out) > 0 {
		record, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		if bytes.HasPrefix(record, []byte("160000 ")) {
			_, path, _ := bytes.Cut(record, []byte{'\t'})
			paths = append(paths, string(path))
		}
	}
	return paths, nil
}

// mayHaveGitlinks looks for the mode of a gitlink in the bytes of the index
// file, where every version writes it plainly (gitformat-index(5)). It may be
// wrong, so git is asked then; a split index may hide one in its other file.
func (repo *Repository) mayHaveGitlinks() bool {
	names, err := os.ReadDir(repo.GitDir)
	if err != nil || slices.ContainsFunc(names, isSharedIndex) {
		return true
	}
	index, err := os.ReadFile(filepath.Join(repo.GitDir, "index"))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return !bytes.HasPrefix(index, []byte("DIRC")) || bytes.Contains(index, []byte{0, 0, 0o160000 >> 8, 0})
}

func isSharedIndex(d os.DirEntry) bool { return strings.HasPrefix(d.Name(), "sharedindex.") }

// IgnoreNested is git status's flag to look no further into a nested
// repository than to the commit that it is at.
const IgnoreNested = "--ignore-submodules=dirty"

// OpenNested opens the repository at path below Top. One whose working tree is
// elsewhere, by its own configuration or a symbolic link, is none.
func (repo *Repository) OpenNested(ctx context.Context, path string) (*Repository, error) {
	if !filepath.IsLocal(path) {
		return nil, ErrNotRepository
	}
	dir := filepath.Join(repo.Top, path)
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return nil, ErrNotRepository
	}
	nested, err := repo.runner.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	if nested.Top != dir || strings.HasPrefix(repo.GitDir, dir+"/") {
		return nil, ErrNotRepository
	}
	return nested, nil
}
