package hookconfig

// claude is Claude Code's settings.json. A CwdChanged hook is left out: it tells
// of a cd in the shell tool, which moves no session, and versions that do not
// know an event may pass the whole file over.
var claude = target{
	cli:        "claude",
	file:       below("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
	events:     []string{"SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "Notification", "SessionEnd"},
	timeout:    10, // seconds; SessionEnd would have 1.5 in all
	disabledBy: "disableAllHooks",
}
