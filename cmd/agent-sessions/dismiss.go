package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/sweep"
)

func newDismissCommand(a *app) *cobra.Command {
	var olderThan string
	cmd := command(&cobra.Command{
		Use:   "dismiss ID... | --older-than AGE",
		Short: "close lost sessions that are no longer wanted",
		Long: "Closes lost sessions, so that they are listed no more and their entries go after a month. What they left\n" +
			"uncommitted is saved first, as a sweep does.",
		Example: "  agent-sessions dismiss 482913\n  agent-sessions dismiss --older-than 30d",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, ids []string) error { return runDismiss(cmd.Context(), a, ids, olderThan) },
	}, exitNoSession, exitRefused)
	cmd.Flags().StringVar(&olderThan, "older-than", "", "all that were last active longer ago than this `age`, such as 36h or 30d")
	return cmd
}

func runDismiss(ctx context.Context, a *app, short []string, olderThan string) error {
	if (len(short) == 0) == (olderThan == "") {
		return wrongUse("dismiss: give either IDs or --older-than")
	}
	s, err := a.sweeper()
	if err != nil {
		return err
	}
	var ids []string
	if olderThan != "" {
		age, err := parseAge(olderThan)
		if err != nil {
			return wrongUse("dismiss: --older-than: %w", err)
		}
		if ids, err = s.LostBefore(ctx, a.now().Add(-age)); err != nil {
			return err
		}
	}
	for _, word := range short {
		id, err := s.Sources.Store.Resolve(word)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	return dismissAll(ctx, a, s, ids)
}

// dismissAll dismisses what can be dismissed and tells of the rest.
func dismissAll(ctx context.Context, a *app, s *sweep.Sweeper, ids []string) error {
	var failed []error
	for _, id := range ids {
		switch err := s.Dismiss(ctx, id); {
		case errors.Is(err, sweep.ErrNotLost):
			failed = append(failed, refuse("%v", err))
		case err != nil:
			failed = append(failed, err)
		default:
			if _, err := fmt.Fprintln(a.out, "dismissed", id); err != nil {
				return err
			}
		}
	}
	return errors.Join(failed...)
}

// parseAge reads a length of time: a number of days with d, or as Go writes it.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36500 {
			return 0, fmt.Errorf("%q is no number of days", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no age: give one such as 36h or 30d", s)
	}
	return d, nil
}
