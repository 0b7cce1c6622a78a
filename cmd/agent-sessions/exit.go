package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agentwrap/internal/ledger"
	"agentwrap/internal/rescue"
)

// The exit codes of every command.
const (
	exitDone      = 0
	exitFailed    = 1
	exitWrongUse  = 2
	exitNoSession = 3
	exitRefused   = 4
)

// exitCode is the one place where an error becomes an exit code.
func exitCode(err error) int {
	var usage *usageError
	var ambiguous *ledger.AmbiguousError
	var refused *refusedError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage), errors.As(err, &ambiguous):
		return exitWrongUse
	case errors.Is(err, ledger.ErrNoSession), errors.Is(err, rescue.ErrUnknown):
		return exitNoSession
	case errors.As(err, &refused):
		return exitRefused
	}
	return exitFailed
}

// usageError is a command line that cannot be carried out as it stands.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func wrongUse(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// refusedError is a thing that could be done and is not, with the reason and
// what to do instead.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

func refuse(format string, args ...any) error { return &refusedError{fmt.Sprintf(format, args...)} }

// exitMeanings are the codes as the help of each command lists them.
var exitMeanings = map[int]string{
	exitDone:      "done",
	exitFailed:    "failed; the reason is on standard error",
	exitWrongUse:  "wrong use: an unknown flag, a missing argument, an ID that fits several sessions",
	exitNoSession: "no such session",
	exitRefused:   "refused; the reason and the way out are on standard error",
}

// exitStatus is the EXIT STATUS section for the codes that a command can end
// with besides 0, 1 and 2.
func exitStatus(codes ...int) string {
	var b strings.Builder
	b.WriteString("EXIT STATUS\n")
	for _, code := range append([]int{exitDone, exitFailed, exitWrongUse}, codes...) {
		fmt.Fprintf(&b, "  %d  %s\n", code, exitMeanings[code])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// argsOf makes a check of arguments report wrong use.
func argsOf(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return wrongUse("%s: %w; see '%s --help'", cmd.Name(), err, cmd.CommandPath())
		}
		return nil
	}
}
