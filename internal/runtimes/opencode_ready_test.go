package runtimes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhenOpencodeWouldWaitForItsPlugins(t *testing.T) {
	const (
		lock     = `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"1.18.33"}},"node_modules/x":{"dependencies":{"y":"1"}}}}`
		lockBoth = `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"1.18.33"},"devDependencies":{"y":"1"}}}}`
		global   = "home/.config/opencode/"
	)
	for name, tc := range map[string]struct {
		files map[string]string // by name; one that ends in / is a folder
		env   string
		args  string
		want  bool
	}{
		"ready":                          {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock}, want: true},
		"never started":                  {files: nil},
		"nothing installed":              {files: map[string]string{global: ""}},
		"no lock file":                   {files: map[string]string{global + "node_modules/": ""}},
		"a lock file without it":         {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": `{"packages":{"":{}}}`}},
		"a damaged lock file":            {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock[:20]}},
		"more is wanted than is there":   {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, global + "package.json": `{"dependencies":{"y":"1"}}`}},
		"all that is wanted is there":    {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lockBoth, global + "package.json": `{"dependencies":{"y":"1"}}`}, want: true},
		"the project's own is not ready": {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "repo/.opencode/": ""}},
		"the project's own is ready":     {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "repo/.opencode/node_modules/": "", "repo/.opencode/package-lock.json": lock}, want: true},
		"the home folder's own":          {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "home/.opencode/": ""}},
		"a folder of the environment's":  {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "env/": ""}, env: "OPENCODE_CONFIG_DIR=env"},
		"a moved configuration":          {files: map[string]string{"xdg/opencode/node_modules/": "", "xdg/opencode/package-lock.json": lock}, env: "XDG_CONFIG_HOME=xdg", want: true},
		"another folder is opened":       {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "other/.opencode/": ""}, args: "-m x ../../other"},
		"this folder is opened":          {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "other/.opencode/": ""}, args: ".", want: true},
		"a prompt names a folder":        {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "other/.opencode/": ""}, args: "run ../../other", want: true},
		"a run in another folder":        {files: map[string]string{global + "node_modules/": "", global + "package-lock.json": lock, "other/.opencode/": ""}, args: "run --dir ../../other hi"},
	} {
		base := t.TempDir()
		for file, text := range tc.files {
			path := base + "/" + file
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			if err == nil && !strings.HasSuffix(file, "/") {
				err = os.WriteFile(path, []byte(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		key, value, _ := strings.Cut(tc.env, "=")
		getenv := func(name string) string {
			switch name {
			case "HOME":
				return filepath.Join(base, "home")
			case key:
				return filepath.Join(base, value)
			}
			return ""
		}
		if got := opencodeReady(getenv, filepath.Join(base, "repo", "sub"), strings.Fields(tc.args)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
