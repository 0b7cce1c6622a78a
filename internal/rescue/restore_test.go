package rescue

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/test/gittest"
)

// saved takes a snapshot and finds it again by its repository.
func saved(t *testing.T, r *gittest.Repo) Snap {
	t.Helper()
	result := snapshot(t, r, requestFor(r), Saved)
	s, err := Find(context.Background(), runnerOf(t, r), result.Repository, result.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if s.Commit != result.Commit || s.Session != testID || s.CWD != r.Dir {
		t.Fatalf("found %+v, saved %+v", s, result)
	}
	return s
}

// clean throws away all that is uncommitted.
func clean(r *gittest.Repo) {
	r.Git("-c", "filter.x.required=false", "reset", "-q", "--hard")
	r.Git("clean", "-qfdx")
}

func restore(t *testing.T, r *gittest.Repo, s Snap) Restored {
	t.Helper()
	head := r.Git("rev-parse", "HEAD")
	restored, err := Restore(context.Background(), runnerOf(t, r), s, r.Dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if now := r.Git("rev-parse", "HEAD"); now != head {
		t.Errorf("HEAD moved from %s to %s", head, now)
	}
	return restored
}

func TestRestoreGivesEachShapeBack(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			r := gittest.New(t)
			s.make(r)
			had := work(r)
			all := r.Contents()
			for _, path := range s.kept {
				had[path] = all[path]
			}
			snap := saved(t, r)
			if _, err := Restore(context.Background(), runnerOf(t, r), snap, r.Dir, false); len(s.kept) == 0 && !errors.Is(err, ErrUncommitted) {
				t.Fatalf("over uncommitted work: %v", err)
			}
			r.Remove(".git/index.lock")
			r.Try("rebase", "--abort")
			for _, driver := range []string{"lost", "strip"} { // their programs fail for git reset too
				r.Try("config", "--remove-section", "filter."+driver)
			}
			r.Git("reset", "-q", "--hard", snap.Commit+"^")
			r.Git("clean", "-qfdx")
			r.Remove("out") // where git was told to look away
			restored := restore(t, r, snap)
			if len(restored.Paths) == 0 {
				t.Error("nothing was restored")
			}
			want := without(had, snap.Skipped)
			delete(want, "out/same") // off the disk in a sparse checkout, unless it is changed
			if diff := cmp.Diff(want, without(r.Contents(), snap.Skipped)); diff != "" {
				t.Errorf("not what was there:\n%s", diff)
			}
		})
	}
}

// What a filter would change comes back as it was, with the filter gone or there.
func TestRestoreGivesBytesBackWhateverTheFilter(t *testing.T) {
	r := gittest.New(t)
	r.Write(".gitattributes", "*.x filter=x\n")
	r.Write("f.x", "first\n")
	r.Commit("filtered")
	for key, value := range map[string]string{"clean": "no-such-program", "smudge": "no-such-program", "required": "true"} {
		r.Git("config", "filter.x."+key, value)
	}
	r.Write("f.x", "later\n")
	r.Write("new.x", "new\n")
	want := r.Contents()
	snap := saved(t, r)
	if diff := cmp.Diff([]string{"f.x", "new.x"}, paths(snap.Raw)); diff != "" {
		t.Error(diff)
	}
	r.Write("f.x", "first\n")
	r.Remove("new.x")
	r.Git("-c", "filter.x.clean=cat", "status")
	restore(t, r, snap)
	if diff := cmp.Diff(want, r.Contents()); diff != "" {
		t.Error(diff)
	}
}

