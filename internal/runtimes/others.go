package runtimes

// The CLIs of which little more is known than how they start.

func cursorAgent() Profile {
	return Profile{
		Name:       "cursor-agent",
		Services:   []string{"login", "logout", "status", "about", "models", "mcp", "update", "ls", "create-chat"},
		Headless:   func(args []string) bool { return hasFlag(args, "-p", "--print") },
		ResumeID:   func(args []string) string { return uuidOf(args, "--resume") },
		ConfigHome: ".cursor",
	}
}

func copilot() Profile {
	return Profile{
		Name: "copilot",
		Services: []string{"app", "login", "config", "update", "version", "sessions", "memories", "plugin", "mcp", "skill", "instruction", "lsp", "sandbox",
			"completion", "init", "help"},
		Headless:   func(args []string) bool { return hasFlag(args, "-p", "--prompt") },
		ResumeID:   func(args []string) string { return uuidOf(args, "--resume") },
		ConfigHome: ".copilot",
	}
}

func amp() Profile {
	return Profile{
		Name:     "amp",
		Services: append([]string{"usage", "permissions", "skills", "tools", "review", "doctor"}, commonServices...),
		Headless: func(args []string) bool { return hasFlag(args, "-x", "--execute") },
	}
}

func auggie() Profile {
	return Profile{Name: "auggie", Services: commonServices, Headless: func(args []string) bool { return hasFlag(args, "-p", "--print") }}
}

func continueDev() Profile {
	return Profile{Name: "cn", Services: commonServices, Headless: func(args []string) bool { return hasFlag(args, "-p", "--print") }}
}
