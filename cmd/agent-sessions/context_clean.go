package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"agentwrap/internal/contextfiles"
	"agentwrap/internal/present"
)

func newContextCleanCommand(a *app) *cobra.Command {
	var session string
	var yes bool
	cmd := command(&cobra.Command{
		Use:   "clean",
		Short: "delete the session's context files",
		Long: "Shows what it will delete, asks, and deletes the files that the session's manifest tracks, then the folders that\n" +
			"are left empty. What is not tracked stays and is named. Without a terminal it needs --yes.",
		Example: "  agent-sessions context clean\n  agent-sessions context clean --yes",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runContextClean(a, session, yes) },
	}, exitNoSession, exitRefused)
	sessionFlag(cmd, &session)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func runContextClean(a *app, session string, yes bool) error {
	store, m, err := a.contextSession(session)
	if err != nil {
		return err
	}
	if err := a.mayClean(m); err != nil {
		return err
	}
	plan, err := store.PlanClean(m.SessionID)
	if err != nil {
		return err
	}
	a.showContextPlan(plan)
	if !yes {
		if err := a.confirm("Delete these files?"); err != nil {
			return fmt.Errorf("context clean: %w", err)
		}
	}
	deleted, err := store.Clean(plan)
	fmt.Fprintf(a.out, "deleted %d of %d files, left %d\n", len(deleted), len(plan.Delete), len(plan.Left)+len(plan.Delete)-len(deleted))
	return err
}

// mayClean refuses the context files of another session that is not over.
func (a *app) mayClean(m *contextfiles.Manifest) error {
	who := a.caller()
	if m.LedgerID == nil || who.Ledger == nil {
		return nil
	}
	if row := who.Row(); row != nil && slices.Contains(who.Ledger.Lineage(row), *m.LedgerID) {
		return nil
	}
	loaded, err := who.Ledger.Load(false)
	if err != nil {
		return err
	}
	for _, e := range loaded.Open() {
		if slices.Contains(who.Ledger.Lineage(e), *m.LedgerID) {
			return refuse("context clean: %s belongs to session %s, which is not over", m.SessionID, e.LedgerID)
		}
	}
	return nil
}

func (a *app) showContextPlan(plan contextfiles.CleanPlan) {
	fmt.Fprintln(a.out, present.Line(plan.Dir))
	for _, name := range plan.Delete {
		fmt.Fprintf(a.out, "  delete  %s\n", present.Line(name))
	}
	for _, l := range plan.Left {
		fmt.Fprintf(a.out, "  leave   %s: %s\n", present.Line(l.Path), present.Line(l.Why))
	}
}

// confirm asks a person a question that is answered no unless they say yes.
// Where nobody can be asked it refuses.
func (a *app) confirm(question string) error {
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return refuse("there is no terminal to ask on: add --yes to go on without being asked")
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	if err != nil {
		fmt.Fprintln(a.err)
	}
	return refuse("nothing was done")
}
