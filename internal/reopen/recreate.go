package reopen

import (
	"context"
	"fmt"
	"os"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
)

// Recreate makes the folder of a session again: a lost worktree is added to its
// repository on its branch, as it stands there now; any other folder is made
// empty. What was not committed comes back by a rescue, not by this.
func Recreate(ctx context.Context, run *git.Runner, e *ledger.Entry) error {
	if ledger.Value(e.Worktree) && folderOf(e) == FolderGone {
		if err := addWorktree(ctx, run, e); err != nil {
			return fmt.Errorf("make the worktree of session %s again: %w", e.LedgerID, err)
		}
	}
	// The session may have been born deeper in the tree than git knows of.
	if err := os.MkdirAll(ledger.Value(e.CWD), 0o777); err != nil {
		return fmt.Errorf("make the folder of session %s again: %w", e.LedgerID, err)
	}
	return nil
}

func addWorktree(ctx context.Context, run *git.Runner, e *ledger.Entry) error {
	root, common, branch := ledger.Value(e.RepoRoot), ledger.Value(e.GitCommonDir), ledger.Value(e.Branch)
	if root == "" || common == "" {
		return fmt.Errorf("its repository was not recorded; add it by hand at %s", ledger.Value(e.CWD))
	}
	if _, err := os.Stat(root); err == nil {
		return nil // only the folder below its top is gone
	}
	if branch == "" {
		return fmt.Errorf("it was on no branch; add it by hand at %s", root)
	}
	// The repository may still list the lost one at that path. Forcing the add
	// would also take a branch that is checked out elsewhere.
	_, _ = run.Run(ctx, git.Command{Dir: common, Args: []string{"worktree", "remove", root}})
	_, err := run.Run(ctx, git.Command{Dir: common, Args: []string{"worktree", "add", root, branch}})
	return err
}
