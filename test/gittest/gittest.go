// Package gittest makes throwaway repositories with the real git for tests, and
// takes the fingerprint of a working tree, so that a test can show that nothing
// in it was touched.
package gittest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/test/isolate"
)

// Environ is an environment with a throwaway HOME and nothing of git's in it.
func Environ(t testing.TB) []string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		isolate.Missing(t, "git")
	}
	return []string{
		"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
		"GIT_ALLOW_PROTOCOL=file",
	}
}

// Repo is a repository's working tree.
type Repo struct {
	testing.TB
	Dir string
	Env []string
}

// Init makes a repository without a commit, on the branch main.
func Init(t testing.TB, args ...string) *Repo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{TB: t, Dir: filepath.Join(dir, "repo"), Env: Environ(t)}
	if err := os.Mkdir(r.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

// New makes a repository with one commit of a.txt, dir/b.txt and an executable.
func New(t testing.TB, args ...string) *Repo {
	t.Helper()
	r := Init(t, args...)
	r.Write("a.txt", "a, first\n")
	r.Write("dir/b.txt", "b, first\n")
	r.Write("run.sh", "#!/bin/sh\n")
	r.Chmod("run.sh", 0o755)
	r.Commit("first")
	return r
}

// At is the same environment in another folder, such as a linked worktree.
func (r *Repo) At(dir string) *Repo { return &Repo{TB: r.TB, Dir: dir, Env: r.Env} }

// Path is a path in the working tree.
func (r *Repo) Path(name string) string { return filepath.Join(r.Dir, name) }

// Git runs git in the working tree and gives what it printed; it must succeed.
func (r *Repo) Git(args ...string) string {
	r.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.Fatal(err)
	}
	return out
}

// Try is Git where failing is an answer too.
func (r *Repo) Try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %q: %w: %s", args, err, stderr.String())
	}
	return string(out), err
}

// Write writes a file, with its folders.
func (r *Repo) Write(name, content string) {
	r.Helper()
	if err := os.MkdirAll(filepath.Dir(r.Path(name)), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(r.Path(name), []byte(content), 0o644); err != nil {
		r.Fatal(err)
	}
}

// Chmod changes a file's mode.
func (r *Repo) Chmod(name string, mode fs.FileMode) {
	r.Helper()
	if err := os.Chmod(r.Path(name), mode); err != nil {
		r.Fatal(err)
	}
}

// Remove deletes a file or folder.
func (r *Repo) Remove(name string) {
	r.Helper()
	if err := os.RemoveAll(r.Path(name)); err != nil {
		r.Fatal(err)
	}
}

// Symlink makes a symbolic link.
func (r *Repo) Symlink(target, name string) {
	r.Helper()
	if err := os.Symlink(target, r.Path(name)); err != nil {
		r.Fatal(err)
	}
}

// Commit commits all that there is.
func (r *Repo) Commit(message string) {
	r.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", message)
}

// Worktree adds a linked worktree on a new branch.
func (r *Repo) Worktree(branch string) *Repo {
	r.Helper()
	dir := filepath.Join(filepath.Dir(r.Dir), "wt-"+branch)
	r.Git("worktree", "add", "-q", "-b", branch, dir)
	return r.At(dir)
}

// Fingerprint is everything of a working tree that must not change: the index
// file's hash, status, HEAD, the stash and each file's mode, time and bytes.
func (r *Repo) Fingerprint() map[string]string {
	r.Helper()
	index := strings.TrimSpace(r.Git("rev-parse", "--git-path", "index"))
	if !filepath.IsAbs(index) {
		index = r.Path(index)
	}
	print := map[string]string{"index file": hashOf(index)}
	head, _ := r.Try("rev-parse", "HEAD")
	branch, _ := r.Try("symbolic-ref", "-q", "HEAD")
	print["HEAD"] = head + branch
	print["stash"] = r.Git("stash", "list")
	print["branches"] = r.Git("for-each-ref", "refs/heads", "refs/tags", "refs/remotes")
	print["status"], _ = r.Try("--no-optional-locks", "status", "--porcelain=v2", "--branch")
	for name, state := range r.Files() {
		print["file "+name] = state
	}
	return print
}

// Files gives the type, permissions, time and bytes of each file, by its path.
func (r *Repo) Files() map[string]string {
	r.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(r.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(r.Dir, path)
		files[name] = fmt.Sprintf("%v %d %s", info.Mode(), info.ModTime().UnixNano(), hashOf(path))
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return files
}

// Contents gives mode and bytes of each file, by its path, without the times.
func (r *Repo) Contents() map[string]string {
	r.Helper()
	contents := map[string]string{}
	for name, state := range r.Files() {
		mode, rest, _ := strings.Cut(state, " ")
		_, hash, _ := strings.Cut(rest, " ")
		contents[name] = mode + " " + hash
	}
	return contents
}

// hashOf is the hash of a regular file's bytes, a link's target, "" for
// anything else.
func hashOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	var content []byte
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err.Error()
		}
		content = []byte(target)
	case info.Mode().IsRegular():
		if content, err = os.ReadFile(path); err != nil {
			return err.Error()
		}
	default:
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}
