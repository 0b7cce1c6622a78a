package cli

import "path/filepath"

const copilotVersion = "1.0.102"

// Copilot is GitHub Copilot's CLI, which takes any model provider without a login.
var Copilot = Program{
	Name:      "copilot",
	Package:   "@github/copilot",
	Version:   copilotVersion,
	configure: configureCopilot,
}

func configureCopilot(w *World) ([]string, error) {
	config := map[string]any{"trusted_folders": []string{w.Work}, "banner": "never"}
	return []string{
		"COPILOT_PROVIDER_BASE_URL=" + w.Model.URL + "/v1",
		"COPILOT_PROVIDER_API_KEY=" + dummyKey,
		"COPILOT_MODEL=model",
		"COPILOT_OFFLINE=true",
		"COPILOT_AUTO_UPDATE=false",
	}, writeJSON(filepath.Join(w.Home, ".copilot", "config.json"), config)
}
