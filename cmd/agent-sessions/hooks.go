package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/hookconfig"
	"agentwrap/internal/present"
)

func newHooksCommand(a *app) *cobra.Command {
	cmd := command(&cobra.Command{
		Use:   "hooks",
		Short: "have the CLIs tell of their sessions",
		Long: "Puts this program's hooks into the CLIs' own settings, or takes them out again. Nothing else in those files is\n" +
			"changed. With hooks a session's conversation, its turns and its end are known at once, however it was started.\n\n" +
			"CLI is " + strings.Join(hookconfig.CLIs(), ", ") + "; without one, all that are used here.",
		Example: "  agent-sessions hooks install\n  agent-sessions hooks status --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return wrongUse("hooks: say install, uninstall or status") },
	})
	cmd.AddCommand(newHooksActionCommand(a, hooksInstall), newHooksActionCommand(a, hooksUninstall), newHooksActionCommand(a, hooksStatus))
	return cmd
}

// hooksAction is one of the three things that can be done with hooks.
type hooksAction struct {
	name, short, long string
	do                func(hookconfig.Config, string) (hookconfig.Report, error)
	// all tells whether CLIs that are not used here count too.
	all bool
}

var (
	hooksInstall = hooksAction{"install", "put the hooks into the CLIs' settings",
		"Puts the hooks into the settings of each CLI, or brings them up to date. The settings as they were stay beside them.",
		hookconfig.Config.Install, false}
	hooksUninstall = hooksAction{"uninstall", "take the hooks out again",
		"Takes the hooks out of the settings of each CLI. A file that was not changed since is again what it was before.",
		hookconfig.Config.Uninstall, true}
	hooksStatus = hooksAction{"status", "tell where the hooks are",
		"Tells for each CLI whether the hooks are in its settings. Outdated ones call another program or lack an event.",
		hookconfig.Config.Status, true}
)

func newHooksActionCommand(a *app, action hooksAction) *cobra.Command {
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:       action.name + " [CLI...]",
		Short:     action.short,
		Long:      action.long,
		Example:   "  agent-sessions hooks " + action.name + " claude",
		ValidArgs: hookconfig.CLIs(),
		Args:      knownCLIs,
		RunE:      func(_ *cobra.Command, clis []string) error { return runHooks(a, action, clis, asJSON) },
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func knownCLIs(_ *cobra.Command, args []string) error {
	for _, cli := range args {
		if !slices.Contains(hookconfig.CLIs(), cli) {
			return fmt.Errorf("%q has no hooks that can be installed: it is one of %s", cli, strings.Join(hookconfig.CLIs(), ", "))
		}
	}
	return nil
}

// runHooks does one thing for each CLI. What fails for one keeps none of the
// others.
func runHooks(a *app, action hooksAction, clis []string, asJSON bool) error {
	program, err := a.ownPath()
	if err != nil {
		return err
	}
	c := hookconfig.Config{Program: program, Getenv: a.getenv}
	if len(clis) == 0 {
		clis = slices.DeleteFunc(hookconfig.CLIs(), func(cli string) bool { return !action.all && !a.uses(c, cli) })
	}
	reports := []hookconfig.Report{}
	var failed error
	for _, cli := range clis {
		r, err := action.do(c, cli)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		reports = append(reports, r)
	}
	if asJSON {
		return errors.Join(printJSON(a, reports), failed)
	}
	return errors.Join(printHooks(a, reports), failed)
}

// uses tells whether a CLI is used here: it has a folder or a program.
func (a *app) uses(c hookconfig.Config, cli string) bool {
	return c.Used(cli) || slices.ContainsFunc(filepath.SplitList(a.getenv("PATH")), func(dir string) bool {
		_, err := exec.LookPath(filepath.Join(dir, hookconfig.Program(cli)))
		return err == nil && filepath.IsAbs(dir)
	})
}

// ownPath is how this program is called from elsewhere: by its place on PATH,
// which outlives an update that moves the program itself, else by that.
func (a *app) ownPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		path := filepath.Join(dir, "agent-sessions")
		if st, err := os.Stat(path); err == nil && filepath.IsAbs(dir) && os.SameFile(st, own) {
			return path, nil
		}
	}
	return self, nil
}

func printHooks(a *app, reports []hookconfig.Report) error {
	t := present.Table{Columns: []present.Column{{Title: "CLI"}, {Title: "HOOKS"}, {Title: "SETTINGS", Min: 20}}}
	for _, r := range reports {
		state := string(r.State)
		if r.Disabled && r.State != hookconfig.Absent {
			state += ", but all hooks are turned off"
		}
		t.Rows = append(t.Rows, []present.Cell{{Text: r.CLI}, {Text: state}, {Text: r.File}})
	}
	if err := t.Write(a.out, a.screen()); err != nil {
		return err
	}
	for _, r := range reports {
		if r.Next != "" {
			a.warn("%s: %s", r.CLI, r.Next)
		}
	}
	return nil
}
