package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"agentwrap/internal/caller"
	"agentwrap/internal/ledger"
	"agentwrap/internal/process"
	"agentwrap/internal/scratch"
)

func newScratchCommand(a *app) *cobra.Command {
	var session string
	var asJSON bool
	cmd := command(&cobra.Command{
		Use:   "scratch",
		Short: "this session's scratch folder",
		Long: "Makes the calling session's scratch folder, private to you, and prints its path. It outlives a reboot and goes\n" +
			"some days after its session has ended.\n\n" +
			"The folder is that of --session; else the one that OPENAGENTS_SCRATCH names; else that of the session which is\n" +
			"found: OPENAGENTS_SESSION, the row that AGENT_LEDGER_ID names, the CLI's own session variable, or the nearest\n" +
			"agent process above.",
		Example: "  dir=$(agent-sessions scratch)\n  agent-sessions scratch --session build-7 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("session") && session == "" {
				return wrongUse("scratch: --session needs the name of a session")
			}
			return runScratch(a, session, asJSON)
		},
	})
	cmd.Flags().StringVar(&session, "session", "", "the session whose folder it is, by any name")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print path, session, root and from as a JSON object")
	cmd.AddCommand(newScratchListCommand(a), newScratchCleanCommand(a))
	return cmd
}

// call carries out a call of this program under the name argv[0]. By the name
// openagents (an optional link) it answers that program's scratch verb alone.
func call(a *app, argv []string) int {
	if filepath.Base(argv[0]) == "openagents" && (len(argv) < 2 || argv[1] != "scratch") {
		a.warn("of openagents only the word scratch is answered here: 'openagents scratch'")
		return exitWrongUse
	}
	return run(a, argv[1:])
}

// scratchFolder is the answer of `scratch --json`. From says where the session
// came from: --session, OPENAGENTS_SCRATCH, the variable that named it,
// "ancestor" or "parent".
type scratchFolder struct {
	Path    string `json:"path"`
	Session string `json:"session"`
	Root    string `json:"root"`
	From    string `json:"from"`
}

func runScratch(a *app, session string, asJSON bool) error {
	f, err := chooseScratch(a, session)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a, f)
	}
	_, err = fmt.Fprintln(a.out, f.Path)
	return err
}

func chooseScratch(a *app, session string) (scratchFolder, error) {
	if session != "" {
		return makeScratch(a, session, "--session")
	}
	if dir := a.getenv(scratch.Var); dir != "" {
		return keepScratch(dir, scratch.Var)
	}
	who := a.caller()
	session, from := who.Session()
	if row := who.Named(); row != nil && row.LedgerID == session && row.Scratch != nil {
		return keepScratch(*row.Scratch, from)
	}
	f, err := makeScratch(a, session, from)
	if err != nil {
		return f, err
	}
	return f, bindScratch(f.Path, from, who)
}

func makeScratch(a *app, session, from string) (scratchFolder, error) {
	root, err := scratch.Root(a.getenv)
	if err != nil {
		return scratchFolder{}, err
	}
	dir, err := scratch.Make(root, session)
	return scratchFolder{Path: dir, Session: session, Root: root, From: from}, err
}

func keepScratch(dir, from string) (scratchFolder, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = scratch.Keep(dir)
	}
	return scratchFolder{Path: dir, Session: scratch.SessionOf(dir), Root: filepath.Dir(dir), From: from}, err
}

// bindScratch writes down which process a session is that is named by one.
func bindScratch(dir, from string, who caller.Look) error {
	switch from {
	case "ancestor":
		if agent, ok := who.Agent(); ok {
			return scratch.Bind(dir, agent.Identity, hostname())
		}
	case "parent":
		if id, err := process.Of(who.PPID); err == nil {
			return scratch.Bind(dir, id, hostname())
		}
	}
	return nil
}

// caller tells which session called this program.
func (a *app) caller() caller.Look {
	look := caller.Look{Getenv: a.getenv, PID: os.Getpid(), PPID: os.Getppid()}
	// Without a ledger root no row is named; the rest still is.
	if root, err := ledger.Root(a.getenv); err == nil {
		look.Ledger = ledger.Open(root)
	}
	return look
}
