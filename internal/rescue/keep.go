package rescue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/git"
	"agentwrap/internal/statefile"
)

// Diff writes what a snapshot changes: a summary by file, with patch the lines.
// It is text from outside.
func Diff(ctx context.Context, runner *git.Runner, s Snap, patch bool, w io.Writer) error {
	args := []string{"diff-tree", "--root", "--no-commit-id", "-r", "-M", "--no-ext-diff", "--no-textconv", "--stat=100"}
	if patch {
		args = append(args, "--patch")
	}
	p, err := runner.Start(ctx, git.Command{Dir: s.Repository, NoIndex: true, Args: append(args, s.Commit)})
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, p.Stdout); err != nil {
		p.Kill()
		return err
	}
	return p.Wait()
}

// refs are all the refs of a snapshot.
func (s Snap) refs() []string {
	refs := []string{s.Ref}
	for _, n := range s.Nested {
		if strings.HasPrefix(n.Ref, nestedOf(s.Ref)+"/") {
			refs = append(refs, n.Ref)
		}
	}
	return refs
}

// Bundle writes a snapshot with its whole history to a file (git-bundle(1)) that
// needs nothing of the repository. It replaces no file; mode 0600.
func Bundle(ctx context.Context, runner *git.Runner, s Snap, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s: %w", file, fs.ErrExist)
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), ".rescue-bundle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tmp := filepath.Join(dir, "bundle")
	args := append([]string{"bundle", "create", "-q", tmp}, s.refs()...)
	if _, err := runner.Run(ctx, git.Command{Dir: s.Repository, NoIndex: true, Args: args, Network: true}); err != nil {
		return err
	}
	if _, err := runner.Run(ctx, git.Command{Dir: s.Repository, NoIndex: true, Args: []string{"bundle", "verify", "-q", tmp}}); err != nil {
		return err
	}
	return place(tmp, file)
}

// place gives a finished file its name, where there is none, and flushes it to the disk.
func place(tmp, file string) error {
	_ = os.Chmod(tmp, 0o600) // the file system of a stick may know no modes
	if err := statefile.SyncFile(tmp); err != nil {
		return err
	}
	err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, file, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) { // nor how to replace nothing
		err = os.Rename(tmp, file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return statefile.SyncDir(filepath.Dir(file))
}

// Drop deletes a snapshot's refs, those of the repositories inside first, so
// that what is left after a kill is found and dropped again. git gc takes the
// objects away in its time.
func Drop(ctx context.Context, runner *git.Runner, s Snap) error {
	refs := s.refs()
	for n := len(refs) - 1; n >= 0; n-- {
		args := []string{"update-ref", "-d", refs[n]}
		if n == 0 {
			args = append(args, s.Commit)
		}
		if _, err := runner.Run(ctx, git.Command{Dir: s.Repository, NoIndex: true, Args: args, Finish: true}); err != nil {
			return err
		}
	}
	return nil
}
