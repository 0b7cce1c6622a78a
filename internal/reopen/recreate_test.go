package reopen

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"agentwrap/internal/git"
	"agentwrap/internal/gitfacts"
	"agentwrap/internal/ledger"
	"agentwrap/test/gittest"
)

func TestALostWorktreeComesBackOnItsBranch(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("f", "committed\n")
	repo.Git("add", ".")
	repo.Git("commit", "-q", "-m", "first")
	tree := filepath.Join(t.TempDir(), "wt")
	repo.Git("worktree", "add", "-q", "-b", "topic", tree)
	deep := filepath.Join(tree, "sub", "deep")
	facts := gitfacts.At(tree)
	e := &ledger.Entry{LedgerID: "claude-1", CWD: ledger.Ptr(deep), RepoRoot: ledger.Ptr(tree), Branch: ledger.Ptr("topic"),
		Worktree: ledger.Ptr(true), GitCommonDir: ledger.Ptr(facts.CommonDir)}
	if err := os.RemoveAll(tree); err != nil {
		t.Fatal(err)
	}
	run, err := git.New(os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if err := Recreate(context.Background(), run, e); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(tree, "f")); err != nil || string(raw) != "committed\n" {
		t.Errorf("%q, %v", raw, err)
	}
	if got := gitfacts.At(deep); got.Branch != "topic" || !got.Worktree || folderOf(e) != FolderThere {
		t.Errorf("%+v", got)
	}
}

func TestAWorktreeThatCannotComeBackSaysWhy(t *testing.T) {
	repo := gittest.New(t)
	repo.Git("commit", "-q", "--allow-empty", "-m", "first")
	tree, taken := filepath.Join(t.TempDir(), "wt"), filepath.Join(t.TempDir(), "taken")
	repo.Git("worktree", "add", "-q", "-b", "topic", tree)
	common := gitfacts.At(tree).CommonDir
	if err := os.RemoveAll(tree); err != nil {
		t.Fatal(err)
	}
	repo.Git("worktree", "prune")
	repo.Git("worktree", "add", "-q", taken, "topic")
	run, err := git.New(os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*ledger.Entry){
		"branch open elsewhere": func(*ledger.Entry) {},
		"no branch":             func(e *ledger.Entry) { e.Branch = nil },
		"no repository":         func(e *ledger.Entry) { e.GitCommonDir = nil },
		"branch gone":           func(e *ledger.Entry) { e.Branch = ledger.Ptr("nobody") },
	} {
		e := &ledger.Entry{LedgerID: "claude-1", CWD: ledger.Ptr(tree), RepoRoot: ledger.Ptr(tree), Branch: ledger.Ptr("topic"),
			Worktree: ledger.Ptr(true), GitCommonDir: ledger.Ptr(common)}
		change(e)
		if err := Recreate(context.Background(), run, e); err == nil || folderOf(e) != FolderGone {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPlainFolderIsMadeAgain(t *testing.T) {
	e := &ledger.Entry{LedgerID: "claude-1", CWD: ledger.Ptr(filepath.Join(t.TempDir(), "a", "b"))}
	if err := Recreate(context.Background(), nil, e); err != nil || folderOf(e) != FolderThere {
		t.Errorf("%v", err)
	}
}
