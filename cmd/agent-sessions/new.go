package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/reopen"
	"agentwrap/internal/runstore"
	"agentwrap/internal/runtimes"
)

// promptLimit bounds a first prompt, in bytes: what Linux takes as one argument.
const promptLimit = 128<<10 - 1

type newOptions struct {
	workspace, model, prompt string
	env                      []string
	detached                 bool
	idleExit                 time.Duration
}

func newNewCommand(a *app) *cobra.Command {
	o := newOptions{}
	cmd := command(&cobra.Command{
		Use:   "new [RUNTIME] [-- ARGUMENT...]",
		Short: "start a session without a terminal of its own",
		Long: "Starts a session, hosted, in the environment of its folder, and prints its id; on a terminal it is shown there at\n" +
			"once, unless --detached. What stands behind -- is the CLI's own. The runtime, and the model, may be left out where the\n" +
			"run store's config.json names a default.",
		Example: "  agent-sessions new claude --workspace ~/src/parser --prompt 'fix the failing test' --detached\n" +
			"  agent-sessions new codex --env OPENAI_API_KEY -- --full-auto",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			if at < 0 {
				at = len(args)
			}
			if at > 1 {
				return wrongUse("new: %q is not expected; the CLI's own arguments come behind --", args[1])
			}
			runtime, err := o.defaults(a, args[:at])
			if err != nil {
				return err
			}
			return runNew(cmd.Context(), a, runtime, args[at:], o)
		},
	}, exitRefused)
	cmd.Flags().StringVar(&o.workspace, "workspace", ".", "the folder it works in")
	cmd.Flags().StringVar(&o.model, "model", "", "the model, as the CLI names it")
	cmd.Flags().StringVar(&o.prompt, "prompt", "", "the first prompt; - reads it from standard input")
	cmd.Flags().StringArrayVar(&o.env, "env", nil, "a variable for it: KEY=VALUE, or KEY for its value here")
	cmd.Flags().DurationVar(&o.idleExit, "idle-exit", 0, "end it when it has been idle for this long, such as 30m")
	cmd.Flags().BoolVar(&o.detached, "detached", false, "do not show it on this terminal")
	return cmd
}

// defaults are the runtime that is meant and, for the default one, the default
// model.
func (o *newOptions) defaults(a *app, args []string) (runtime string, err error) {
	if o.idleExit < 0 {
		return "", wrongUse("new: --idle-exit %s is negative", o.idleExit)
	}
	var config runstore.Config
	if runs, err := a.runs(); err == nil {
		if config, err = runs.Config(); err != nil {
			a.warn("%v", err)
		}
	}
	runtime = config.DefaultAgentRunner
	if len(args) > 0 {
		runtime = args[0]
	}
	if runtime == "" {
		return "", wrongUse("new: name a runtime, such as claude")
	}
	if o.model == "" && runtime == config.DefaultAgentRunner {
		o.model = config.DefaultModel
	}
	return runtime, nil
}

// keep writes down what a session was begun with. The session runs whatever
// comes of it.
func (o newOptions) keep(a *app, id, runtime string, start reopen.Start) error {
	runs, err := a.runs()
	if err != nil {
		return err
	}
	env, err := variables(o.env, a.env)
	if err != nil {
		return err
	}
	err = runs.CreateSession(id, runstore.SessionMeta{Runner: runtime, InitialPrompt: o.prompt, Workspace: start.Dir, Model: o.model, Env: env})
	if o.idleExit > 0 {
		err = errors.Join(err, runs.WriteIdlePolicy(id, runstore.IdlePolicy{ExitOnIdle: true, IdleTimeout: o.idleExit}))
	}
	return errors.Join(err, runs.UpdateConfig(func(c *runstore.Config) {
		c.LastSession = id
		c.Use(start.Dir)
	}))
}

func runNew(ctx context.Context, a *app, runtime string, args []string, o newOptions) error {
	start, err := o.start(ctx, a, runtime, args)
	if err != nil {
		return err
	}
	id, err := start.Detached().Run(ctx)
	if err != nil {
		return err
	}
	if err := o.keep(a, id, runtime, start); err != nil {
		a.complain(err)
	}
	if !o.detached && a.onTerminal() {
		store, err := a.store()
		if err != nil {
			return err
		}
		return a.show(store, id)
	}
	_, err = fmt.Fprintln(a.out, id)
	return err
}

func (o newOptions) start(ctx context.Context, a *app, runtime string, args []string) (reopen.Start, error) {
	dir, err := filepath.Abs(o.workspace)
	if err != nil {
		return reopen.Start{}, err
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return reopen.Start{}, wrongUse("new: %s is not a folder", dir)
	}
	shims := runtimes.ShimDir(a.getenv)
	if names, err := runtimes.Covered(shims); err != nil || !slices.Contains(names, runtime) {
		return reopen.Start{}, refuse("no shim for %s is installed: run install.sh --runtimes %s, or link agentwrap under that name in %s", runtime, runtime, shims)
	}
	prompt, err := o.firstPrompt(a.in)
	if err != nil {
		return reopen.Start{}, err
	}
	first, err := runtimes.KnownTo(a.getenv).For(runtime).NewArgs(o.model, prompt)
	if err != nil {
		return reopen.Start{}, wrongUse("new: %w", err)
	}
	extra, err := variables(o.env, a.env)
	if err != nil {
		return reopen.Start{}, err
	}
	// The CLI's own arguments come first: a prompt may follow a -- of its own.
	start, warning := reopen.StartIn(ctx, shims, runtime, append(args, first...), a.env, dir)
	if warning != nil {
		a.complain(warning)
	}
	start.Env = append(start.Env, extra...)
	return start, nil
}

func (o newOptions) firstPrompt(in io.Reader) (string, error) {
	if o.prompt != "-" {
		return o.prompt, nil
	}
	raw, err := io.ReadAll(io.LimitReader(in, promptLimit+1))
	if err != nil {
		return "", fmt.Errorf("read the prompt from standard input: %w", err)
	}
	if len(raw) > promptLimit {
		return "", wrongUse("new: the prompt is longer than %d bytes: put it in a file and name that", promptLimit)
	}
	return strings.TrimSuffix(string(raw), "\n"), nil
}

// variables reads KEY=VALUE, and KEY for the value it has in env, so that a
// secret need not stand on a command line.
func variables(specs, env []string) ([]string, error) {
	var out []string
	for _, spec := range specs {
		name, _, given := strings.Cut(spec, "=")
		if name == "" {
			return nil, wrongUse("--env: %q names no variable", spec)
		}
		if !given {
			at := len(env) - 1
			for at >= 0 && !strings.HasPrefix(env[at], name+"=") {
				at--
			}
			if at < 0 {
				return nil, wrongUse("--env: %s is not set here", name)
			}
			spec = env[at]
		}
		out = append(out, spec)
	}
	return out, nil
}