func TestRestoreRefusesWhatIsInTheWay(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	r.Write("new", "new\n")
	snap := saved(t, r)
	clean(r)
	r.Write("beside", "untracked and not in the snapshot\n")
	restore(t, r, snap)
	for name, block := range map[string]func(){
		"a changed file elsewhere": func() { r.Write("dir/b.txt", "mine\n") },
		"a staged file":            func() { r.Write("dir/b.txt", "mine\n"); r.Git("add", ".") },
		"an untracked file there":  func() { r.Write("new", "mine\n") },
	} {
		clean(r)
		block()
		before := r.Fingerprint()
		_, err := Restore(context.Background(), runnerOf(t, r), snap, r.Dir, false)
		if !errors.Is(err, ErrUncommitted) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, r.Fingerprint()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	clean(r)
	r.Write("dir/b.txt", "mine\n")
	if _, err := Restore(context.Background(), runnerOf(t, r), snap, r.Dir, true); err != nil {
		t.Errorf("forced beside other work: %v", err)
	}
	clean(r)
	r.Write("new", "mine\n")
	if _, err := Restore(context.Background(), runnerOf(t, r), snap, r.Dir, true); err == nil {
		t.Error("forced over other work: it was overwritten")
	}
	if got, _ := os.ReadFile(r.Path("new")); string(got) != "mine\n" {
		t.Errorf("overwritten with %q", got)
	}
}

// Git takes ignored files for expendable and would write over them.
func TestRestoreOverwritesNoIgnoredFile(t *testing.T) {
	r := gittest.New(t)
	r.Write(".gitignore", ".tmp/\n")
	r.Commit("ignoring")
	r.Write(".tmp/sessions/s/task.md", "the task\n")
	snap := saved(t, r)
	restore(t, r, snap) // the same is there already
	clean(r)
	r.Write(".tmp/sessions/s/task.md", "gone on since\n")
	for _, force := range []bool{false, true} {
		if _, err := Restore(context.Background(), runnerOf(t, r), snap, r.Dir, force); !errors.Is(err, ErrUncommitted) {
			t.Errorf("force %v: %v", force, err)
		}
	}
	if got, _ := os.ReadFile(r.Path(".tmp/sessions/s/task.md")); string(got) != "gone on since\n" {
		t.Errorf("overwritten with %q", got)
	}
}

func TestRestoreNamesConflicts(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "the session's\n")
	r.Write("dir/b.txt", "b, later\n")
	snap := saved(t, r)
	clean(r)
	r.Write("a.txt", "committed meanwhile\n")
	r.Commit("another")
	restored, err := Restore(context.Background(), runnerOf(t, r), snap, r.Dir, false)
	if !errors.Is(err, ErrConflict) {
		t.Fatalf("ended with %v", err)
	}
	if diff := cmp.Diff([]string{"a.txt"}, restored.Conflicts); diff != "" {
		t.Error(diff)
	}
	if got, _ := os.ReadFile(r.Path("a.txt")); !strings.Contains(string(got), "<<<<<<<") || !strings.Contains(string(got), "the session's\n") {
		t.Errorf("a.txt: %s", got)
	}
	if got, _ := os.ReadFile(r.Path("dir/b.txt")); string(got) != "b, later\n" {
		t.Errorf("dir/b.txt: %s", got)
	}
}

func TestRestoreIntoAnotherRepository(t *testing.T) {
	r, other := gittest.New(t), gittest.New(t)
	r.Write("a.txt", "later\n")
	want := work(r)
	snap := saved(t, r)
	if _, err := Restore(context.Background(), runnerOf(t, r), snap, other.Dir, false); !errors.Is(err, ErrOtherRepository) {
		t.Errorf("ended with %v", err)
	}
	// The repository itself destroyed: vibe-kanban#3406.
	file := filepath.Join(t.TempDir(), "work.bundle")
	if err := Bundle(context.Background(), runnerOf(t, r), snap, file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Bundle(context.Background(), runnerOf(t, r), snap, file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.RemoveAll(r.Dir); err != nil {
		t.Fatal(err)
	}
	fresh := gittest.Init(t)
	fresh.Git("fetch", "-q", file, "refs/*:refs/*")
	fresh.Git("reset", "-q", "--hard", snap.Commit+"^")
	restore(t, fresh, snap)
	if diff := cmp.Diff(want, fresh.Contents()); diff != "" {
		t.Error(diff)
	}
}

func TestPlaceIsTheSessionsTreeElseTheMainCheckout(t *testing.T) {
	r := gittest.New(t)
	w := r.Worktree("side")
	w.Write("a.txt", "later\n")
	want := work(w)
	snap := saved(t, w)
	runner := runnerOf(t, r)
	if dir, err := Place(context.Background(), runner, snap); dir != w.Dir || err != nil {
		t.Errorf("%s, %v", dir, err)
	}
	r.Git("worktree", "remove", "--force", w.Dir)
	dir, err := Place(context.Background(), runner, snap)
	if dir != r.Dir || err != nil {
		t.Errorf("%s, %v", dir, err)
	}
	restore(t, r, snap)
	if diff := cmp.Diff(want, work(r)); diff != "" {
		t.Error(diff)
	}
	snap.Main = ""
	if _, err := Place(context.Background(), runner, snap); !errors.Is(err, ErrNoPlace) {
		t.Errorf("%v", err)
	}
	w.Write("f", "x\n")
	w.Git("init", "-q") // another repository in its place
	if _, err := Place(context.Background(), runner, snap); !errors.Is(err, ErrNoPlace) {
		t.Errorf("%v", err)
	}
}

func TestRestoreReachesTheRepositoriesInside(t *testing.T) {
	outer, sub := withSubmodule(t)
	w := outer.Worktree("side")
	w.Git("submodule", "--quiet", "update", "--init")
	inner := w.At(w.Path("sub"))
	inner.Write("a.txt", "later in the submodule\n")
	inner.Write("new", "new\n")
	want := work(inner)
	snap := saved(t, w)
	outer.Git("worktree", "remove", "--force", w.Dir)
	restored := restore(t, outer, snap)
	if diff := cmp.Diff(want, work(sub)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"sub"}, restored.Nested); diff != "" {
		t.Error(diff)
	}
	outer.Git("submodule", "--quiet", "deinit", "-f", "sub")
	restored = restore(t, outer, snap)
	if len(restored.NotNested) != 1 || !strings.Contains(restored.NotNested[0].Why, snap.Nested[0].Ref) {
		t.Errorf("%+v", restored)
	}
}
