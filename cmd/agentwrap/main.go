// Agentwrap is the shim: called by a CLI's name it starts that CLI as a
// recorded, hosted session.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentwrap/internal/become"
	"agentwrap/internal/host"
	"agentwrap/internal/launch"
	"agentwrap/internal/runtimes"
)

func main() {
	if filepath.Base(os.Args[0]) == "agentwrap" {
		os.Exit(own(os.Args[1:]))
	}
	os.Exit(launch.Run(os.Args, become.Environ()))
}

// version is set by the build.
var version = "devel"

// own are this program's own verbs, which exist only under its own name: every
// word of a CLI's is the CLI's.
func own(args []string) int {
	if len(args) == 0 {
		args = []string{""}
	}
	switch args[0] {
	case host.HoldVerb:
		return host.HolderMain(args[1:])
	case become.ChildVerb:
		return become.ChildMain()
	case "version", "--version":
		fmt.Println("agentwrap", version)
		return 0
	case "runtimes":
		fmt.Println(strings.Join(runtimes.Names(), "\n"))
		return 0
	}
	fmt.Fprintln(os.Stderr, "agentwrap: called by its own name: link it under a CLI's name (install.sh does), or use agent-sessions")
	return 2
}
