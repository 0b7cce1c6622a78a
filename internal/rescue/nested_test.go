package rescue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/test/gittest"
)

// withSubmodule makes a repository with a submodule at sub, and gives both.
func withSubmodule(t *testing.T) (outer, sub *gittest.Repo) {
	outer, origin := gittest.New(t), gittest.New(t)
	outer.Git("submodule", "--quiet", "add", origin.Dir, "sub")
	outer.Commit("with a submodule")
	return outer, outer.At(outer.Path("sub"))
}

// nestedGivenBack shows that the one nested snapshot of result is whole in the
// outer repository's store, and gives back want on top of its parent.
func nestedGivenBack(t *testing.T, outer *gittest.Repo, result Result, path string, want map[string]string) {
	t.Helper()
	if len(result.Nested) != 1 || result.Nested[0].Path != path {
		t.Fatalf("nested %+v, want %s", result.Nested, path)
	}
	outer.Git("fsck", "--strict", "--connectivity-only", "--no-dangling")
	if diff := cmp.Diff(want, checkedOut(outer, result.Nested[0].Ref)); diff != "" {
		t.Errorf("%s is not what was on the disk:\n%s", path, diff)
	}
	if told := outer.Git("log", "-1", "--format=%B", result.Ref); !strings.Contains(told, result.Nested[0].Ref) {
		t.Errorf("the message does not name %s:\n%s", result.Nested[0].Ref, told)
	}
}

func TestADirtySubmoduleIsSavedToo(t *testing.T) {
	outer, _ := withSubmodule(t)
	w := outer.Worktree("side")
	w.Git("submodule", "--quiet", "update", "--init")
	sub := w.At(w.Path("sub"))
	sub.Write("a.txt", "later in the submodule\n")
	sub.Write("new", "new in the submodule\n")
	before, want := sub.Fingerprint(), work(sub)
	result := snapshot(t, w, requestFor(w), Saved)
	if diff := cmp.Diff(before, sub.Fingerprint()); diff != "" {
		t.Errorf("the submodule changed: %s", diff)
	}
	if len(result.Paths) != 0 {
		t.Errorf("paths %q of the outer repository", result.Paths)
	}
	outer.Git("worktree", "remove", "--force", w.Dir) // takes the submodule's git folder along
	nestedGivenBack(t, outer, result, "sub", want)
}

func TestASubmoduleThatMovedIsRecordedAndSaved(t *testing.T) {
	outer, sub := withSubmodule(t)
	sub.Write("a.txt", "committed, nowhere else\n")
	sub.Commit("local")
	outer.Write("a.txt", "later\n")
	want := work(sub)
	result := snapshot(t, outer, requestFor(outer), Saved)
	nestedGivenBack(t, outer, result, "sub", want)
	if diff := cmp.Diff([]string{"a.txt", "sub"}, result.Paths); diff != "" {
		t.Error(diff)
	}
	if got, head := outer.Git("rev-parse", result.Commit+":sub"), sub.Git("rev-parse", "HEAD"); got != head {
		t.Errorf("the submodule is recorded at %s, it is at %s", got, head)
	}
}

func TestACleanSubmoduleCostsNothing(t *testing.T) {
	outer, _ := withSubmodule(t)
	snapshot(t, outer, requestFor(outer), Clean)
	outer.Git("submodule", "--quiet", "deinit", "-f", "sub")
	snapshot(t, outer, requestFor(outer), Clean)
	outer.Write("a.txt", "later\n")
	if result := snapshot(t, outer, requestFor(outer), Saved); len(result.Nested) != 0 || len(result.Skipped) != 0 {
		t.Errorf("%+v", result)
	}
}

func TestARepositoryInsideIsSavedToo(t *testing.T) {
	outer := gittest.New(t)
	inner := outer.At(outer.Path("vendor/inner"))
	if err := os.MkdirAll(inner.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	inner.Git("init", "-q")
	inner.Write("only", "without a commit\n")
	result := snapshot(t, outer, requestFor(outer), Saved)
	nestedGivenBack(t, outer, result, "vendor/inner", work(inner))

	outer.Git("update-ref", "-d", result.Ref)
	inner.Commit("first")
	inner.Write("only", "and changed\n")
	inner.Write("sub dir/new", "new\n")
	result = snapshot(t, outer, requestFor(outer), Saved)
	nestedGivenBack(t, outer, result, "vendor/inner", work(inner))
	if diff := cmp.Diff([]string{"vendor/inner"}, result.Paths); diff != "" {
		t.Error(diff)
	}
}

func TestACloneIsNotCopied(t *testing.T) {
	outer, origin := gittest.New(t), gittest.New(t)
	outer.Git("clone", "-q", origin.Dir, "clone")
	if result := snapshot(t, outer, requestFor(outer), Saved); len(result.Nested) != 0 {
		t.Errorf("what the remote has was copied: %+v", result)
	}
}

// A repository that was added as it was, without .gitmodules.
func TestAGitlinkWithoutASubmoduleIsSeen(t *testing.T) {
	outer, origin := gittest.New(t), gittest.New(t)
	outer.Git("clone", "-q", origin.Dir, "clone")
	outer.Commit("with a clone in it")
	outer.Git("update-index", "--split-index")
	inner := outer.At(outer.Path("clone"))
	inner.Write("a.txt", "later\n")
	nestedGivenBack(t, outer, snapshot(t, outer, requestFor(outer), Saved), "clone", work(inner))
}

func TestRepositoriesInRepositories(t *testing.T) {
	outer := gittest.New(t)
	middle := outer.At(outer.Path("middle"))
	inner := outer.At(outer.Path("middle/inner"))
	for _, r := range []*gittest.Repo{middle, inner} {
		if err := os.Mkdir(r.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		r.Git("init", "-q")
		r.Write("f", r.Dir)
		r.Git("add", "f")
		r.Git("commit", "-q", "-m", "first")
		r.Write("f", "later")
	}
	inner.Write("big", strings.Repeat("x", 2000))
	req := requestFor(outer)
	req.Limits.File = 1000
	result := snapshot(t, outer, req, Saved)
	saved := map[string]string{}
	for _, n := range result.Nested {
		saved[n.Path] = outer.Git("cat-file", "blob", n.Ref+":f")
	}
	if diff := cmp.Diff(map[string]string{"middle": "later", "middle/inner": "later"}, saved); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"middle/inner/big"}, paths(result.Skipped)); diff != "" {
		t.Error(diff)
	}
	outer.Git("fsck", "--strict", "--no-dangling")
}

