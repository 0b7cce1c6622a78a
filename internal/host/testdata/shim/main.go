// Command shim hosts its arguments as agentwrap does, linked as agentwrap is: the ledger's root, an id, the
// program's path and its arguments. It is the holder and its child too, by their verbs.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"agentwrap/internal/become"
	"agentwrap/internal/host"
	"agentwrap/internal/ledger"
)

func main() {
	if filepath.Base(os.Args[0]) == "agentwrap" {
		os.Exit(own(os.Args[1:]))
	}
	self, err := filepath.Abs(filepath.Join(os.Args[1], "agentwrap"))
	if err != nil {
		panic(err)
	}
	spec := become.Capture()
	spec.Path, spec.Argv, spec.Env = os.Args[3], os.Args[3:], become.Environ()
	outcome, err := host.Run(host.Launch{Store: ledger.Open(os.Args[1]), LedgerID: os.Args[2], Spec: spec, Self: self})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	if outcome.Signal != 0 {
		become.DieBy(outcome.Signal)
	}
	os.Exit(outcome.Code)
}

func own(args []string) int {
	if args[0] == host.HoldVerb {
		return host.HolderMain(args[1:])
	}
	return become.ChildMain()
}
