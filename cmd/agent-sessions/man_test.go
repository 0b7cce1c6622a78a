package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentwrap/test/isolate"
)

func TestManPagesAreWithoutWarnings(t *testing.T) {
	if _, err := exec.LookPath("man"); err != nil {
		isolate.Missing(t, "man, to read the pages: %v", err)
	}
	dir := t.TempDir()
	out, stderr, code := runApp(t, t.TempDir(), "man", "--dir", dir)
	if code != exitDone || stderr != "" {
		t.Fatalf("exit %d, stderr %q", code, stderr)
	}
	paths := strings.Fields(out)
	if len(paths) < 4 || paths[0] != filepath.Join(dir, "agent-sessions.1") {
		t.Errorf("wrote %q", paths)
	}
	for _, path := range paths {
		cmd := exec.Command("man", "--warnings", "-l", path)
		cmd.Env = append(os.Environ(), "MANROFFOPT=-ww", "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANPAGER=cat")
		var text, warnings strings.Builder
		cmd.Stdout, cmd.Stderr = &text, &warnings
		if err := cmd.Run(); err != nil || warnings.Len() > 0 {
			t.Errorf("man -l %s: %v\n%s", path, err, &warnings)
		}
		for _, want := range []string{"NAME\n", "SYNOPSIS\n", "EXIT STATUS\n", "EXAMPLES\n"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s has no %q:\n%s", path, want, &text)
			}
		}
	}
}

func TestRoffEscapesRequests(t *testing.T) {
	for in, want := range map[string]string{
		".TH x":     `\&.TH x`,
		"'quoted'":  `\&'quoted'`,
		`a\b --all`: `a\eb \-\-all`,
	} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q) = %q, want %q", in, got, want)
		}
	}
}
