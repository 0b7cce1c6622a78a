package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/ledger"
	"agentwrap/internal/present"
	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
)

type envOptions struct {
	prepend    []string
	set        []string
	configHome string
	json       bool
}

func newEnvCommand(a *app) *cobra.Command {
	var o envOptions
	cmd := command(&cobra.Command{
		Use:   "env ID",
		Short: "PATH and variables for a session's next opening",
		Long: "Keeps what a session's environment shall have when it is opened the next time. Each list replaces the one that was\n" +
			"kept; the last value of a variable counts. Values stay in a file that only you can read: to keep a secret off the\n" +
			"command line, give --set KEY alone, which takes its value from the environment. Without flags it shows what is kept, without the values.",
		Example:           "  agent-sessions env 482913 --prepend-path ~/go/bin --set API_KEY\n  agent-sessions env 482913",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeID(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEnv(a, args[0], o, cmd.Flags().Changed("prepend-path") || cmd.Flags().Changed("set") || cmd.Flags().Changed("config-home"))
		},
	}, exitNoSession)
	cmd.Flags().StringArrayVar(&o.prepend, "prepend-path", nil, "a folder to go before PATH, again for more")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a variable: KEY=VALUE, or KEY for its value here; again for more")
	cmd.Flags().StringVar(&o.configHome, "config-home", "", "the CLI's own folder, such as CODEX_HOME")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON object")
	return cmd
}

func runEnv(a *app, short string, o envOptions, set bool) error {
	row, err := a.row(short)
	if err != nil {
		return err
	}
	runs, err := a.runs()
	if err != nil {
		return err
	}
	if set {
		if err := o.absolute(); err != nil {
			return wrongUse("env: %w", err)
		}
		vars, err := variables(o.set, a.env)
		if err != nil {
			return err
		}
		if err := runs.EnsureSession(row); err != nil {
			return err
		}
		return runs.UpdateSessionEnvConfig(row.LedgerID, o.prepend, vars, o.configHome)
	}
	m, err := keptFor(runs, row.LedgerID)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(a, map[string]any{"prepend_paths": slices.Concat([]string{}, m.PrependPaths), "env": slices.Concat([]string{}, m.Env), "agent_runner_config_home": m.AgentRunnerConfigHome})
	}
	for _, dir := range m.PrependPaths {
		fmt.Fprintf(a.out, "--prepend-path %s\n", present.Line(dir))
	}
	for _, v := range m.Env {
		name, _, _ := strings.Cut(v, "=") // the value may be a secret
		fmt.Fprintf(a.out, "--set %s\n", present.Line(name))
	}
	if m.AgentRunnerConfigHome != "" {
		fmt.Fprintf(a.out, "--config-home %s\n", present.Line(m.AgentRunnerConfigHome))
	}
	return nil
}

// keptFor is what the run store keeps of a session, nothing where it has none.
func keptFor(runs *runstore.FileStore, id string) (runstore.SessionMeta, error) {
	session, err := runs.GetSession(id)
	if errors.Is(err, runstore.ErrNoSession) {
		return runstore.SessionMeta{}, nil
	}
	if err != nil {
		return runstore.SessionMeta{}, err
	}
	return session.Meta, nil
}

// absolute makes the folders absolute: the session is opened in its own.
func (o *envOptions) absolute() (err error) {
	for i, dir := range o.prepend {
		if o.prepend[i], err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	if o.configHome != "" {
		o.configHome, err = filepath.Abs(o.configHome)
	}
	return err
}

// nextEnviron puts what is kept for a session into the environment of its next
// opening: its own, else that of the nearest session that it continues.
func (a *app) nextEnviron(store *ledger.Store) func(*ledger.Entry, runtimes.Profile, []string) ([]string, error) {
	return func(e *ledger.Entry, p runtimes.Profile, env []string) ([]string, error) {
		runs, err := a.runs()
		if err != nil {
			return env, nil // without a HOME nothing is kept
		}
		for _, id := range store.Lineage(e) {
			m, err := keptFor(runs, id)
			if err != nil {
				return env, err
			}
			if m.KeepsEnviron() {
				return m.Environ(env, p.ConfigHomeVar), nil
			}
		}
		return env, nil
	}
}
