// Package cli runs the real agent CLIs in tests: pinned versions from npm, a throwaway home, a loopback model, and a
// terminal whose screen a test reads and whose keys it presses.
//
// The test package hands its TestMain to [Main]; a test calls [Test], and its body runs in namespaces of its own.
package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"agentwrap/test/isolate"
	"agentwrap/test/model"
)

// dummyKey stands where an API key is wanted.
const dummyKey = "sk-ant-api03-dummy-key-of-a-test-never-valid-0000000000"

// A World is a throwaway machine for agent CLIs: home, working folder, PATH, and a model on loopback.
type World struct {
	// Root holds all the rest. It is short, because it leads to Unix sockets.
	Root string
	// Home is $HOME.
	Home string
	// Work is the working folder, a git repository with one commit.
	Work string
	// Bin holds the real CLIs, and Shims, before it on PATH, nothing yet.
	Bin, Shims string
	// Model answers the CLIs.
	Model *model.Server
	// Env is the whole environment of what the world starts.
	Env []string
}

// Main runs the tests of a package; it also plays the other programs that a test binary re-executes itself for.
// It returns the exit status for os.Exit.
func Main(m *testing.M) int {
	if os.Getenv(terminalVar) != "" {
		return runTerminal(os.Args[1:])
	}
	defer removeBuilt()
	return isolate.Main(m)
}

// Test installs the programs and runs body with them in a world of its own, in namespaces of its own.
func Test(t *testing.T, programs Programs, body func(t *testing.T, w *World)) {
	t.Helper()
	for _, p := range programs {
		Install(t, p)
	}
	isolate.TestApart(t, func(t *testing.T, dir string) {
		body(t, newWorld(t, dir, programs))
	})
}

func newWorld(t *testing.T, root string, programs Programs) *World {
	t.Helper()
	w := &World{
		Root: root, Home: filepath.Join(root, "home"), Work: filepath.Join(root, "work"),
		Bin: filepath.Join(root, "bin"), Shims: filepath.Join(root, "shims"), Model: model.Start(t),
	}
	tools := filepath.Join(root, "tools")
	for _, dir := range []string{w.Home, w.Work, w.Bin, w.Shims, tools, filepath.Join(root, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.Env = []string{
		"HOME=" + w.Home, "USER=user", "LOGNAME=user", "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm-256color",
		"PATH=" + w.Shims + ":" + w.Bin + ":" + tools + ":/usr/bin:/bin", "TMPDIR=" + filepath.Join(root, "tmp"),
	}
	if err := w.fill(t, tools, programs); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *World) fill(t *testing.T, tools string, programs Programs) error {
	if node, err := exec.LookPath("node"); err == nil {
		if err := os.Symlink(node, filepath.Join(tools, "node")); err != nil {
			return err
		}
	}
	if err := w.repository(); err != nil {
		return err
	}
	for _, p := range programs {
		if err := os.Symlink(filepath.Join(Install(t, p), p.Name), filepath.Join(w.Bin, p.Name)); err != nil {
			return err
		}
		env, err := p.configure(w)
		if err != nil {
			return fmt.Errorf("configure %s: %w", p.Name, err)
		}
		w.Env = append(w.Env, env...)
	}
	return nil
}

func (w *World) repository() error {
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"-c", "user.name=user", "-c", "user.email=user@localhost", "commit", "-q", "--allow-empty", "-m", "begin"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = w.Work, w.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// Wrap puts the project's programs on PATH: the shim in front of each CLI, and the companion.
func (w *World) Wrap(t testing.TB) {
	t.Helper()
	built := Build(t)
	clis, err := os.ReadDir(w.Bin)
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{filepath.Join(w.Shims, "agent-sessions"): filepath.Join(built, "agent-sessions")}
	for _, c := range clis {
		links[filepath.Join(w.Shims, c.Name())] = filepath.Join(built, "agentwrap")
	}
	for link, target := range links {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	w.Env = append(w.Env, "AGENTWRAP_SHIM_DIR="+w.Shims)
}
