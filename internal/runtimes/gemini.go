package runtimes

// gemini is Google's Gemini CLI.
func gemini() Profile {
	return Profile{
		Name:         "gemini",
		Services:     []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"},
		ServiceFlags: []string{"--acp", "--experimental-acp", "--list-*", "--delete-session"},
		Headless:     func(args []string) bool { return hasFlag(args, "-p", "--prompt") },
		ResumeID:     func(args []string) string { return uuidOf(args, "--resume", "-r", "--session-id") },
		ConfigHome:   ".gemini",
	}
}

// qwen is Qwen Code, a fork of gemini in which a bare prompt runs and ends.
func qwen() Profile {
	return Profile{
		Name:         "qwen",
		Services:     []string{"mcp", "extensions", "auth", "hooks", "channel", "review"},
		ServiceFlags: []string{"--acp", "--experimental-acp", "--list-*", "--delete-session"},
		Headless: func(args []string) bool {
			return hasFlag(args, "-p", "--prompt") || firstWord(args, qwenValueFlags) != "" && !hasFlag(args, "-i", "--prompt-interactive")
		},
		ResumeID:   func(args []string) string { return uuidOf(args, "--resume", "-r", "--session-id") },
		ConfigHome: ".qwen",
	}
}

var qwenValueFlags = []string{"-m", "--model", "-p", "--prompt", "-i", "--prompt-interactive", "--approval-mode", "-e", "--extensions", "--include-directories",
	"--add-dir", "--resume", "-r", "--session-id", "--system-prompt", "--append-system-prompt", "--allowed-tools", "--core-tools", "--exclude-tools",
	"--allowed-mcp-server-names", "--auth-type", "--openai-api-key", "--openai-base-url", "-o", "--output-format", "--input-format"}
