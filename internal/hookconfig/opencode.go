package hookconfig

import (
	"errors"
	"os"

	"agentwrap/internal/opencodeplugin"
	"agentwrap/internal/runtimes"
)

// opencodeCLI has no settings that are edited: its hook is a plugin of our own,
// beside the shims, which names it to each opencode it starts.
const opencodeCLI = "opencode"

// plugin does one thing with the plugin's file, nil for nothing, and reports.
func (c Config) plugin(do func(file string) error) (Report, error) {
	file := runtimes.PluginFile(c.Getenv)
	if file == "" {
		return Report{}, errors.New("find the place of opencode's plugin: HOME is not set")
	}
	before := c.pluginState(file)
	if do != nil {
		if err := do(file); err != nil {
			return Report{}, err
		}
	}
	after := c.pluginState(file)
	return Report{CLI: opencodeCLI, File: file, State: after, Changed: after != before}, nil
}

func (c Config) pluginState(file string) State {
	_, err := os.Lstat(file)
	switch {
	case opencodeplugin.Installed(file, c.Program):
		return Installed
	case err == nil:
		return Outdated
	}
	return Absent
}

func (c Config) writePlugin(file string) error {
	if c.pluginState(file) == Installed {
		return nil
	}
	return opencodeplugin.Write(file, c.Program)
}
