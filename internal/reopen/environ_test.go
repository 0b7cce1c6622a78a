package reopen

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func writeFile(t *testing.T, path, body string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheEnvironmentIsTheLoginShellsUnderTheTerminals(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, ".profile"), "echo noise; export FROM_PROFILE='a\nb' TERM=wrong ONLY_LOGIN=1\n", 0o600)
	asking := []string{"HOME=" + home, "SHELL=/bin/sh", "PATH=/usr/bin:/bin", "TERM=xterm-256color", "LEFTOVER=1", "AGENTWRAP_RESUMED_FROM=x"}
	got, err := Environ(context.Background(), asking, dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"FROM_PROFILE": "a\nb", "TERM": "xterm-256color", "ONLY_LOGIN": "1", "AGENTWRAP_RESUMED_FROM": "x"} {
		if v := valueOf(got, name); v != want {
			t.Errorf("%s is %q, want %q", name, v, want)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "COLORTERM=") }) {
		t.Error("a variable that the terminal does not have came from somewhere")
	}
}

func TestABrokenShellLeavesTheAskingEnvironment(t *testing.T) {
	for _, shell := range []string{"/nowhere/sh", "/bin/false"} {
		asking := []string{"HOME=" + t.TempDir(), "SHELL=" + shell, "PATH=/usr/bin:/bin", "MINE=1"}
		got, err := Environ(context.Background(), asking, t.TempDir())
		if err == nil || valueOf(got, "MINE") != "1" {
			t.Errorf("%s: %v, %q", shell, err, got)
		}
	}
}

// The tools are stand-ins here: what counts is that they are asked where their
// files rule, and only there.
func TestDirenvAndMiseRuleWhereTheirFilesStand(t *testing.T) {
	bin, top := t.TempDir(), t.TempDir()
	for _, tool := range []string{"direnv", "mise"} {
		writeFile(t, filepath.Join(bin, tool), "#!/bin/sh\nexport BY_"+tool+"=\"$*\"\nwhile [ \"$1\" != sh ]; do shift; done\nexec \"$@\"\n", 0o700)
	}
	ruled, plain := filepath.Join(top, "ruled", "deep"), filepath.Join(top, "plain")
	writeFile(t, filepath.Join(top, "ruled", ".envrc"), "", 0o600)
	writeFile(t, filepath.Join(ruled, "mise.toml"), "", 0o600)
	if err := os.MkdirAll(plain, 0o700); err != nil {
		t.Fatal(err)
	}
	asking := []string{"HOME=" + t.TempDir(), "SHELL=/bin/sh", "PATH=" + bin + ":/usr/bin:/bin"}
	writeFile(t, filepath.Join(valueOf(asking, "HOME"), ".profile"), "PATH="+bin+":/usr/bin:/bin\n", 0o600)
	got, err := Environ(context.Background(), asking, ruled)
	if err != nil || !strings.HasPrefix(valueOf(got, "BY_direnv"), "exec "+ruled) || !strings.HasPrefix(valueOf(got, "BY_mise"), "exec -C "+ruled) {
		t.Errorf("%v, %q", err, got)
	}
	got, err = Environ(context.Background(), asking, plain)
	if err != nil || valueOf(got, "BY_direnv") != "" || valueOf(got, "BY_mise") != "" {
		t.Errorf("%v, %q", err, got)
	}
}
