package rescue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/git"
	"agentwrap/test/gittest"
	"agentwrap/test/isolate"
)

func TestWhereThereIsNothingToSave(t *testing.T) {
	clean := gittest.New(t)
	if result := snapshot(t, clean, requestFor(clean), Clean); result.Repository != clean.Path(".git") {
		t.Errorf("%+v", result)
	}
	ignored := gittest.New(t)
	ignored.Write(".gitignore", "*.log\n")
	ignored.Commit("ignoring")
	ignored.Write("x.log", "x\n")
	snapshot(t, ignored, requestFor(ignored), Clean)
	touched := gittest.New(t)
	if err := os.Chtimes(touched.Path("a.txt"), testNow, testNow); err != nil {
		t.Fatal(err)
	}
	snapshot(t, touched, requestFor(touched), Clean)
	for _, r := range []*gittest.Repo{clean, ignored, touched} {
		if refs := r.Git("for-each-ref", "refs/rescued"); refs != "" {
			t.Errorf("there is a ref: %s", refs)
		}
		if loose := r.Git("count-objects"); !strings.Contains(r.Git("count-objects", "-v"), "packs: 0") {
			t.Errorf("objects were written: %s", loose)
		}
	}
}

func TestWhereThereIsNoTree(t *testing.T) {
	r := gittest.New(t)
	bare := gittest.Init(t, "--bare")
	for name, c := range map[string]struct {
		dir  string
		want Outcome
	}{
		"no repository":     {t.TempDir(), NoTree},
		"bare":              {bare.Dir, NoTree},
		"in the git folder": {r.Path(".git/refs"), NoTree},
		"gone":              {r.Path("gone"), Gone},
	} {
		result, err := Snapshot(context.Background(), runnerOf(t, r), Request{LedgerID: testID, CWD: c.dir, Now: testNow})
		if err != nil || result.Outcome != c.want || !strings.Contains(result.Why, c.dir) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	if _, err := Snapshot(context.Background(), runnerOf(t, r), Request{LedgerID: "../x", CWD: r.Dir}); err == nil {
		t.Error("an id that is none was taken")
	}
}

func TestAnotherUsersRepositoryIsLeftAlone(t *testing.T) {
	if os.Getuid() != 0 {
		isolate.Missing(t, "root, who alone can give a file away")
	}
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	for _, path := range []string{r.Dir, r.Path(".git")} {
		if err := os.Chown(path, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	before := r.Files()
	if _, err := Snapshot(context.Background(), runnerOf(t, r), requestFor(r)); !errors.Is(err, git.ErrForeign) {
		t.Errorf("ended with %v", err)
	}
	if diff := cmp.Diff(before, r.Files()); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(home(r), ".gitconfig")); err == nil {
		t.Error("the user's git configuration was written")
	}
}

func TestAFolderThatIsGoneIsLookedForByItsTop(t *testing.T) {
	r := gittest.New(t)
	req := requestFor(r)
	req.CWD = r.Path("dir")
	r.Remove("dir")
	result := snapshot(t, r, req, Saved)
	if diff := cmp.Diff([]string{"dir/b.txt"}, result.Paths); diff != "" {
		t.Error(diff)
	}
	if told := r.Git("log", "-1", "--format=%B", result.Ref); !strings.Contains(told, "Restore: "+RestoreCommand(r.Dir, result.Ref)) {
		t.Error(told)
	}
}

func TestTheFirstCommitIsNotNeeded(t *testing.T) {
	r := gittest.Init(t)
	r.Write("a.txt", "a\n")
	r.Write("staged", "b\n")
	r.Git("add", "staged")
	result := snapshot(t, r, requestFor(r), Saved)
	if diff := cmp.Diff(work(r), checkedOut(r, result.Commit)); diff != "" {
		t.Error(diff)
	}
	if parents := r.Git("log", "-1", "--format=%P", result.Ref); parents != "\n" {
		t.Errorf("parents %q", parents)
	}
}

func TestOtherObjectFormats(t *testing.T) {
	r := gittest.New(t, "--object-format=sha256")
	r.Write("a.txt", "later\n")
	r.Symlink("a.txt", "link")
	result := snapshot(t, r, requestFor(r), Saved)
	if diff := cmp.Diff(work(r), checkedOut(r, result.Commit)); diff != "" || len(result.Commit) != 64 {
		t.Error(result.Commit, diff)
	}
	empty := gittest.Init(t, "--object-format=sha256")
	empty.Write("a.txt", "a\n")
	snapshot(t, empty, requestFor(empty), Saved)
}

// A worktree that is removed with force takes unsaved files along: cc#74719,
// cc#35862, cc#58885.
func TestTheWorkOutlivesItsWorktree(t *testing.T) {
	r := gittest.New(t)
	w := r.Worktree("side")
	w.Write("a.txt", "later\n")
	w.Write("new", "new\n")
	w.Remove("run.sh")
	want := work(w)
	mainTree := r.Fingerprint()
	result := snapshot(t, w, requestFor(w), Saved)
	if diff := cmp.Diff(mainTree, r.Fingerprint()); diff != "" {
		t.Errorf("the main checkout changed: %s", diff)
	}
	if result.Main != r.Dir || result.Repository != r.Path(".git") {
		t.Errorf("%+v", result)
	}
	r.Git("worktree", "remove", "--force", w.Dir)
	r.Git("branch", "-q", "-D", "side")
	r.Git("gc", "-q", "--prune=now")
	if err := printed(r, result.Main, result.Ref); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.Contents()); diff != "" {
		t.Error(diff)
	}
}

func TestTheMessageTellsTheSession(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	r.Write("big", strings.Repeat("x", 2000))
	req := requestFor(r)
	req.Title, req.Limits.File = "fix\nthe \x1b[31mparser", 1000
	result := snapshot(t, r, req, Saved)
	want := `rescued: fix the ␛[31mparser

What was not committed in the session's working tree when its process was gone.

Session: ` + testID + `
Title: fix the ␛[31mparser
Folder: "` + r.Dir + `"
Branch: main
Host: e14
Saved-At: 2026-08-07T12:00:00Z
Main-Checkout: "` + r.Dir + `"
Shared: ` + sharedMain + `
Not-Saved: "big" 2.0 KiB, over the limit of 1000 B for a file
Restore: git -C ` + r.Dir + ` cherry-pick -n refs/rescued/` + testID + "\n"
	if got := r.Git("log", "-1", "--format=%B", result.Ref); got != want+"\n" {
		t.Error(cmp.Diff(want, got))
	}
	if who := r.Git("log", "-1", "--format=%an <%ae> %cn <%ce> %ct %p", result.Ref); who != fmt.Sprintf("%s %s %d %s", identity, identity, testNow.Unix(), r.Git("rev-parse", "--short", "HEAD")) {
		t.Error(who)
	}
	told := readMessage(want)
	if told.Session != testID || told.CWD != r.Dir || told.Main != r.Dir || !told.At.Equal(testNow) || len(told.Skipped) != 1 || told.Skipped[0] != result.Skipped[0] {
		t.Errorf("read back as %+v", told)
	}
	w := r.Worktree("side")
	w.Write("a.txt", "later still\n")
	req = requestFor(w)
	req.Shared, req.LedgerID = true, "codex-20260807T110001Z-000001"
	if got := r.Git("log", "-1", "--format=%B", snapshot(t, w, req, Saved).Ref); !strings.Contains(got, "Shared: "+sharedLive) {
		t.Error(got)
	}
}

func TestASecondTryFindsTheFirst(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	req := requestFor(r)
	req.Limits.File = 1000
	r.Write("big", strings.Repeat("x", 2000))
	first := snapshot(t, r, req, Saved)
	r.Write("a.txt", "later still\n")
	second := snapshot(t, r, req, Saved)
	first.Known = true
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

func TestTheSameWorkIsStoredOnce(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	first := snapshot(t, r, requestFor(r), Saved)
	objects := r.Git("count-objects", "-v")
	other := requestFor(r)
	other.LedgerID, other.Now = "codex-20260807T110001Z-000001", testNow.Add(time.Hour)
	second := snapshot(t, r, other, Saved)
	if second.Commit != first.Commit || second.Ref == first.Ref || second.Known {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if now := r.Git("count-objects", "-v"); now != objects {
		t.Errorf("objects were added: %s%s", objects, now)
	}
	r.Write("b", "more\n")
	other.LedgerID = "codex-20260807T110001Z-000002"
	if third := snapshot(t, r, other, Saved); third.Commit == first.Commit {
		t.Error("other work, same commit")
	}
}

func TestALiveSessionHasAsManyAsItLikes(t *testing.T) {
	r := gittest.New(t)
	req := requestFor(r)
	req.Live = true
	for n := range 3 {
		r.Write("a.txt", fmt.Sprintf("%d\n", n))
		req.Now = testNow.Add(time.Duration(n) * time.Second)
		result := snapshot(t, r, req, Saved)
		if want := "refs/rescued-live/" + testID + req.Now.Format("/20060102T150405.000Z"); result.Ref != want {
			t.Errorf("%s, want %s", result.Ref, want)
		}
	}
	snapshot(t, r, requestFor(r), Saved) // its death is still rescued
}

func TestManyAtOnceMakeOneRef(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.txt", "later\n")
	for n := range 20 {
		r.Write(fmt.Sprintf("new-%d", n), "x\n")
	}
	before := r.Fingerprint()
	results := make([]Result, 6)
	var all sync.WaitGroup
	for n := range results {
		all.Go(func() {
			req := requestFor(r)
			req.Now = testNow.Add(time.Duration(n) * time.Hour)
			var err error
			if results[n], err = Snapshot(context.Background(), runnerOf(t, r), req); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	made := 0
	for _, result := range results {
		if !result.Known {
			made++
		}
		if result.Commit != results[0].Commit || len(result.Paths) != 21 {
			t.Errorf("%+v", result)
		}
	}
	if made != 1 {
		t.Errorf("%d made the ref", made)
	}
	if refs := strings.Count(r.Git("for-each-ref", "refs/rescued"), "\n"); refs != 1 {
		t.Errorf("%d refs", refs)
	}
	if diff := cmp.Diff(before, r.Fingerprint()); diff != "" {
		t.Error(diff)
	}
}

func home(r *gittest.Repo) string {
	for _, line := range r.Env {
		if dir, ok := strings.CutPrefix(line, "HOME="); ok {
			return dir
		}
	}
	return ""
}
