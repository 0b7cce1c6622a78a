// Package opencodeplugin has the plugin by which an opencode tells which of its
// sessions it carries, for `agent-sessions hooks`. The shim only names its file
// (runtimes.PluginFile) to the opencode it starts; no file of the user's own
// names it.
package opencodeplugin

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentwrap/internal/statefile"
)

//go:embed plugin.js
var source []byte

// placeholder stands in the source for the companion's path.
var placeholder = []byte(`"@COMPANION@"`)

// text is the plugin that calls the companion at a path.
func text(companion string) ([]byte, error) {
	if !filepath.IsAbs(companion) {
		return nil, fmt.Errorf("opencode's plugin: %q is no absolute path to agent-sessions", companion)
	}
	name, err := json.Marshal(companion) // as a JavaScript string
	if err != nil {
		return nil, fmt.Errorf("opencode's plugin: %w", err)
	}
	return bytes.Replace(source, placeholder, name, 1), nil
}

// Write writes the plugin, which will call the companion at that absolute path.
func Write(file, companion string) error {
	js, err := text(companion)
	if err != nil {
		return err
	}
	if err := statefile.MakeDir(filepath.Dir(file)); err != nil {
		return fmt.Errorf("write opencode's plugin: %w", err)
	}
	if err := statefile.Write(file, js, statefile.Synced); err != nil {
		return fmt.Errorf("write opencode's plugin: %w", err)
	}
	return nil
}

// Remove removes the plugin, if it is there.
func Remove(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove opencode's plugin: %w", err)
	}
	return nil
}

// Installed tells whether the plugin is there as Write would write it. One of
// another version, or for another companion, is not.
func Installed(file, companion string) bool {
	want, err := text(companion)
	if err != nil {
		return false
	}
	have, err := os.ReadFile(file)
	return err == nil && bytes.Equal(have, want)
}
