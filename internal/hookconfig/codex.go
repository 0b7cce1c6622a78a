package hookconfig

// codex is the Codex CLI's hooks.json, in Claude Code's format.
var codex = target{
	cli:     "codex",
	file:    below("CODEX_HOME", ".codex", "hooks.json"),
	events:  []string{"SessionStart", "UserPromptSubmit", "Stop", "Interrupt", "SessionEnd"},
	timeout: 10, // seconds
	next:    "codex passes new hooks over until you trust them: start codex and type /hooks",
}
