package hookconfig

import "path/filepath"

// target is the hook settings of one CLI: one file each.
type target struct {
	cli string
	// file is where the settings are; "" where that cannot be told.
	file func(getenv func(string) string) string
	// events are those that are of use to the ledger.
	events []string
	// timeout is what a call may take, in the CLI's own unit.
	timeout int
	// named gives the entry a name, flat leaves out the group around it: as the
	// CLI's format has it.
	named, flat bool
	// comments tells that the CLI takes comments in this file.
	comments bool
	// version is the format's version in the file, 0 for none.
	version int
	// disabledBy is the setting that turns all hooks off, "" for none.
	disabledBy string
	// next is what the user has to do after a change, "" for nothing.
	next string
}

var targets = []*target{&claude, &codex, &gemini, &cursor}

// CLIs are those whose hooks can be installed.
func CLIs() []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.cli)
	}
	return append(names, opencodeCLI)
}

// below is the file at a path below a folder that a variable names, by default
// one below HOME.
func below(variable, home, name string) func(func(string) string) string {
	return func(getenv func(string) string) string {
		if variable != "" {
			if dir := getenv(variable); dir != "" {
				return filepath.Join(dir, name)
			}
		}
		if dir := getenv("HOME"); dir != "" {
			return filepath.Join(dir, home, name)
		}
		return ""
	}
}