// A .git file in the tree can name any folder as its repository's, and that
// one any folder as its tree.
func TestANestedRepositoryIsNoWayOut(t *testing.T) {
	outer, _ := withSubmodule(t)
	private := gittest.New(t)
	private.Write("secret", "of another repository\n")
	private.Commit("secret")
	outer.Remove("sub/.git")
	outer.Write("sub/.git", "gitdir: "+private.Path(".git")+"\n")
	private.Git("config", "core.worktree", private.Dir)
	result := snapshot(t, outer, requestFor(outer), Clean)
	if diff := cmp.Diff([]string{"sub"}, paths(result.Skipped)); diff != "" {
		t.Error(diff)
	}
	private.Git("config", "--unset", "core.worktree")
	for _, trick := range []func(){
		func() {}, // its git file names another's git folder
		func() { // its git folder shares another's
			outer.Remove("sub/.git")
			outer.Write("sub/.git/HEAD", "ref: refs/heads/main\n")
			outer.Write("sub/.git/commondir", private.Path(".git")+"\n")
		},
		func() { // it borrows another's objects
			outer.Remove("sub/.git")
			inner := outer.At(outer.Path("sub"))
			inner.Git("init", "-q", "-b", "main")
			inner.Write(".git/objects/info/alternates", private.Path(".git/objects")+"\n")
			inner.Symlink(private.Path(".git/refs/heads/main"), ".git/refs/heads/main")
		},
	} {
		trick()
		outer.Write("a.txt", "later\n")
		outer.Git("update-ref", "-d", refPrefix+testID)
		result = snapshot(t, outer, requestFor(outer), Saved)
		if diff := cmp.Diff([]string{"sub"}, paths(result.Skipped)); diff != "" || len(result.Nested) != 0 {
			t.Errorf("%+v", result)
		}
		if _, err := outer.Try("cat-file", "-e", strings.TrimSpace(private.Git("rev-parse", "HEAD:secret"))); err == nil {
			t.Error("another repository's file was copied")
		}
	}
	outer.Remove("sub")
	outer.Symlink(private.Dir, "sub")
	outer.Git("update-ref", "-d", refPrefix+testID)
	result = snapshot(t, outer, requestFor(outer), Saved)
	if target := outer.Git("cat-file", "blob", result.Commit+":sub"); target != private.Dir || len(result.Nested) != 0 {
		t.Errorf("saved %q, %+v", target, result)
	}
}

// The worktrees of agents often stand in the main checkout. They are working
// trees of their own.
func TestALinkedWorktreeInsideIsNotPartOfTheTree(t *testing.T) {
	r := gittest.New(t)
	r.Git("worktree", "add", "-q", r.Path("worktrees/side"))
	r.Write("worktrees/side/a.txt", "later\n")
	snapshot(t, r, requestFor(r), Clean)
	r.Write("a.txt", "later\n")
	if result := snapshot(t, r, requestFor(r), Saved); len(result.Paths) != 1 || len(result.Nested) != 0 || len(result.Skipped) != 0 {
		t.Errorf("%+v", result)
	}
}

func TestANestedRepositoryOverTheLimitIsNamed(t *testing.T) {
	outer := gittest.New(t)
	inner := outer.At(outer.Path("inner"))
	if err := os.Mkdir(inner.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	inner.Git("init", "-q")
	inner.Write("large", strings.Repeat("x", 5000))
	inner.Commit("first")
	inner.Write("small", "x")
	req := requestFor(outer)
	req.Limits.Total = 4000
	result := snapshot(t, outer, req, Saved)
	if len(result.Nested) != 0 || len(result.Skipped) != 1 || result.Skipped[0].Path != "inner" {
		t.Errorf("%+v", result)
	}
	damaged := gittest.New(t)
	if err := os.MkdirAll(filepath.Join(damaged.Dir, "inner"), 0o755); err != nil {
		t.Fatal(err)
	}
	damaged.At(damaged.Path("inner")).Git("init", "-q")
	damaged.Write("inner/.git/config", "[core\n")
	damaged.Write("a.txt", "later\n")
	if result := snapshot(t, damaged, requestFor(damaged), Saved); len(result.Paths) != 1 || len(result.Skipped) != 1 {
		t.Errorf("%+v", result)
	}
}
