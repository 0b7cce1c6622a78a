package hookadopt

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/ledger"
)

// sample is a hook call of a real CLI as it was recorded.
type sample struct {
	payload json.RawMessage
	env     map[string]string
	// ancestors are the command lines above the hook, nearest first.
	ancestors []string
}

func readSample(t *testing.T, cli, name string) sample {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", cli, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Payload   json.RawMessage   `json:"payload"`
		Env       map[string]string `json:"hook_env"`
		Ancestors []json.RawMessage `json:"ancestors"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	s := sample{payload: file.Payload, env: file.Env}
	for _, a := range file.Ancestors {
		// Claude's were recorded with more than their arguments.
		var long struct{ Argv string }
		var line string
		if json.Unmarshal(a, &long) != nil {
			if err := json.Unmarshal(a, &line); err != nil {
				t.Fatal(err)
			}
		} else {
			line = long.Argv
		}
		s.ancestors = append(s.ancestors, line)
	}
	return s
}

// says is what a sample's event is expected to say.
type says struct {
	begins, foreign bool
	turn            string
	end             *ledger.End
}

func ended(reason, by string) *ledger.End {
	return &ledger.End{Reason: ledger.Known(reason), EndedBy: ledger.Known(by)}
}

var alive = says{}

// sampleMeanings has every recorded event of every CLI.
var sampleMeanings = map[string]map[string]says{
	"claude": {
		"SessionStart-startup":           {begins: true},
		"SessionStart-resume":            {begins: true},
		"SessionStart-clear":             {begins: true},
		"SessionStart-compact":           {begins: true},
		"SessionStart-fork":              {begins: true},
		"UserPromptSubmit":               {turn: ledger.TurnIts},
		"Stop":                           {turn: ledger.TurnYours},
		"Notification-idle_prompt":       {turn: ledger.TurnYours},
		"Notification-permission_prompt": {turn: ledger.TurnYours},
		"SessionEnd-prompt_input_exit":   {end: ended("exited at the prompt", ledger.EndedByUser)},
		"SessionEnd-other":               {end: &ledger.End{LossWhereInteractive: true}},
		"SessionEnd-clear":               alive,
		"SubagentStart":                  alive,
		"SubagentStop":                   alive,
		"CwdChanged":                     alive,
		"ConfigChange-user_settings":     alive,
		"PermissionRequest":              alive,
		"PostCompact":                    alive,
		"PostToolBatch":                  alive,
		"PostToolUse":                    alive,
		"PreCompact":                     alive,
		"PreToolUse":                     alive,
	},
	"codex": {
		"SessionStart":     {begins: true},
		"UserPromptSubmit": {turn: ledger.TurnIts},
		"Stop":             {turn: ledger.TurnYours},
		"Interrupt":        {turn: ledger.TurnYours},
		"SessionEnd":       {end: ended("", ledger.EndedByUser)},
		"PreToolUse":       alive,
		"PostToolUse":      alive,
		"notify":           alive,
	},
	"gemini": {
		"SessionStart": {begins: true},
		"BeforeAgent":  {turn: ledger.TurnIts},
		"AfterAgent":   {turn: ledger.TurnYours},
		"SessionEnd":   {end: ended("exit", "")},
		"BeforeTool":   alive,
		"AfterTool":    alive,
		"PreCompress":  alive,
	},
}

func TestWhatEachRecordedEventSays(t *testing.T) {
	for cli, meanings := range sampleMeanings {
		files, err := filepath.Glob(filepath.Join("testdata", cli, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatal(cli, files, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			want, listed := meanings[name]
			if !listed {
				t.Errorf("%s: no expectation", file)
				continue
			}
			s := readSample(t, cli, name)
			p := parsePayload(s.payload)
			m := dialects[cli].meaning(p)
			got := says{m.begins, m.foreign, m.turn, m.end}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(says{})); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			var raw struct {
				ID string `json:"session_id"`
			}
			if err := json.Unmarshal(s.payload, &raw); err == nil && p.conversation != raw.ID {
				t.Errorf("%s: conversation %q, want %q", file, p.conversation, raw.ID)
			}
		}
	}
}

// What the environment of a real call says of its process agrees with the event.
func TestEachRecordedEnvironmentIsItsOwn(t *testing.T) {
	for cli, variable := range map[string]string{"claude": "CLAUDE_CODE_SESSION_ID", "gemini": "GEMINI_SESSION_ID"} {
		for name := range sampleMeanings[cli] {
			s := readSample(t, cli, name)
			if id := parsePayload(s.payload).conversation; s.env[variable] != id {
				t.Errorf("%s %s: %s is %q, the event's conversation %q", cli, name, variable, s.env[variable], id)
			}
		}
	}
}

func TestClaudesReasons(t *testing.T) {
	for reason, want := range map[string]*ledger.End{
		"prompt_input_exit":           ended("exited at the prompt", ledger.EndedByUser),
		"logout":                      ended("logged out", ledger.EndedByUser),
		"bypass_permissions_disabled": ended("bypassing permissions was disabled", ""),
		"clear":                       nil,
		"resume":                      ended("resume", ""),
		"other":                       {LossWhereInteractive: true},
		"":                            ended("", ""),
		"quantum_tunnelling":          ended("quantum_tunnelling", ""),
		"Prompt_Input_Exit":           ended("Prompt_Input_Exit", ""),
	} {
		if diff := cmp.Diff(want, claudeEnd(reason)); diff != "" {
			t.Errorf("%q: %s", reason, diff)
		}
	}
}
