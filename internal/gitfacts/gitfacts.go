// Package gitfacts tells which repository a folder is in, from git's own files,
// without starting git: for the shim, to which a process is too dear, and for
// every other writer of birth facts.
package gitfacts

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
)

// Facts are what the files say. The zero value means no working tree.
type Facts struct {
	// Root is the top folder of the working tree.
	Root string
	// Project is the name of the main checkout's folder, which all worktrees of
	// a repository share; for a repository without one, its own without .git.
	Project string
	// Branch is the branch that HEAD names, born or not; "" where HEAD is
	// detached or cannot be told from files (reftable).
	Branch string
	// Worktree tells a linked worktree from a main checkout.
	Worktree bool
	// GitDir and CommonDir are this tree's own git folder and the one it shares
	// with the other worktrees.
	GitDir, CommonDir string
}

// fileLimit bounds the small files read here, in bytes.
const fileLimit = 64 << 10

// maxUp bounds the walk to the top.
const maxUp = 256

// At are the facts for a folder. What cannot be read is not there. As git
// does, it stops at a file system's border.
func At(dir string) Facts {
	dev, ok := device(dir)
	for range maxUp {
		if !ok {
			return Facts{}
		}
		if gitDir := gitDirOf(dir); gitDir != "" {
			return read(dir, gitDir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return Facts{}
		}
		var above uint64
		if above, ok = device(parent); above != dev {
			return Facts{}
		}
		dir = parent
	}
	return Facts{}
}

func device(dir string) (uint64, bool) {
	var st unix.Stat_t
	err := unix.Stat(dir, &st)
	return st.Dev, err == nil
}

// gitDirOf is the git folder that dir/.git is or names, "" for none.
func gitDirOf(dir string) string {
	path := filepath.Join(dir, ".git")
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if !st.IsDir() {
		raw, err := statefile.Read(path, fileLimit)
		target, named := bytes.CutPrefix(raw, []byte("gitdir: "))
		if err != nil || !named {
			return ""
		}
		path = resolve(dir, target)
	}
	if _, err := os.Lstat(filepath.Join(path, "HEAD")); err != nil {
		return ""
	}
	return path
}

func read(root, gitDir string) Facts {
	f := Facts{Root: root, GitDir: gitDir, CommonDir: gitDir, Branch: branch(gitDir)}
	if raw, err := statefile.Read(filepath.Join(gitDir, "commondir"), fileLimit); err == nil {
		f.CommonDir = resolve(gitDir, raw)
		f.Worktree = f.CommonDir != filepath.Clean(gitDir)
	}
	f.Project = filepath.Base(root)
	if f.Worktree {
		f.Project = projectOf(f.CommonDir)
	}
	return f
}

func projectOf(commonDir string) string {
	if filepath.Base(commonDir) == ".git" {
		return filepath.Base(filepath.Dir(commonDir))
	}
	return strings.TrimSuffix(filepath.Base(commonDir), ".git")
}

// resolve reads a path that a file of git's names, relative to where it says.
func resolve(from string, raw []byte) string {
	path := string(bytes.TrimRight(raw, "\r\n"))
	if !filepath.IsAbs(path) {
		path = filepath.Join(from, path)
	}
	return filepath.Clean(path)
}

const headPrefix = "refs/heads/"

// branch reads HEAD. A repository that keeps its refs in a reftable holds a
// HEAD that names an invalid branch on purpose: nothing is proved by it.
func branch(gitDir string) string {
	path := filepath.Join(gitDir, "HEAD")
	raw, err := statefile.Read(path, fileLimit)
	if errors.Is(err, unix.ELOOP) {
		// The oldest form: a symbolic link.
		target, lerr := os.Readlink(path)
		raw, err = []byte("ref: "+target), lerr
	}
	ref, symbolic := bytes.CutPrefix(raw, []byte("ref:"))
	name, isBranch := strings.CutPrefix(string(bytes.TrimSpace(ref)), headPrefix)
	if err != nil || !symbolic || !isBranch || name == ".invalid" {
		return ""
	}
	return name
}
