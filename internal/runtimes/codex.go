package runtimes

import "slices"

// codex is OpenAI's Codex CLI.
func codex() Profile {
	return Profile{
		Name: "codex",
		Services: []string{"login", "logout", "mcp", "mcp-server", "plugin", "app-server", "remote-control", "completion", "update", "doctor", "sandbox", "debug",
			"apply", "a", "queue", "archive", "unarchive", "delete", "migrate-rollouts", "migrate-nfs-db", "cloud", "exec-server", "features", "help"},
		Daemons: []string{"app-server"},
		// A daemon that the first screen starts and all of them share.
		ServiceFolders: []string{"app-server-daemon/"},
		Headless: func(args []string) bool {
			return slices.Contains([]string{"exec", "e", "review"}, firstWord(args, codexValueFlags))
		},
		ResumeID:      codexResumeID,
		ConfigHomeVar: "CODEX_HOME",
		ConfigHome:    ".codex",
	}
}

var codexValueFlags = []string{"-c", "--config", "-m", "--model", "-p", "--profile", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd",
	"-i", "--image", "--add-dir", "--enable", "--disable", "--local-provider", "--remote"}

func codexResumeID(args []string) string {
	at := slices.Index(args, "resume")
	if at < 0 || firstWord(args, codexValueFlags) != "resume" {
		return ""
	}
	if id := firstWord(args[at+1:], codexValueFlags); isUUID(id) {
		return id
	}
	return ""
}
