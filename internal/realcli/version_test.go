package realcli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePackageOfAProgram(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := put("lib/node_modules/@google/gemini-cli/bundle/gemini.js", "")
	link := filepath.Join(dir, "gemini")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	const manifest = "lib/node_modules/@google/gemini-cli/package.json"
	for text, want := range map[string]bool{
		`{"name":"@google/gemini-cli","version":"0.61.0"}`:           true,
		`{"name":"@google/gemini-cli","version":"0.100.3"}`:          true,
		`{"version":"1.0.0-nightly.2","name":"@google/gemini-cli"}`:  true,
		`{"name":"@google/gemini-cli","version":"0.61.0-preview.1"}`: false,
		`{"name":"@google/gemini-cli","version":"0.60.9"}`:           false,
		`{"name":"@google/gemini-cli","version":"0.61"}`:             false,
		`{"name":"@google/gemini-cli","version":"latest"}`:           false,
		`{"name":"@google/gemini-cli"}`:                              false,
		`{"name":"another","version":"9.9.9"}`:                       false,
		"not JSON":                                                   false, "": false,
		strings.Repeat(" ", manifestLimit) + `{"name":"@google/gemini-cli","version":"0.61.0"}`: false,
	} {
		put(manifest, text)
		if got := IsPackage(link, "@google/gemini-cli", "0.61.0"); got != want {
			t.Errorf("%.70s: %v", text, got)
		}
	}
	if IsPackage(filepath.Join(dir, "absent"), "@google/gemini-cli", "0.61.0") || IsPackage(put("a/b/c/d/e/x", ""), "@google/gemini-cli", "0.61.0") {
		t.Error("a program outside of any package")
	}
}
