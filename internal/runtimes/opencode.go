package runtimes

// opencode is opencode; kilo is its fork.
func opencode() Profile {
	return Profile{
		Name: "opencode",
		Services: []string{"completion", "acp", "mcp", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "serve", "web", "attach", "models", "stats",
			"export", "import", "github", "session", "plugin", "plug", "db"},
		Daemons:  []string{"serve", "web"},
		Headless: opencodeHeadless,
		ResumeID: func(args []string) string { return flagValue(args, "-s", "--session") },
	}
}

func kilo() Profile {
	p := opencode()
	p.Name = "kilo"
	p.Services = append(p.Services, "daemon", "remote")
	p.Daemons = append(p.Daemons, "daemon", "remote")
	return p
}

func opencodeHeadless(args []string) bool {
	return len(args) > 0 && args[0] == "run" && !hasFlag(args, "-i", "--interactive")
}
