// Command agent-sessions lists, reopens and looks after the AI coding sessions
// of this machine. Each command has a file of its own; docs/architecture.md has
// the map.
package main

import "os"

func main() {
	if isHookCall(os.Args) {
		answerHook(os.Args[2])
		return
	}
	os.Exit(call(systemApp(), os.Args))
}
