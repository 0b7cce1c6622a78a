// Command inplace execs its arguments through become.InPlace, as the shim does with the real CLI.
package main

import (
	"fmt"
	"os"

	"agentwrap/internal/become"
)

func main() {
	spec := become.Capture()
	spec.Path, spec.Argv, spec.Env = os.Args[1], os.Args[1:], become.Environ()
	fmt.Fprintln(os.Stderr, become.InPlace(spec))
	os.Exit(127)
}
