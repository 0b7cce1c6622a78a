package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

type manOptions struct{ dir string }

func newManCommand(a *app) *cobra.Command {
	var o manOptions
	cmd := command(&cobra.Command{
		Use:   "man [COMMAND]",
		Short: "the manual pages",
		Long: "Prints the manual page of a command, or of agent-sessions itself, as roff.\n" +
			"With --dir, writes all pages into a folder and prints their paths.",
		Example: "  agent-sessions man attach | man -l -\n  agent-sessions man --dir ~/.local/share/man/man1",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.dir != "" {
				return runManAll(a, cmd.Root(), o.dir)
			}
			return runMan(a, cmd.Root(), args)
		},
	})
	cmd.Flags().StringVar(&o.dir, "dir", "", "write all pages into this folder")
	return cmd
}

func runMan(a *app, root *cobra.Command, args []string) error {
	page, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return wrongUse("man: %q is no command; see 'agent-sessions --help'", args[0])
	}
	_, err = io.WriteString(a.out, manPage(page))
	return err
}

func runManAll(a *app, root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var failed error
	walkCommands(root, func(c *cobra.Command) {
		path := filepath.Join(dir, pageName(c)+".1")
		if err := os.WriteFile(path, []byte(manPage(c)), 0o644); err != nil {
			failed = errors.Join(failed, err)
			return
		}
		fmt.Fprintln(a.out, path)
	})
	return failed
}

// walkCommands calls f for every command that a person can type, parents first.
func walkCommands(c *cobra.Command, f func(*cobra.Command)) {
	if c.Name() == "help" || c.Hidden {
		return
	}
	f(c)
	for _, sub := range c.Commands() {
		walkCommands(sub, f)
	}
}
