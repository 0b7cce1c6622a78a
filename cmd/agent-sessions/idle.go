package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/runstore"
)

type idleOptions struct {
	after time.Duration
	never bool
	json  bool
}

func newIdleCommand(a *app) *cobra.Command {
	var o idleOptions
	cmd := command(&cobra.Command{
		Use:   "idle ID",
		Short: "whether a session ends when it is idle",
		Long: "Says when a hosted session shall end by itself: once it has been idle for that long, with nobody attached, nothing\n" +
			"half-typed, no question open and no message waiting. Its conversation can be resumed later. Without flags it shows\n" +
			"what is set.",
		Example:           "  agent-sessions idle 482913 --exit-after 30m\n  agent-sessions idle 482913 --never",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			set := cmd.Flags().Changed("exit-after")
			if set && o.never {
				return wrongUse("idle: --exit-after and --never exclude each other")
			}
			if o.after < 0 {
				return wrongUse("idle: --exit-after %s is negative", o.after)
			}
			return runIdle(a, args[0], o, set)
		},
	}, exitNoSession)
	cmd.Flags().DurationVar(&o.after, "exit-after", 0, "end it after this time, such as 10m; 0 is 10m")
	cmd.Flags().BoolVar(&o.never, "never", false, "never end it by itself")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON object")
	return cmd
}

func runIdle(a *app, short string, o idleOptions, set bool) error {
	row, err := a.row(short)
	if err != nil {
		return err
	}
	runs, err := a.runs()
	if err != nil {
		return err
	}
	if set || o.never {
		policy := runstore.IdlePolicy{ExitOnIdle: !o.never, IdleTimeout: o.after}
		if err := runs.WriteIdlePolicy(row.LedgerID, policy); err != nil {
			return err
		}
		if err := runs.AppendEvent(row.LedgerID, runstore.Event{Type: runstore.EventIdle, Phase: "policy", Text: policyText(policy)}); err != nil {
			a.warn("%v", err)
		}
		return nil
	}
	policy, found, err := runs.ReadIdlePolicy(row.LedgerID)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(a, map[string]any{"exit_on_idle": policy.ExitOnIdle, "idle_timeout_seconds": policy.IdleTimeout.Seconds(), "set": found})
	}
	_, err = fmt.Fprintln(a.out, policyText(policy))
	return err
}

func policyText(p runstore.IdlePolicy) string {
	if !p.ExitOnIdle {
		return "never ends by itself"
	}
	if p.IdleTimeout == 0 {
		p.IdleTimeout = runstore.DefaultIdleTimeout
	}
	return "ends after " + p.IdleTimeout.String() + " of idleness"
}
