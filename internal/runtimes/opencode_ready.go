package runtimes

import (
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
)

// opencodePluginDep is what opencode installs, from the network, into each of
// its configuration folders that lacks it. It does so in the background, but
// where any plugin is named it waits for that.
const opencodePluginDep = "@opencode-ai/plugin"

// opencodeReady tells that an opencode which starts in cwd with a plugin has
// nothing to install first: no launch shall wait for the network because of us
// (two minutes, where there is none).
func opencodeReady(getenv func(string) string, cwd string, args []string) bool {
	config := getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(getenv("HOME"), ".config")
	}
	// Its own folder it makes where there is none.
	if !opencodeInstalled(filepath.Join(config, "opencode")) {
		return false
	}
	dirs := []string{filepath.Join(getenv("HOME"), ".opencode"), getenv("OPENCODE_CONFIG_DIR")}
	for dir := opencodeFolder(cwd, args); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, filepath.Join(dir, ".opencode"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); dir != "" && err == nil && !opencodeInstalled(dir) {
			return false
		}
	}
	return true
}

// opencodeFolder is the folder that a launch opens: one that the arguments name,
// else cwd.
func opencodeFolder(cwd string, args []string) string {
	folder := ""
	p := Profile{Flags: opencodeFlags}
	for i := range p.items(args) {
		switch {
		case i.is("--dir") && len(i.values) == 1:
			folder = i.values[0]
		case i.isWord() && i.name == "run" && folder == "":
			folder = "." // the words behind are a prompt
		case i.isWord() && folder == "":
			folder = i.name
		}
	}
	if filepath.IsAbs(folder) {
		return filepath.Clean(folder)
	}
	return filepath.Join(cwd, folder)
}

// opencodeInstalled decides as opencode 1.18 does whether a folder needs an
// install: not one that cannot be written, nor one whose lock file has all that
// is wanted.
func opencodeInstalled(dir string) bool {
	if unix.Access(dir, unix.W_OK) != nil {
		_, err := os.Stat(dir)
		return err == nil
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		return false
	}
	// The package itself has no name in its lock file. A file that cannot be read
	// names nothing.
	lock, _ := statefile.Read(filepath.Join(dir, "package-lock.json"), manifestLimit)
	manifest, _ := statefile.Read(filepath.Join(dir, "package.json"), manifestLimit)
	locked, wanted := dependencies(gjson.GetBytes(lock, "packages.")), dependencies(gjson.ParseBytes(manifest))
	wanted[opencodePluginDep] = true
	for name := range wanted {
		if !locked[name] {
			return false
		}
	}
	return true
}

// dependencies are the names of all dependencies of a package's manifest.
func dependencies(manifest gjson.Result) map[string]bool {
	names := map[string]bool{}
	for _, kind := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"} {
		manifest.Get(kind).ForEach(func(name, _ gjson.Result) bool {
			names[name.Str] = true
			return true
		})
	}
	return names
}

// manifestLimit bounds a file of npm's, in bytes.
const manifestLimit = 4 << 20
