package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"agentwrap/internal/doctor"
	"agentwrap/internal/focus"
	"agentwrap/internal/hookconfig"
	"agentwrap/internal/ledger"
	"agentwrap/internal/observe"
	"agentwrap/internal/present"
	"agentwrap/internal/runtimes"
	"agentwrap/internal/settings"
	"agentwrap/internal/tmuxhost"
)

type doctorOptions struct{ json, repair bool }

func newDoctorCommand(a *app) *cobra.Command {
	var o doctorOptions
	cmd := command(&cobra.Command{
		Use:   "doctor",
		Short: "what is wrong on this machine, and the command that mends it",
		Long: "Looks at what agentwrap depends on: where each shell finds the CLIs, the shims and what they lead to, hooks, the\n" +
			"sweep, the ledger, the disk. Each line is ok, warn or fail, with the one command that mends it.",
		Example: "  agent-sessions doctor\n  agent-sessions doctor --repair",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a, o) },
	})
	cmd.Flags().BoolVar(&o.json, "json", false, "print the findings as a JSON array")
	cmd.Flags().BoolVar(&o.repair, "repair", false, "set damaged files of the ledger aside")
	return cmd
}

func runDoctor(ctx context.Context, a *app, o doctorOptions) error {
	src, err := a.sources()
	if err != nil {
		return err
	}
	view, err := observe.All(ctx, src, observe.Want{})
	if err != nil {
		// A ledger that cannot be read is what a doctor is asked for.
		return o.tell(ctx, a, &observe.View{}, src, err)
	}
	if o.repair {
		if err := repair(a, src.Store, view); err != nil {
			return err
		}
		if view, err = observe.All(ctx, src, observe.Want{}); err != nil {
			return err
		}
	}
	return o.tell(ctx, a, view, src, nil)
}

// tell gathers, judges and prints; unreadable is why the ledger cannot be read.
func (o doctorOptions) tell(ctx context.Context, a *app, view *observe.View, src observe.Sources, unreadable error) error {
	machine := a.machine(view, src.Store.Dir())
	machine.Unreadable = unreadable
	found := doctor.Judge(machine.Gather(ctx))
	if err := o.print(a, found); err != nil {
		return err
	}
	if doctor.Worst(found) == doctor.Fail {
		return errors.New("something is wrong; the lines that say fail tell what mends it")
	}
	return nil
}

// storesUnreadable is what cannot be read of the files beside the ledger.
func (a *app) storesUnreadable(root string) []error {
	all := focus.Unreadable(root)
	if runs, err := a.runs(); err == nil {
		if _, err := runs.Config(); err != nil {
			all = append(all, err)
		}
	}
	return all
}

func (a *app) machine(view *observe.View, root string) doctor.Machine {
	_, problems := settings.Read(a.getenv)
	problems = append(problems, runtimes.KnownTo(a.getenv).Problems()...)
	m := doctor.Machine{Getenv: a.getenv, Environ: a.env, Self: shimProgram(), View: view, Root: root, Settings: problems, Stores: a.storesUnreadable(root), Hooks: a.hookFacts(view), Now: a.now()}
	if path, err := tmuxhost.Find(a.getenv("PATH")); err == nil {
		m.MuxPath = path
	}
	return m
}

// hookFacts are the hooks of the CLIs that are used here, and when each last
// told of a session.
func (a *app) hookFacts(view *observe.View) []doctor.Hook {
	program, err := a.ownPath()
	if err != nil {
		return nil
	}
	c := hookconfig.Config{Program: program, Getenv: a.getenv}
	var all []doctor.Hook
	for _, cli := range hookconfig.CLIs() {
		if !a.uses(c, cli) {
			continue
		}
		h := doctor.Hook{Runtime: cli}
		switch r, err := c.Status(cli); {
		case err != nil:
			h.State, h.Detail = doctor.HooksUnreadable, err.Error()
		case r.Disabled && r.State != hookconfig.Absent:
			h.State, h.Detail = doctor.HooksOff, r.File+" turns all hooks off"
		default:
			h.State, h.Detail = string(r.State), r.Next
		}
		for _, s := range view.Sessions {
			if at := s.Entry.LastHeartbeat; at != nil && s.Entry.Runtime == hookconfig.Program(cli) && at.After(h.LastSeen) {
				h.LastSeen = at.Time
			}
		}
		all = append(all, h)
	}
	return all
}

// shimProgram is the agentwrap that was installed with this program.
func shimProgram() string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	return filepath.Join(filepath.Dir(own), "agentwrap")
}

func repair(a *app, store *ledger.Store, view *observe.View) error {
	for _, d := range view.Damaged {
		to, err := store.SetAside(d.ID, a.now())
		if err != nil {
			return fmt.Errorf("repair the ledger: %w", err)
		}
		a.warn("set aside as %s", to)
	}
	return nil
}

func (o doctorOptions) print(a *app, found []doctor.Finding) error {
	if o.json {
		return printJSON(a, found)
	}
	for _, f := range found {
		line := fmt.Sprintf("%-4s  %s: %s", f.Level, f.Check, f.Text)
		if f.Mend != "" {
			line += "\n      → " + f.Mend
		}
		if _, err := fmt.Fprintln(a.out, present.Lines(line)); err != nil {
			return err
		}
	}
	return nil
}
