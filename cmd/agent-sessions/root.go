package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// exitsKey is the annotation under which a command keeps its EXIT STATUS.
const exitsKey = "exit status"

// version is set by the build.
var version = "devel"

type rootCommand struct{ *cobra.Command }

// newRoot is the whole command tree.
func newRoot(a *app) rootCommand {
	root := newListCommand(a)
	root.Use = "agent-sessions"
	root.Short = "every AI coding session on this machine"
	root.Long = "Lists, reopens and looks after the AI coding sessions of this machine.\n" +
		"Without a command it lists what lives and what was lost.\n\n" +
		"An ID is a session's full id, any beginning of it that fits only one, or its last digits."
	root.Example = "  agent-sessions\n  agent-sessions attach 482913\n  agent-sessions show claude-20260807T110001Z-482913 --json"
	root.Args = noCommand
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return wrongUse("%w; see '%s --help'", err, cmd.CommandPath())
	})
	root.SetUsageTemplate(root.UsageTemplate() + `{{with index .Annotations "` + exitsKey + `"}}
{{.}}{{end}}
`)
	root.Version = version
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	cobra.EnableCommandSorting = false // groups has the order
	for _, g := range groups(a) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID(groupHelp)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Short = "help about a command"
	}
	return rootCommand{root}
}

// groupHelp is the group that cobra's own help command is in.
const groupHelp = "Help"

// group is commands that stand together in the help.
type group struct {
	title    string
	commands []*cobra.Command
}

func groups(a *app) []group {
	return []group{
		{"Sessions", []*cobra.Command{
			newListCommand(a),
			newShowCommand(a),
			newAttachCommand(a),
			newReopenCommand(a),
			newNewCommand(a),
			newPeekCommand(a),
			newDetachCommand(a),
			newStopCommand(a),
			newDismissCommand(a),
		}},
		{"A session from outside", []*cobra.Command{
			newSendCommand(a),
			newMessagesCommand(a),
			newEventsCommand(a),
			newIdleCommand(a),
			newEnvCommand(a),
		}},
		{"Their work", []*cobra.Command{
			newRescueCommand(a),
			newScratchCommand(a),
			newContextCommand(a),
			newFocusCommand(a),
			newClaimCommand(a),
			newReleaseCommand(a),
			newClaimsCommand(a),
		}},
		{"This machine", []*cobra.Command{
			newDoctorCommand(a),
			newHooksCommand(a),
			newHookCommand(a),
			newSweepCommand(a),
			newPruneCommand(a),
		}},
		{groupHelp, []*cobra.Command{
			newCompletionCommand(a),
			newManCommand(a),
		}},
	}
}

func (r rootCommand) execute(ctx context.Context, args []string) error {
	r.SetArgs(args)
	return r.ExecuteContext(ctx)
}

// command fills in what all commands have.
func command(c *cobra.Command, codes ...int) *cobra.Command {
	c.Annotations = map[string]string{exitsKey: exitStatus(codes...)}
	c.Args = argsOf(c.Args)
	c.DisableFlagsInUseLine = true
	return c
}

// noCommand is the root's own check: a word that is no command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		return wrongUse("%q is no command; see 'agent-sessions --help'", args[0])
	}
	return wrongUse("%q is no command; did you mean %s?", args[0], strings.Join(near, " or "))
}
