package runtimes

import "strings"

// claude is Claude Code. An unknown first word is a prompt to it, so that its
// own list of services stands in the place of the common one.
func claude() Profile {
	return Profile{
		Name: "claude",
		Services: []string{"agents", "auth", "auto-mode", "daemon", "doctor", "gateway", "import", "install", "logs", "mcp", "plugin", "plugins",
			"purge", "respawn", "rm", "setup-token", "stop", "kill", "ultrareview", "update", "upgrade", "remote-control", "migrate-installer",
			"bg-pty-host", "bg-spare"},
		Daemons:       []string{"daemon", "bg-pty-host", "bg-spare"},
		Headless:      claudeHeadless,
		ResumeID:      claudeResumeID,
		ConfigHomeVar: "CLAUDE_CONFIG_DIR",
		ConfigHome:    ".claude",
		EndHook:       true,
	}
}

func claudeHeadless(args []string) bool {
	if hasFlag(args, "-p", "--print") {
		return true
	}
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		// Short flags without a value may stand together: -cp.
		if len(arg) > 2 && arg[0] == '-' && strings.Trim(arg[1:], "cp") == "" {
			return strings.Contains(arg, "p")
		}
	}
	return false
}

// claudeResumeID: a fork continues under an id that is not known yet, and a
// value that is no id is a search.
func claudeResumeID(args []string) string {
	if hasFlag(args, "--fork-session") {
		return ""
	}
	return uuidOf(args, "--resume", "-r")
}
