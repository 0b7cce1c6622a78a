package reopen

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"agentwrap/internal/ledger"
	"agentwrap/internal/runtimes"
)

// Start is a program to start: the shim, with what makes it go on with a
// session, or begin one in the same place.
type Start struct {
	Path string
	Argv []string
	Env  []string
	Dir  string
}

// sessionVars name the session that a process belongs to: whatever starts anew
// is not that one.
var sessionVars = []string{"AGENT_LEDGER_ID", "OPENAGENTS_SCRATCH", "OPENAGENTS_SESSION", "AGENTWRAP_DEPTH", "AGENTWRAP_HOST", "AGENTWRAP_RESUMED_FROM",
	"CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID", "GEMINI_CLI",
	"COPILOT_AGENT_SESSION_ID"}

// StartIn is the start of a runtime in a folder, in the folder's own
// environment. The error tells what of that environment is missing; the start
// is good all the same.
func StartIn(ctx context.Context, shimDir, runtime string, args, asking []string, dir string) (Start, error) {
	env, err := Environ(ctx, without(asking, sessionVars), dir)
	s := Start{Path: filepath.Join(shimDir, runtime), Argv: append([]string{runtime}, args...), Env: without(env, sessionVars), Dir: dir}
	return s, err
}

// Continue makes a start go on in a session's place: with its own folders, and
// under the record that names it.
func (s Start) Continue(e *ledger.Entry, p runtimes.Profile) Start {
	s.Env = append(without(s.Env, []string{p.ConfigHomeVar}), "AGENTWRAP_RESUMED_FROM="+e.LedgerID)
	if home := ledger.Value(e.ConfigHome); home != "" && p.ConfigHomeVar != "" {
		s.Env = append(s.Env, p.ConfigHomeVar+"="+home)
	}
	if program := ledger.Value(e.Program); filepath.IsAbs(program) {
		// A login shell may not know of every folder that the terminal knew.
		s.Env = withPath(s.Env, filepath.Dir(program))
	}
	if dir := ledger.Value(e.Scratch); dir != "" {
		s.Env = append(s.Env, "OPENAGENTS_SCRATCH="+dir)
	}
	return s
}

// Detached makes a start that needs no terminal.
func (s Start) Detached() Start {
	s.Env = append(slices.Clone(s.Env), "AGENTWRAP_HOST=detached")
	return s
}

func without(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(item string) bool {
		name, _, _ := strings.Cut(item, "=")
		return slices.Contains(names, name)
	})
}
