package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// builtVar hands the folder of the built programs to the tests inside their namespaces.
const builtVar = "AGENTWRAP_TEST_BUILT"

// built is the folder that this process has made for them, removed by Main.
var built string

// Build returns a folder with both programs, built as they are shipped, once in a run of the tests. It belongs before
// Test: the compiler does not run inside.
func Build(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(builtVar); dir != "" {
		return dir
	}
	module, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := lookAtSources(module); err != nil {
		t.Fatal(err)
	}
	if built, err = os.MkdirTemp("", "agentwrap-built-"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("make", "-s", "-C", module, "all", "BIN="+built).CombinedOutput(); err != nil {
		t.Fatalf("make all: %v\n%s", err, out)
	}
	os.Setenv(builtVar, built)
	return built
}

func removeBuilt() {
	if built != "" {
		os.RemoveAll(built)
	}
}

func moduleDir() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above the tests")
		}
	}
	return "", err
}

// lookAtSources lets go test know that the test depends on the sources of the programs: it notes each file looked at.
func lookAtSources(module string) error {
	for _, top := range []string{"cmd", "internal", "tools", "Makefile", "go.mod", "go.sum"} {
		err := filepath.WalkDir(filepath.Join(module, top), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("look at the sources: %w", err)
		}
	}
	return nil
}
