package cli

import "path/filepath"

const claudeVersion = "2.1.328"

// Claude is Claude Code.
var Claude = Program{
	Name:      "claude",
	Package:   "@anthropic-ai/claude-code",
	Version:   claudeVersion,
	configure: configureClaude,
}

func configureClaude(w *World) ([]string, error) {
	state := map[string]any{
		"hasCompletedOnboarding": true,
		"lastOnboardingVersion":  claudeVersion,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string]any{"approved": []string{dummyKey[len(dummyKey)-20:]}},
		"projects": map[string]any{
			w.Work: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true},
		},
	}
	return []string{
		"ANTHROPIC_BASE_URL=" + w.Model.URL,
		"ANTHROPIC_API_KEY=" + dummyKey,
		"DISABLE_AUTOUPDATER=1",
	}, writeJSON(filepath.Join(w.Home, ".claude.json"), state)
}
