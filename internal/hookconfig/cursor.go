package hookconfig

// cursor is Cursor's hooks.json, which its editor reads too.
var cursor = target{
	cli:     "cursor",
	file:    below("", ".cursor", "hooks.json"),
	events:  []string{"sessionStart", "beforeSubmitPrompt", "stop", "sessionEnd"},
	flat:    true,
	version: 1,
}
