package launch_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"agentwrap/internal/ledger"
)

// withPackage gives a world the real CLI of a name, as npm installs it.
func (w *world) withPackage(name, pkg, version string) {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	dir := "lib/node_modules/" + pkg
	w.dir(dir + "/bundle")
	w.script(dir+"/package.json", `{"name":"`+pkg+`","version":"`+version+`"}`)
	w.script(dir+"/bundle/"+name+".js", "#!/bin/bash\nexec -a "+name+" "+self+" \"$@\"\n")
	_ = os.Remove(w.at("real/" + name))
	w.link(w.at(dir+"/bundle/"+name+".js"), "real/"+name)
	_ = os.Remove(w.at("shims/" + name))
	w.link(program, "shims/"+name)
}

func TestAHeadlessRunIsGivenTheIDOfItsConversation(t *testing.T) {
	w := newWorld(t)
	w.withPackage("gemini", "@google/gemini-cli", "0.61.0")
	r := w.runAs("gemini", nil, "-p", "hi")
	e := w.onlyEntry()
	if want := []string{"gemini", "--session-id", ledger.Value(e.SessionID), "-p", "hi"}; len(*e.SessionID) != 36 || !slices.Equal(r.seen.Args, want) || r.code != 7 {
		t.Errorf("got %q, want %q", r.seen.Args, want)
	}
	if again := w.runAs("gemini", nil, "-p", "hi"); again.seen.Args[2] == r.seen.Args[2] {
		t.Error("two runs were given one id")
	}
}

func TestWhereNoIDIsGivenTheArgumentsAreTheUsersOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		version string
		env     []string
		args    []string
	}{
		"an older version":        {"0.60.0", nil, []string{"-p", "hi"}},
		"turned off":              {"0.61.0", []string{"AGENTWRAP_INJECT=0"}, []string{"-p", "hi"}},
		"one's own id":            {"0.61.0", nil, []string{"-p", "hi", "--session-id", "mine"}},
		"a screen":                {"0.61.0", nil, []string{"hi"}},
		"an unknown installation": {"", nil, []string{"-p", "hi"}},
	} {
		w := newWorld(t)
		w.withPackage("gemini", "@google/gemini-cli", tc.version)
		r := w.runAs("gemini", tc.env, tc.args...)
		if !slices.Equal(r.seen.Args[1:], tc.args) || w.onlyEntry().SessionID != nil {
			t.Errorf("%s: %q, entry %+v", name, r.seen.Args, w.onlyEntry().SessionID)
		}
	}
}

func TestAPluginIsNamedForOneLaunch(t *testing.T) {
	const plugin = "home/.local/share/agentwrap/opencode.js"
	for name, tc := range map[string]struct {
		installed bool
		waits     bool // opencode would have to install something first
		env       []string
		want      string // $ stands for the plugin's URL
	}{
		"installed":          {true, false, nil, `{"plugin":["$"]}`},
		"beside the user's":  {true, false, []string{`OPENCODE_CONFIG_CONTENT={"plugin":["a"],"x":1}`}, `{"plugin":["a","$"],"x":1}`},
		"not understood":     {true, false, []string{`OPENCODE_CONFIG_CONTENT={"x":1,}`}, `{"x":1,}`},
		"turned off":         {true, false, []string{"AGENTWRAP_INJECT=0"}, ""},
		"turned off for all": {true, false, []string{"AGENTWRAP_DISABLE=1"}, ""},
		"not installed":      {false, false, nil, ""},
		"not without a wait": {true, true, nil, ""},
	} {
		w := newWorld(t)
		w.withPackage("opencode", "opencode-ai", "1.18.33")
		if !tc.waits {
			w.dir("home/.config/opencode/node_modules")
			w.script("home/.config/opencode/package-lock.json", `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}}}`)
		}
		if tc.installed {
			w.script(plugin, "")
		}
		r := w.runAs("opencode", tc.env, "run", "hi")
		want := strings.ReplaceAll(tc.want, "$", "file://"+w.at(plugin))
		if got := variable(r.seen.Env, "OPENCODE_CONFIG_CONTENT"); got != want || !slices.Equal(r.seen.Args[1:], []string{"run", "hi"}) {
			t.Errorf("%s: %s, want %s; arguments %q", name, got, want, r.seen.Args)
		}
	}
}
