package main

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/hookadopt"
	"agentwrap/internal/sweep"
)

// isHookCall tells a call by a CLI's hook, which is answered before any command
// is built: an agent waits for it at every turn.
func isHookCall(argv []string) bool {
	return len(argv) == 3 && argv[1] == "hook" && slices.Contains(hookadopt.CLIs(), argv[2])
}

// answerHook carries out a hook call. It ends well whatever happens: to some
// CLIs another exit code is an order to stop.
func answerHook(cli string) {
	// A CLI that does not read the answer is no reason to die.
	signal.Ignore(syscall.SIGPIPE)
	hookadopt.Run(hookadopt.Call{
		CLI: cli, Stdin: os.Stdin, Stdout: os.Stdout, Environ: os.Environ(), Now: time.Now, Speakers: speakers(), Prune: sweep.PruneUntil,
		Messages: newHookMessages(os.Getenv, time.Now), Watch: hookJournal(os.Getenv),
	})
	lookAfter(os.Getenv, os.Environ(), time.Now())
}

// speakers are what the SessionStart hook may say to the model, in this order.
func speakers() []hookadopt.Speaker {
	return []hookadopt.Speaker{rescueWaits(os.Getenv), othersHere(os.Getenv, time.Now), othersFocus(os.Getenv, time.Now)}
}

func newHookCommand(a *app) *cobra.Command {
	return command(&cobra.Command{
		Use:   "hook CLI",
		Short: "called by a CLI's hooks, with the event on standard input",
		Long: "Takes one event of a CLI's hooks into the ledger and answers it; 'agent-sessions hooks install' has it called.\n" +
			"CLI is " + strings.Join(hookadopt.CLIs(), ", ") + ". It never fails: what goes wrong stands in the ledger's log/hook.log.",
		Example: "  agent-sessions hook claude < event.json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			a.warn("%q is no CLI whose hooks are understood: nothing is done", strings.Join(args, " "))
			return nil
		},
	})
}
