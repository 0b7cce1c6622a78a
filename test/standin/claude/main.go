// Command claude is the stand-in CLI as a program of its own, for the demo.
package main

import "agentwrap/test/standin"

func main() { standin.Main() }
