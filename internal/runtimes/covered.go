package runtimes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ShimDir is the folder of the symlinks: $AGENTWRAP_SHIM_DIR, else
// ~/.local/share/agentwrap/shims; "" where there is neither that nor a HOME.
func ShimDir(getenv func(string) string) string {
	if dir := getenv("AGENTWRAP_SHIM_DIR"); dir != "" {
		return dir
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "agentwrap", "shims")
	}
	return ""
}

// ours are the names that are programs of this project, not runtimes.
var ours = []string{"agentwrap", "agent-sessions", "openagents"}

// Covered are the runtimes: the names of the symlinks in the shim folder,
// sorted. This folder is the only place that says so. An absent one is none.
func Covered(shimDir string) ([]string, error) {
	list, err := os.ReadDir(shimDir)
	if errors.Is(err, fs.ErrNotExist) || shimDir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the shim folder: %w", err)
	}
	var names []string
	for _, f := range list {
		if f.Type()&fs.ModeSymlink != 0 && !slices.Contains(ours, f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names, nil
}
