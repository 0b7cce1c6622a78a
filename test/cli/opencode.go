package cli

import "path/filepath"

const opencodeVersion = "1.18.33"

// OpenCode is opencode.
var OpenCode = Program{
	Name:      "opencode",
	Package:   "opencode-ai",
	Version:   opencodeVersion,
	configure: configureOpenCode,
}

func configureOpenCode(w *World) ([]string, error) {
	config := map[string]any{
		"$schema":     "https://opencode.ai/config.json",
		"autoupdate":  false,
		"share":       "disabled",
		"model":       "loopback/model",
		"small_model": "loopback/model",
		"provider": map[string]any{"loopback": map[string]any{
			"npm":     "@ai-sdk/openai-compatible",
			"name":    "loopback",
			"options": map[string]any{"baseURL": w.Model.URL + "/v1", "apiKey": dummyKey},
			"models":  map[string]any{"model": map[string]any{"name": "model"}},
		}},
	}
	return nil, writeJSON(filepath.Join(w.Home, ".config", "opencode", "opencode.json"), config)
}
