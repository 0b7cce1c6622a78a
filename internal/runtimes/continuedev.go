package runtimes

// continueDev is Continue's CLI. It goes on with the last conversation only.
var continueDev = Profile{
	Name: "cn",
	Flags: []Flag{
		{"-p --print", Nothing, Never},
		{"--format", Value, Never},
		{"--prompt", Value, Never},
		{"--resume", Nothing, Never},
		{"--fork", Value, Never},
		{"--config", Value, Path},
		{"--org", Value, Word},
		{"--rule", Value, Never},
		{"--mcp", Value, Word},
		{"--model", Value, Word},
		{"--agent", Value, Word},
		{"--allow", Value, Word},
		{"--ask", Value, Word},
		{"--exclude", Value, Word},
		{"--readonly", Nothing, Word},
		{"--auto", Nothing, Word},
		{"--verbose", Nothing, Word},
	},
	Services:      []string{"login", "logout", "ls", "checks", "review", "serve", "remote"},
	HeadlessFlags: []string{"--print"},
	ConfigHome:    ".continue",
}
