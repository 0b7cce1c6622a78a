package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"agentwrap/internal/ledger"
)

// runApp runs one command line against a ledger root and returns what came of
// it.
func runApp(t *testing.T, root string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{
		in: strings.NewReader(""), out: &out, err: &errs, now: func() time.Time { return testNow },
		env: []string{"HOME=" + t.TempDir(), "AGENT_SESSIONS_DIR=" + root},
	}
	code = run(a, args)
	return out.String(), errs.String(), code
}

var testNow = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

func TestEveryCommandsHelpHasAnExampleAndItsExitStatus(t *testing.T) {
	walkCommands(newRoot(&app{}).Command, func(c *cobra.Command) {
		line := strings.Fields(c.CommandPath())[1:]
		help, stderr, code := runApp(t, t.TempDir(), append(line, "--help")...)
		if code != exitDone || stderr != "" {
			t.Errorf("%s --help: exit %d, stderr %q", c.CommandPath(), code, stderr)
		}
		for _, want := range []string{"Examples:\n  ", "\nEXIT STATUS\n  0  done\n"} {
			if !strings.Contains(help, want) {
				t.Errorf("%s --help has no %q:\n%s", c.CommandPath(), want, help)
			}
		}
		if !strings.HasSuffix(help, "\n") || strings.HasSuffix(help, "\n\n\n") {
			t.Errorf("%s --help ends in %q", c.CommandPath(), help[max(0, len(help)-20):])
		}
	})
}

func TestNothingPrintedNamesAMultiplexer(t *testing.T) {
	walkCommands(newRoot(&app{}).Command, func(c *cobra.Command) {
		help, _, _ := runApp(t, t.TempDir(), append(strings.Fields(c.CommandPath())[1:], "--help")...)
		for _, word := range []string{"tmux", "dtach", "multiplexer"} {
			if strings.Contains(strings.ToLower(help), word) && c.Name() != "doctor" {
				t.Errorf("%s --help says %q", c.CommandPath(), word)
			}
		}
	})
}

func TestWrongUseIsToldInOneLineAndExits2(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"lst"}, `agent-sessions: "lst" is no command; did you mean list?` + "\n"},
		{[]string{"frobnicate"}, `agent-sessions: "frobnicate" is no command; see 'agent-sessions --help'` + "\n"},
		{[]string{"list", "--nope"}, "agent-sessions: unknown flag: --nope; see 'agent-sessions list --help'\n"},
		{[]string{"list", "\x1b[2J"}, `agent-sessions: list: unknown command "\x1b[2J" for "agent-sessions list"; see 'agent-sessions list --help'` + "\n"},
	} {
		stdout, stderr, code := runApp(t, t.TempDir(), c.args...)
		if code != exitWrongUse || stderr != c.want || stdout != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitDone},
		{bytes.ErrTooLarge, exitFailed},
		{wrongUse("x"), exitWrongUse},
		{&ledger.AmbiguousError{}, exitWrongUse},
		{ledger.ErrNoSession, exitNoSession},
		{refuse("x"), exitRefused},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("exitCode(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}
