package hookconfig

// gemini is the Gemini CLI's settings.json, which may hold comments.
var gemini = target{
	cli:      "gemini",
	file:     below("", ".gemini", "settings.json"),
	events:   []string{"SessionStart", "BeforeAgent", "AfterAgent", "Notification", "SessionEnd"},
	timeout:  10_000, // milliseconds
	named:    true,
	comments: true,
}
