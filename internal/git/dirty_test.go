package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentwrap/test/gittest"
)

func TestDirtyCountsAreTheLinesOfStatus(t *testing.T) {
	repo := gittest.New(t)
	linked := repo.Worktree("side")
	repo.Write("a.txt", "a, later\n")
	repo.Write("new folder/one", "")
	repo.Write("new folder/two", "")
	repo.Write("new\nline", "")
	repo.Remove("run.sh")
	linked.Git("mv", "a.txt", "renamed.txt")
	clean := gittest.New(t)
	empty := gittest.Init(t)
	bare := gittest.Init(t, "--bare")
	dirs := []string{repo.Dir, repo.Path("dir"), linked.Dir, clean.Dir, empty.Dir, bare.Dir, repo.Path("gone"), repo.Dir}
	before := repo.Fingerprint()
	counts := runnerFor(t, repo.Env).DirtyCounts(context.Background(), dirs, time.Minute)
	for _, dir := range []string{repo.Dir, repo.Path("dir"), linked.Dir, clean.Dir, empty.Dir} {
		want := strings.Count(repo.At(dir).Git("--no-optional-locks", "status", "--porcelain"), "\n")
		if got := counts[dir]; got.Count != want || got.Err != nil || got.Slow {
			t.Errorf("%s: %+v, want %d", dir, got, want)
		}
	}
	if got := counts[bare.Dir]; !errors.Is(got.Err, ErrNoTree) {
		t.Errorf("bare: %+v", got)
	}
	if got := counts[repo.Path("gone")]; !errors.Is(got.Err, ErrNoDir) {
		t.Errorf("gone: %+v", got)
	}
	if len(counts) != 7 {
		t.Errorf("%d folders", len(counts))
	}
	after := repo.Fingerprint()
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s changed", name)
		}
	}
	if none := runnerFor(t, repo.Env).DirtyCounts(context.Background(), nil, time.Minute); len(none) != 0 {
		t.Errorf("none: %v", none)
	}
}

// A stand-in that hangs in some folders: they are told as slow, the rest is counted.
func TestASlowRepositoryHoldsUpNoOther(t *testing.T) {
	real := runnerFor(t, gittest.Environ(t)).program
	r := script(t, "case $PWD in *slow*) exec sleep 1000;; *) exec "+real+" \"$@\";; esac\n")
	root := t.TempDir()
	var dirs []string
	for i := range 60 {
		dir := filepath.Join(root, fmt.Sprintf("fast-%d", i))
		if i < 16 {
			dir = filepath.Join(root, fmt.Sprintf("slow-%d", i))
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	counts := r.DirtyCounts(context.Background(), dirs, 4*time.Second)
	for dir, got := range counts {
		if slow := strings.Contains(dir, "slow"); got.Slow != slow || !slow && !errors.Is(got.Err, ErrNotRepository) {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}
