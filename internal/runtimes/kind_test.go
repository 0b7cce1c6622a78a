package runtimes

import (
	"strings"
	"testing"
)

func TestWhatALaunchIs(t *testing.T) {
	for line, want := range map[string]Kind{
		"claude":                               Interactive,
		"claude config":                        Interactive,
		"claude fix the bug":                   Interactive,
		"claude update":                        Service,
		"claude --model opus update":           Service,
		"claude --unheard-of update":           Interactive,
		"claude --append-system-prompt update": Interactive,
		"claude --append-system-prompt -p":     Interactive,
		"claude daemon run":                    Service,
		"claude bg-spare":                      Service,
		"claude --bg fix":                      Service,
		"claude --version":                     Service,
		"claude --model x --help":              Service,
		"claude -h":                            Service,
		"claude -p hi":                         Headless,
		"claude --model x --print hi":          Headless,
		"claude -cp hi":                        Headless,
		"claude -dp hi":                        Interactive, // -d takes what is joined to it
		"claude -- -p":                         Interactive,
		"claude -c":                            Interactive,
		"claude --add-dir a b -p hi":           Headless,
		"codex":                                Interactive,
		"codex exec x":                         Headless,
		"codex -m gpt exec x":                  Headless,
		"codex -cmodel=x exec hi":              Headless,
		"codex review":                         Headless,
		"codex fix it":                         Interactive,
		"codex app-server":                     Service,
		"codex -c a=b app-server":              Service,
		"codex fork":                           Interactive,
		"gemini":                               Interactive,
		"gemini hello":                         Interactive,
		"gemini -p x":                          Headless,
		"gemini --prompt=x":                    Headless,
		"gemini --acp":                         Service,
		"gemini -m x --acp":                    Service,
		"gemini --list-sessions":               Service,
		"gemini -l":                            Service,
		"gemini --delete-session=1":            Service,
		"opencode":                             Interactive,
		"opencode run x":                       Headless,
		"opencode run -i x":                    Interactive,
		"opencode serve":                       Service,
		"kilo daemon":                          Service,
		"kilocode serve":                       Service,
		"qwen tell me":                         Headless,
		"qwen -i tell":                         Interactive,
		"qwen --model m":                       Interactive,
		"qwen --model m tell":                  Headless,
		"copilot -p x":                         Headless,
		"copilot -i x":                         Interactive,
		"copilot --acp":                        Service,
		"amp -x y":                             Headless,
		"amp mcp":                              Service,
		"cn -p x":                              Headless,
		"auggie --print x":                     Headless,
		"auggie --mcp":                         Service,
		"cursor-agent ls":                      Service,
		"agent -p x":                           Headless,
		"nobodys-cli":                          Interactive,
		"nobodys-cli login":                    Service,
		"nobodys-cli -p x":                     Interactive,
	} {
		words := strings.Fields(line)
		if got := For(words[0]).Kind(words[1:]); got != want {
			t.Errorf("%s: kind %d, want %d", line, got, want)
		}
	}
}

func TestWhatIsADaemon(t *testing.T) {
	for line, want := range map[string]bool{
		"codex app-server --listen unix://": true, "codex -c x=1 app-server": true, "codex exec": false, "codex": false,
		"claude daemon run": true, "claude bg-pty-host": true, "claude bg-spare": true, "claude mcp": false,
		"opencode serve": true, "opencode attach": false, "kilo daemon": true, "nobodys-cli daemon": false,
	} {
		words := strings.Fields(line)
		if got := For(words[0]).IsDaemon(words[1:]); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestADaemonIsAlsoKnownByItsFolder(t *testing.T) {
	const daemon = "/home/u/.codex/packages/app-server-daemon/releases/0.169.0/bin/codex"
	for exe, want := range map[string]bool{daemon: true, "/usr/lib/codex/bin/codex": false, "": false} {
		if got := For("codex").IsService(nil, exe); got != want {
			t.Errorf("%q: %v", exe, got)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"agent": "cursor-agent", "kilocode": "kilo", "claude": "claude"} {
		if got := For(name); got.Name != name || got.HeadlessFlags == nil && got.HeadlessWords == nil || !IsKnown(name) || find(name).Name != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, want := range map[string][2]bool{"aider": {false, true}, "vim": {false, false}, "codex": {true, true}} {
		if got := [2]bool{IsKnown(name), IsAgent(name)}; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
