package runtimes

// kilo is Kilo Code's CLI, a fork of opencode.
var kilo = Profile{
	Name:    "kilo",
	Aliases: []string{"kilocode"},
	Flags:   opencodeFlags,
	Services: []string{"completion", "acp", "mcp", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "serve", "web", "attach", "models", "stats",
		"export", "import", "github", "session", "plugin", "plug", "db", "daemon", "remote"},
	Daemons:       []string{"serve", "web", "daemon", "remote"},
	HeadlessWords: []string{"run"},
	ScreenFlags:   []string{"--interactive"},
	IDFlags:       []string{"--session"},
	IDForm:        "ses_*",
	ForkFlags:     []string{"--fork"},
	ResumeArgs:    []string{"{flags}", "--session", "{id}"},
	PromptArgs:    []string{"--prompt", "{prompt}"},
	ResumeInPlace: true,
}
