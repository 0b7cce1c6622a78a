package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"agentwrap/internal/become"
	"agentwrap/internal/ledger"
)

// The test binary plays every program by its argv[0].
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "agentwrap":
		os.Exit(agentwrap(os.Args[1:]))
	case "shim":
		os.Exit(shimMain(os.Args[1:]))
	case "attach":
		os.Exit(attachMain(os.Args[1:]))
	case "stranger":
		os.Exit(strangerMain(os.Args[1:]))
	case "launcher":
		os.Exit(launcherMain(os.Args[1:]))
	case "cli":
		os.Exit(cliMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func agentwrap(args []string) int {
	switch args[0] {
	case HoldVerb:
		return HolderMain(args[1:])
	case become.ChildVerb:
		return become.ChildMain()
	}
	return 2
}

// notHosted is the shim's exit code where the CLI was not started, which launch would do in place.
const notHosted = 99

// shimMain launches its arguments hosted, as the shim does: the ledger's root, an id, and the command.
func shimMain(args []string) int {
	if os.Getenv("TMUX_HANGS") == "" {
		tmuxWait = patience // its absence is not what is tested
	}
	spec := become.Capture()
	spec.Path, spec.Argv, spec.Env = args[2], args[3:], become.Environ()
	launch := Launch{Store: ledger.Open(args[0]), LedgerID: args[1], Spec: spec, Self: filepath.Join(args[0], "agentwrap")}
	if os.Getenv("AGENTWRAP_HOST") == "detached" {
		launch.Detached = &Size{Rows: 30, Columns: 90}
	}
	outcome, err := Run(launch)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return notHosted
	}
	return die(outcome)
}

// attachMain attaches to the session whose holder's socket and id are its arguments.
func attachMain(args []string) int {
	outcome, err := Attach(args[0], args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return notHosted
	}
	return die(outcome)
}

func die(o Outcome) int {
	if o.Signal != 0 {
		become.DieBy(o.Signal)
	}
	return o.Code
}
