package cli

import "path/filepath"

const geminiVersion = "0.61.0"

// Gemini is Google's Gemini CLI.
var Gemini = Program{
	Name:      "gemini",
	Package:   "@google/gemini-cli",
	Version:   geminiVersion,
	configure: configureGemini,
}

func configureGemini(w *World) ([]string, error) {
	dir := filepath.Join(w.Home, ".gemini")
	settings := map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"general":  map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":  map[string]any{"usageStatisticsEnabled": false},
	}
	if err := writeJSON(filepath.Join(dir, "settings.json"), settings); err != nil {
		return nil, err
	}
	return []string{
		"GEMINI_API_KEY=" + dummyKey,
		"GOOGLE_GEMINI_BASE_URL=" + w.Model.URL,
	}, writeJSON(filepath.Join(dir, "trustedFolders.json"), map[string]string{w.Work: "TRUST_FOLDER"})
}
