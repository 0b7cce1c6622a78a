package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"agentwrap/internal/sweep"
)

func newPruneCommand(a *app) *cobra.Command {
	var dryRun, asJSON bool
	cmd := command(&cobra.Command{
		Use:   "prune",
		Short: "remove entries that ended a month ago",
		Long: "Removes the entries of sessions that finished more than 30 days ago, as every sweep does. An entry that has not\n" +
			"finished stays, however old; so do rescued work, transcripts and everything of the CLIs' own.",
		Example: "  agent-sessions prune --dry-run",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runPrune(a, dryRun, asJSON) },
	})
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "only print which they are")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the ids as a JSON array")
	return cmd
}

func runPrune(a *app, dryRun, asJSON bool) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	pruned, failed, err := sweep.Prune(store, a.now(), dryRun)
	if err != nil {
		return err
	}
	for _, f := range failed {
		a.warn("%s", f)
	}
	if asJSON {
		err = printJSON(a, pruned)
	} else {
		for _, id := range pruned {
			if _, err = fmt.Fprintln(a.out, id); err != nil {
				break
			}
		}
	}
	if err == nil && len(failed) > 0 {
		return fmt.Errorf("prune: %d entries are still there", len(failed))
	}
	return err
}
