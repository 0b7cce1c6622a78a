package runtimes

// cursorAgent is Cursor's CLI, which is also installed as `agent`.
var cursorAgent = Profile{
	Name:    "cursor-agent",
	Aliases: []string{"agent"},
	Flags: []Flag{
		{"-p --print", Nothing, Never},
		{"--output-format", Value, Never},
		{"-a --api-key", Value, Never},
		{"-H --header", Value, Never},
		{"--resume", Maybe, Never},
		{"--continue", Nothing, Never},
		{"-c --cloud", Nothing, Never},
		{"-w --worktree", Maybe, Never},
		{"-m --model", Value, Word},
		{"--mode", Value, Word},
		{"--plan", Nothing, Word},
		{"-f --force", Nothing, Word},
		{"--yolo", Nothing, Word},
		{"--sandbox", Value, Word},
		{"--approve-mcps", Nothing, Word},
		{"--trust", Nothing, Word},
		{"--workspace", Value, Path},
	},
	Services:      []string{"login", "logout", "status", "whoami", "about", "models", "mcp", "update", "upgrade", "ls", "create-chat"},
	HeadlessFlags: []string{"--print"},
	IDFlags:       []string{"--resume"},
	ResumeArgs:    []string{"{flags}", "--resume", "{id}"},
	PromptArgs:    []string{"--", "{prompt}"},
	ResumeInPlace: true,
	ConfigHome:    ".cursor",
	Transcripts:   "projects/*/agent-transcripts/{id}/{id}.jsonl",
}
