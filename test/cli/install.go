package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"agentwrap/test/isolate"
)

// installLimit bounds one npm install, and the wait for another process's.
const installLimit = 5 * time.Minute

// Install returns the folder with a program's executable, from npm if it is not in the cache yet. The cache is
// $AGENTWRAP_TEST_CACHE, else agentwrap-test in the user's cache folder; one folder holds one version, and nothing is
// installed globally. Concurrent calls, also of other processes, are safe.
func Install(t testing.TB, p Program) string {
	t.Helper()
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(cache, p.Name+"-"+p.Version)
	bin := filepath.Join(home, "node_modules", ".bin")
	if executable(filepath.Join(bin, p.Name)) {
		return bin
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		isolate.Missing(t, "npm, to install %s@%s: %v", p.Package, p.Version, err)
	}
	if err := install(npm, cache, home, p); err != nil {
		isolate.Missing(t, "%s@%s: %v", p.Package, p.Version, err)
	}
	return bin
}

func cacheDir() (string, error) {
	if dir := os.Getenv("AGENTWRAP_TEST_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "agentwrap-test"), err
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// install installs into a folder beside home and renames it, so that home is whole or absent.
func install(npm, cache, home string, p Program) error {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), installLimit)
	defer cancel()
	lock := flock.New(home + ".lock")
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("wait for another install: %w", err)
	}
	defer lock.Unlock()
	if executable(filepath.Join(home, "node_modules", ".bin", p.Name)) {
		return nil
	}
	tmp, err := os.MkdirTemp(cache, p.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.WriteFile(filepath.Join(tmp, "package.json"), manifest(p), 0o600); err != nil {
		return err
	}
	if err := npmInstall(ctx, npm, tmp); err != nil {
		return err
	}
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	return os.Rename(tmp, home)
}

// npmInstall keeps the user's npm cache and settings, but gives the packages' own scripts, which run the programs for the
// first time, a throwaway home.
func npmInstall(ctx context.Context, npm, dir string) error {
	settings := map[string]string{}
	for _, key := range []string{"cache", "userconfig"} {
		out, err := exec.CommandContext(ctx, npm, "config", "get", key).Output()
		if err != nil {
			return fmt.Errorf("npm config get %s: %w", key, err)
		}
		settings[key] = strings.TrimSpace(string(out))
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(home)
	cmd := exec.CommandContext(ctx, npm, "install", "--no-audit", "--no-fund", "--prefix", dir,
		"--cache", settings["cache"], "--userconfig", settings["userconfig"])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+home, "TMPDIR="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// manifest asks for one version, and lets npm run the package's own install script, which fetches nothing but links
// the native program into place.
func manifest(p Program) []byte {
	m, err := json.Marshal(map[string]any{
		"private":      true,
		"dependencies": map[string]string{p.Package: p.Version},
		"allowScripts": map[string]bool{p.Package: true},
	})
	if err != nil {
		panic(err)
	}
	return m
}
