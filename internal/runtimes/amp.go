package runtimes

// amp is Sourcegraph's Amp. Its conversations (threads) are kept by its service.
var amp = Profile{
	Name: "amp",
	Flags: []Flag{
		{"-x --execute", Maybe, Never},
		{"--settings-file", Value, Path},
		{"--mcp-config", Value, Path},
		{"--log-level", Value, Never},
		{"--log-file", Value, Never},
		{"-m --mode", Value, Word},
		{"--dangerously-allow-all", Nothing, Word},
		{"--no-notifications", Nothing, Word},
		{"--no-ide", Nothing, Word},
		{"--no-jetbrains", Nothing, Word},
	},
	Services: []string{"usage", "permissions", "permission", "skills", "skill", "tools", "tool", "review", "doctor",
		"daemon", "mcp", "install", "update", "config", "migrate-installer", "setup-token", "login", "logout", "completion"},
	HeadlessFlags: []string{"--execute"},
	IDWords:       []string{"threads continue", "thread continue", "t continue", "threads c", "t c"},
	IDForm:        "T-*",
	ResumeArgs:    []string{"{flags}", "threads", "continue", "{id}"},
}
