package runtimes

import (
	"strings"
	"testing"
)

func TestWhichLaunchesAreGivenAnID(t *testing.T) {
	for line, want := range map[string]bool{
		"gemini -p hi":                       true,
		"gemini -m x --prompt=hi":            true,
		"gemini":                             false, // a screen, which may start itself anew
		"gemini hi":                          false,
		"gemini -p hi --session-id " + uuid:  false,
		"gemini -p hi --resume":              false,
		"gemini -p hi -r latest":             false,
		"gemini -p hi --session-file x.json": false,
		"gemini mcp list":                    false,
		"qwen hi":                            true,
		"qwen -p hi -c":                      false,
		"qwen --continue hi":                 false,
		"qwen -i hi":                         false,
		"claude -p hi":                       false,
		"codex exec hi":                      false,
		"nobodys-cli -p hi":                  false,
	} {
		words := strings.Fields(line)
		if got := For(words[0]).TakesID(words[1:]); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestAPluginBesideThoseThatAreThere(t *testing.T) {
	for _, tc := range []struct{ config, want string }{
		{"", `{"plugin":["file:///s/o.js"]}`},
		{"{}", `{"plugin":["file:///s/o.js"]}`},
		{`{"plugin":["a"],"model":"x"}`, `{"plugin":["a","file:///s/o.js"],"model":"x"}`},
		{`{"model": "x", "plugin": [] }`, `{"model": "x", "plugin": ["file:///s/o.js"] }`},
		{`{"plugin":["file:///s/o.js"]}`, ""},
		{`{"plugin":"a"}`, ""},
		{`{"plugin":null}`, ""},
		{`{"model":"x",}`, ""},
		{`// comments are not JSON
		{}`, ""},
		{`[]`, ""},
		{`"x"`, ""},
		{`{"model"`, ""},
	} {
		got, ok := WithPlugin(tc.config, "/s/o.js")
		if got != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: %s, %v", tc.config, got, ok)
		}
	}
	if got, _ := WithPlugin("", `/a b/"%#?é/o.js`); got != `{"plugin":["file:///a%20b/%22%25%23%3F%C3%A9/o.js"]}` {
		t.Error(got)
	}
}

func TestWhereThePluginIs(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"/h/.local/share/agentwrap/opencode.js": {"HOME": "/h"},
		"/x/opencode.js":                        {"HOME": "/h", "AGENTWRAP_SHIM_DIR": "/x/shims"},
		"":                                      {},
	} {
		if got := PluginFile(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: %q", env, got)
		}
	}
}
