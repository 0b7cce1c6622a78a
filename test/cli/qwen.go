package cli

import "path/filepath"

const qwenVersion = "0.15.10"

// Qwen is Qwen Code.
var Qwen = Program{
	Name:      "qwen",
	Package:   "@qwen-code/qwen-code",
	Version:   qwenVersion,
	configure: configureQwen,
}

func configureQwen(w *World) ([]string, error) {
	settings := map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "openai"}},
		"general":  map[string]any{"enableAutoUpdate": false},
		"memory":   map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
		"privacy":  map[string]any{"usageStatisticsEnabled": false},
	}
	return []string{
		"OPENAI_BASE_URL=" + w.Model.URL + "/v1",
		"OPENAI_API_KEY=" + dummyKey,
		"OPENAI_MODEL=model",
	}, writeJSON(filepath.Join(w.Home, ".qwen", "settings.json"), settings)
}
