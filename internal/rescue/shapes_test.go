package rescue

import (
	"syscall"

	"agentwrap/test/gittest"
)

// shape is a state that a repository can be in when its session dies.
type shape struct {
	name string
	// make makes it out of a repository with one commit.
	make func(r *gittest.Repo)
	// skipped and raw are the paths that must be named.
	skipped, raw []string
	// kept are more paths that must be saved though git ignores them.
	kept []string
	// noReset says that git reset --hard cannot make this tree clean.
	noReset bool
}

var shapes = []shape{
	{name: "changed, new, deleted, made executable", make: func(r *gittest.Repo) {
		r.Write("a.txt", "a, later\n")
		r.Write("new/deep/file", "new\n")
		r.Write("empty", "")
		r.Remove("dir/b.txt")
		r.Chmod("run.sh", 0o644)
		r.Write("tool", "#!/bin/sh\n")
		r.Chmod("tool", 0o755)
		r.Symlink("a.txt", "link")
		r.Symlink("nowhere/at all", "dangling")
	}},
	{name: "staged, staged and changed again, staged and deleted", make: func(r *gittest.Repo) {
		r.Write("a.txt", "staged\n")
		r.Write("added", "staged\n")
		r.Write("both", "staged\n")
		r.Write("lost", "staged\n")
		r.Git("add", "-A")
		r.Write("both", "later\n")
		r.Remove("lost")
		r.Git("mv", "dir/b.txt", "dir/c.txt")
	}},
	{name: "out of the index, still on the disk", make: func(r *gittest.Repo) {
		r.Git("rm", "-q", "--cached", "a.txt")
		r.Write("a.txt", "untracked now\n")
	}},
	{name: "out of the index, ignored now", skipped: []string{"a.txt"}, make: func(r *gittest.Repo) {
		r.Git("rm", "-q", "--cached", "a.txt")
		r.Write(".gitignore", "a.txt\n")
		r.Write("a.txt", "a secret\n")
	}},
	{name: "a file became a folder, a folder a file", make: func(r *gittest.Repo) {
		r.Remove("a.txt")
		r.Write("a.txt/inside", "x\n")
		r.Remove("dir")
		r.Write("dir", "y\n")
	}},
	{name: "a folder became a link", make: func(r *gittest.Repo) {
		r.Write("elsewhere/b.txt", "not the tracked one\n")
		r.Remove("dir")
		r.Symlink("elsewhere", "dir")
	}},
	{name: "a folder became a link that is ignored", noReset: true, make: func(r *gittest.Repo) {
		r.Write(".gitignore", "dir\n")
		r.Remove("dir")
		r.Symlink("/etc", "dir")
	}},
	{name: "a file became a link, a link a file", make: func(r *gittest.Repo) {
		r.Symlink("a.txt", "link")
		r.Commit("with a link")
		r.Remove("link")
		r.Write("link", "plain\n")
		r.Remove("a.txt")
		r.Symlink("link", "a.txt")
	}},
	{name: "odd names", make: func(r *gittest.Repo) {
		for _, name := range []string{
			"new\nline", "tab\there", " lead and trail ", `quo"te\back`, "ümlaut", "not \xff\xfe UTF-8", "-dash", "*star?", ":(glob)x", "esc\x1b[31m", "#hash", "D x", "d\n/e\r",
		} {
			r.Write(name, "content of "+name)
		}
		r.Commit("odd")
		for _, name := range []string{"new\nline", ":(glob)x", "not \xff\xfe UTF-8"} {
			r.Write(name, "later")
		}
		r.Remove("*star?")
		r.Write("more\n\nlines", "new")
	}},
	{name: "unmerged", make: func(r *gittest.Repo) {
		r.Write("deleted", "x\n")
		r.Write("kept", "x\n")
		r.Commit("base")
		r.Git("checkout", "-q", "-b", "other")
		r.Write("a.txt", "theirs\n")
		r.Write("both new", "theirs\n")
		r.Write("deleted", "theirs\n")
		r.Remove("kept")
		r.Commit("theirs")
		r.Git("checkout", "-q", "main")
		r.Write("a.txt", "ours\n")
		r.Write("both new", "ours\n")
		r.Remove("deleted")
		r.Write("kept", "ours\n")
		r.Commit("ours")
		if _, err := r.Try("merge", "other"); err == nil {
			r.Fatal("no conflict")
		}
	}},
	{name: "unmerged and removed", make: func(r *gittest.Repo) {
		r.Git("checkout", "-q", "-b", "other")
		r.Write("a.txt", "theirs\n")
		r.Commit("theirs")
		r.Git("checkout", "-q", "main")
		r.Write("a.txt", "ours\n")
		r.Commit("ours")
		r.Try("merge", "other")
		r.Remove("a.txt")
	}},
	{name: "in the middle of a rebase", make: func(r *gittest.Repo) {
		r.Git("checkout", "-q", "-b", "other")
		r.Write("a.txt", "theirs\n")
		r.Commit("theirs")
		r.Git("checkout", "-q", "main")
		r.Write("a.txt", "ours\n")
		r.Commit("ours")
		if _, err := r.Try("rebase", "other"); err == nil {
			r.Fatal("no conflict")
		}
		r.Write("new", "x\n")
	}},
	{name: "detached", make: func(r *gittest.Repo) {
		r.Git("checkout", "-q", "--detach")
		r.Write("a.txt", "later\n")
	}},
	{name: "intent to add", make: func(r *gittest.Repo) {
		r.Write("intended", "content\n")
		r.Git("add", "-N", "intended")
	}},
	{name: "index of version 2", make: indexed("update-index", "--index-version", "2")},
	{name: "index of version 4", make: indexed("update-index", "--index-version", "4")},
	{name: "index split", make: indexed("update-index", "--split-index")},
	{name: "untracked cache", make: indexed("update-index", "--force-untracked-cache")},
	{name: "index.lock left behind", make: func(r *gittest.Repo) {
		r.Write("a.txt", "later\n")
		r.Write("new", "new\n")
		r.Write(".git/index.lock", "")
		r.Cleanup(func() { r.Remove(".git/index.lock") })
	}, noReset: true},
	{name: "same size, same second", make: func(r *gittest.Repo) {
		r.Write("a.txt", "b, first\n")
	}},
	{name: "a repository that takes no safecrlf damage", make: func(r *gittest.Repo) {
		r.Git("config", "core.autocrlf", "input")
		r.Git("config", "core.safecrlf", "true")
		r.Write("a.txt", "one\ntwo\n")
	}},
	{name: "line endings", raw: []string{"all.txt", "mixed.txt"}, make: func(r *gittest.Repo) {
		r.Write(".gitattributes", "*.txt text eol=crlf\n*.lf text eol=lf\n")
		r.Commit("endings")
		r.Write("dos.txt", "one\r\ntwo\r\n")
		r.Write("mixed.txt", "one\r\ntwo\n")
		r.Write("all.txt", "one\r\n\r\r\ntwo\n")
		r.Write("binary.bin", "one\r\n\x00two\n")
		r.Write("lone.txt", "a carriage \r alone\r\n")
	}, noReset: true},
	{name: "autocrlf", make: func(r *gittest.Repo) {
		r.Git("config", "core.autocrlf", "true")
		r.Write("dos", "one\r\ntwo\r\n")
		r.Write("binary", "one\r\n\x00two\n")
	}},
	{name: "autocrlf, mixed", raw: []string{"mixed"}, make: func(r *gittest.Repo) {
		r.Git("config", "core.autocrlf", "true")
		r.Write("mixed", "one\r\ntwo\n")
	}},
	{name: "ident", raw: []string{"own.i"}, make: func(r *gittest.Repo) {
		r.Write(".gitattributes", "*.i ident\n")
		r.Write("f.i", "$Id$\n")
		r.Commit("ident")
		r.Remove("f.i")
		r.Git("checkout", "f.i")
		r.Write("own.i", "$Id: set by hand $\n")
	}},
	{name: "encodings", raw: []string{"bad.u", "lossy.u"}, make: func(r *gittest.Repo) {
		r.Write(".gitattributes", "*.u text working-tree-encoding=UTF-16LE-BOM\n")
		r.Write("good.u", "\xff\xfeh\x00i\x00\n\x00")
		r.Write("bad.u", "odd number")
		r.Write("lossy.u", "\xff\xfeh\x00\x00\xd8\n\x00")
	}, noReset: true},
	{name: "a required filter that fails", noReset: true, raw: []string{"f.x", "new.x"}, make: func(r *gittest.Repo) {
		r.Write(".gitattributes", "*.x filter=lost\n")
		r.Write("f.x", "first\n")
		r.Commit("filtered")
		r.Git("config", "filter.lost.clean", "no-such-program-here")
		r.Git("config", "filter.lost.smudge", "cat")
		r.Git("config", "filter.lost.required", "true")
		r.Write("f.x", "later\n")
		r.Write("new.x", "new\n")
		r.Write("a.txt", "beside\n")
	}},
	{name: "a filter that drops what it is given", raw: []string{"f.x"}, make: func(r *gittest.Repo) {
		r.Write(".gitattributes", "*.x filter=strip\n")
		r.Git("config", "filter.strip.clean", "head -n1")
		r.Write("f.x", "one\ntwo\n")
	}},
	{name: "a FIFO in the place of a file", skipped: []string{"a.txt"}, noReset: true, make: func(r *gittest.Repo) {
		r.Remove("a.txt")
		if err := syscall.Mkfifo(r.Path("a.txt"), 0o644); err != nil {
			r.Fatal(err)
		}
		r.Write("new", "new\n")
	}},
	{name: "context files", kept: []string{".tmp/sessions/s1/.manifest.json", ".tmp/sessions/s1/tasks/t.md"}, make: func(r *gittest.Repo) {
		r.Write(".gitignore", ".tmp/\n*.log\n")
		r.Commit("ignoring")
		r.Write(".tmp/sessions/s1/.manifest.json", "{}\n")
		r.Write(".tmp/sessions/s1/tasks/t.md", "the task\n")
		r.Write(".tmp/other", "ignored\n")
		r.Write("x.log", "ignored\n")
	}},
	{name: "sparse checkout", noReset: true, make: func(r *gittest.Repo) {
		r.Write("in/f", "x\n")
		r.Write("out/f", "x\n")
		r.Commit("two folders")
		r.Git("sparse-checkout", "set", "--cone", "in")
		r.Write("in/f", "later\n")
		r.Write("out/new", "outside the cone\n")
		r.Write("out/f", "back, and changed\n")
	}},
	{name: "sparse checkout, and git told to look away", noReset: true, make: func(r *gittest.Repo) {
		r.Write("in/f", "x\n")
		r.Write("out/f", "x\n")
		r.Write("out/same", "x\n")
		r.Commit("two folders")
		r.Git("sparse-checkout", "set", "--cone", "in")
		r.Git("config", "sparse.expectFilesOutsideOfPatterns", "true")
		r.Write("out/f", "back, and changed\n")
		r.Write("out/same", "x\n")
		if status := r.Git("status", "--porcelain"); status != "" {
			r.Fatalf("git lists it: %s", status)
		}
	}},
	{name: "file modes not trusted", make: func(r *gittest.Repo) {
		r.Git("config", "core.fileMode", "false")
		r.Chmod("run.sh", 0o644)
		r.Write("run.sh", "#!/bin/sh\nlater\n")
		r.Chmod("run.sh", 0o755)
	}},
	{name: "names that differ in case", make: func(r *gittest.Repo) {
		r.Write("A.TXT", "the other\n")
		r.Commit("both")
		r.Git("config", "core.ignoreCase", "true")
		r.Write("A.TXT", "the other, later\n")
		r.Write("a.txt", "later\n")
	}},
}

func indexed(args ...string) func(*gittest.Repo) {
	return func(r *gittest.Repo) {
		r.Write("a.txt", "staged\n")
		r.Git("add", "a.txt")
		r.Git(args...)
		r.Write("a.txt", "later\n")
		r.Write("new/file", "new\n")
	}
}
