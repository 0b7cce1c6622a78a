package rescue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
	"agentwrap/test/gittest"
)

func TestListAndDrop(t *testing.T) {
	r, _ := withSubmodule(t)
	w := r.Worktree("side")
	ctx, runner := context.Background(), runnerOf(t, r)
	if snaps, err := List(ctx, runner, r.Dir); len(snaps) != 0 || err != nil {
		t.Errorf("%+v, %v", snaps, err)
	}
	r.Write("a.txt", "later\n")
	r.Write("sub/a.txt", "later in the submodule\n")
	first := saved(t, r)
	w.Write("a.txt", "of a live one\n")
	req := requestFor(w)
	req.Live, req.Title, req.Now = true, "second", testNow.Add(1)
	snapshot(t, w, req, Saved)
	for _, dir := range []string{r.Dir, w.Dir, r.Path(".git"), w.Path("dir")} {
		snaps, err := List(ctx, runner, dir)
		if err != nil || len(snaps) != 2 {
			t.Fatalf("%s: %+v, %v", dir, snaps, err)
		}
	}
	if _, err := List(ctx, runner, r.Path("gone")); !errors.Is(err, git.ErrNoDir) {
		t.Errorf("%v", err)
	}
	other := first
	other.Commit = strings.TrimSpace(r.Git("rev-parse", "HEAD"))
	other.Nested = nil
	if err := Drop(ctx, runner, other); err == nil {
		t.Error("a snapshot that is another was dropped")
	}
	if err := Drop(ctx, runner, first); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(ctx, runner, r.Dir, first.Ref); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	if refs := strings.Count(r.Git("for-each-ref", "refs/rescued*"), "\n") + strings.Count(r.Git("for-each-ref", "refs/rescued-nested"), "\n"); refs != 0 {
		t.Errorf("%d refs are left", refs)
	}
}

func TestDiffShowsWhatChanged(t *testing.T) {
	r := gittest.New(t)
	r.Write(".gitattributes", "*.txt diff=evil\n")
	r.Commit("attributes")
	started := filepath.Join(t.TempDir(), "started")
	r.Git("config", "diff.evil.textconv", "touch "+started+"; cat")
	r.Git("config", "diff.evil.command", "touch "+started)
	r.Write("a.txt", "later\n")
	r.Write("new", "n\n")
	snap := saved(t, r)
	var stat, patch strings.Builder
	if err := Diff(context.Background(), runnerOf(t, r), snap, false, &stat); err != nil {
		t.Fatal(err)
	}
	if err := Diff(context.Background(), runnerOf(t, r), snap, true, &patch); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stat.String(), "2 files changed, 2 insertions(+), 1 deletion(-)") || strings.Contains(stat.String(), "+later") {
		t.Error(stat.String())
	}
	if !strings.Contains(patch.String(), "-a, first\n+later\n") {
		t.Error(patch.String())
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a program of the repository's was started")
	}
}

func TestPick(t *testing.T) {
	const a, b = "claude-20260807T110001Z-482913", "claude-20260807T110001Z-482914"
	live := func(id, at string) Snap { return Snap{Ref: livePrefix + id + "/" + at, Live: true} }
	dead := func(id string) Snap { return Snap{Ref: refPrefix + id} }
	snaps := []Snap{live(a, "20260807T130000.000Z"), dead(b), live(a, "20260807T120000.000Z"), dead(a), live("codex-1", "20260807T110000.000Z")}
	for word, want := range map[string]string{
		a: refPrefix + a, "482913": refPrefix + a, "482914": refPrefix + b, refPrefix + b: refPrefix + b,
		a + "/20260807T120000.000Z": livePrefix + a + "/20260807T120000.000Z",
		"codex":                     livePrefix + "codex-1/20260807T110000.000Z", "codex-1": livePrefix + "codex-1/20260807T110000.000Z",
	} {
		if got, err := Pick(snaps, word); err != nil || got.Ref != want {
			t.Errorf("%s: %s, %v, want %s", word, got.Ref, err, want)
		}
	}
	for _, word := range []string{"", "gemini", "refs/rescued/"} {
		if got, err := Pick(snaps, word); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %+v, %v", word, got, err)
		}
	}
	var ambiguous *ledger.AmbiguousError
	if _, err := Pick(snaps, "claude"); !errors.As(err, &ambiguous) {
		t.Errorf("%v", err)
	}
	// One session's whole id may begin another's.
	if got, err := Pick([]Snap{dead("codex-12"), dead("codex-1"), dead("codex-11")}, "codex-1"); err != nil || got.Ref != refPrefix+"codex-1" {
		t.Errorf("%+v, %v", got, err)
	}
}
