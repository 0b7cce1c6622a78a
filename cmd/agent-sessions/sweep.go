package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/attend"
	"agentwrap/internal/notify"
	"agentwrap/internal/procscan"
	"agentwrap/internal/rescue"
	"agentwrap/internal/settings"
	"agentwrap/internal/sweep"
	"agentwrap/internal/tidy"
	"agentwrap/internal/tmuxhost"
)

type sweepOptions struct {
	json, quiet, watch bool
}

func newSweepCommand(a *app) *cobra.Command {
	var o sweepOptions
	cmd := command(&cobra.Command{
		Use:   "sweep",
		Short: "look after the sessions once",
		Long: "Records the sessions that nobody recorded, closes those whose process is gone, saves what they left uncommitted,\n" +
			"removes entries that ended a month ago, and tells of what was lost. A timer does it every minute; doing it twice\n" +
			"changes nothing. Of two at once the second leaves.",
		Example: "  agent-sessions sweep --json\n  agent-sessions sweep --watch",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runSweep(cmd.Context(), a, o) },
	}, exitRefused)
	cmd.Flags().BoolVar(&o.json, "json", false, "print what was done as a JSON object")
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but what failed")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "go on every minute until interrupted")
	return cmd
}

func runSweep(ctx context.Context, a *app, o sweepOptions) error {
	s, err := a.sweeper()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	if o.watch {
		s.Watch(ctx, func(r sweep.Report, err error) {
			if err = printSweep(a, o, r, err); err != nil {
				a.complain(err)
			}
		})
		return nil
	}
	r, err := s.Run(ctx)
	return printSweep(a, o, r, err)
}

// sweeper is what looks after this environment's sessions.
func (a *app) sweeper() (*sweep.Sweeper, error) {
	src, err := a.sources()
	if err != nil {
		return nil, err
	}
	chosen, problems := settings.Read(a.getenv)
	for _, p := range problems {
		a.warn("%v", p)
	}
	s := &sweep.Sweeper{
		Sources: src,
		Rescue:  sweep.Snapshots(a.env, rescue.Limits{File: chosen.Rescue.FileLimit, Total: chosen.Rescue.TotalLimit}, a.now),
		Notify:  &notify.Notifier{Root: src.Store.Dir(), Settings: chosen.Notify, Environ: a.env, Now: a.now},
	}
	s.Tidy = tidy.Tidier{Ledger: src.Store, Getenv: a.getenv, Settings: chosen.Scratch, Now: a.now}.Run
	if runs, err := a.runs(); err == nil {
		s.Attend = attend.Attendant{Sources: src, Runs: runs, IdleExit: chosen.IdleExit}.Run
	}
	if program, err := tmuxhost.Find(a.getenv("PATH")); err == nil {
		s.Panes = func(socket string) ([]procscan.Pane, error) {
			panes, err := tmuxhost.Server{Program: program, Socket: socket}.Panes()
			found := make([]procscan.Pane, len(panes))
			for i, p := range panes {
				found[i] = procscan.Pane(p)
			}
			return found, err
		}
	}
	return s, nil
}

func printSweep(a *app, o sweepOptions, r sweep.Report, err error) error {
	if errors.Is(err, procscan.ErrNamespace) {
		return refuse("sweep: %v", err)
	}
	if err != nil {
		return err
	}
	for _, f := range r.Failed {
		a.warn("%s", f)
	}
	switch {
	case o.json:
		err = printJSON(a, r)
	case !o.quiet:
		_, err = fmt.Fprintln(a.out, sweepSummary(r))
	}
	if err == nil && len(r.Failed) > 0 {
		return fmt.Errorf("sweep: %d things could not be done; the next sweep tries again", len(r.Failed))
	}
	return err
}

// sweepSummary is one line on what a sweep did.
func sweepSummary(r sweep.Report) string {
	if r.Busy {
		return "another sweep is at work"
	}
	var did []string
	count := func(n int, what string) {
		if n > 0 {
			did = append(did, fmt.Sprintf("%d %s", n, what))
		}
	}
	count(len(r.Enrolled), "recorded")
	count(len(r.Bound), "bound to their process")
	count(len(r.Rescued), "looked through for uncommitted work")
	count(len(r.Closed), "closed")
	count(len(r.Pruned), "removed after a month")
	count(len(r.SetAside), "damaged and set aside")
	count(len(r.Notified), "told of")
	if r.Attended != nil {
		count(len(r.Attended.Delivered), "given a message")
		count(len(r.Attended.Ended), "ended after being idle")
	}
	if t := r.Tidied; t != nil {
		count(len(t.Scratch), "scratch folders removed")
		count(len(t.Context), "context files removed")
		count(len(t.Large), "scratch folders grown large")
	}
	count(len(r.Unverifiable), "not verifiable: their environment cannot be read")
	if len(did) == 0 {
		return "nothing to do"
	}
	return strings.Join(did, ", ")
}
