package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

const codexVersion = "0.169.0"

// Codex is OpenAI's Codex CLI.
var Codex = Program{
	Name:      "codex",
	Package:   "@openai/codex",
	Version:   codexVersion,
	configure: configureCodex,
}

func configureCodex(w *World) ([]string, error) {
	config := fmt.Sprintf(`model = "gpt-5-codex"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "loopback"
base_url = "%s/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"

[projects."%s"]
trust_level = "trusted"
`, w.Model.URL, w.Work)
	dir := filepath.Join(w.Home, ".codex")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return []string{"OPENAI_API_KEY=" + dummyKey}, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600)
}
