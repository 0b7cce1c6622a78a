package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/observe"
	"agentwrap/internal/present"
)

func newCompletionCommand(a *app) *cobra.Command {
	return command(&cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "a shell's completions, with the ids of the sessions",
		Long: "Prints the completion script of a shell. install.sh puts it where the shell looks; by hand:\n\n" +
			"  bash  ~/.local/share/bash-completion/completions/agent-sessions\n" +
			"  zsh   _agent-sessions in a folder of $fpath\n" +
			"  fish  ~/.config/fish/completions/agent-sessions.fish",
		Example:               "  source <(agent-sessions completion bash)",
		Args:                  cobra.ExactArgs(1),
		ValidArgs:             []string{"bash", "zsh", "fish"},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			}
			return wrongUse("no completions for %q: bash, zsh and fish have them", args[0])
		},
	})
}

// completeID completes the first argument by the sessions that live or were
// lost, each with what tells it from the others.
func completeID(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) > 0 {
			return nil, directive
		}
		src, err := a.sources()
		if err != nil {
			return nil, directive
		}
		view, err := observe.All(cmd.Context(), src, observe.Want{Texts: true})
		if err != nil {
			return nil, directive
		}
		slices.SortStableFunc(view.Sessions, lostFirst)
		var ids []cobra.Completion
		for _, s := range view.Sessions {
			word, _ := stateWord(s)
			about := strings.TrimSpace(present.Line(word + " " + where(s) + " " + titleOf(s)))
			ids = append(ids, cobra.CompletionWithDesc(s.Entry.LedgerID, about))
		}
		return ids, directive
	}
}
