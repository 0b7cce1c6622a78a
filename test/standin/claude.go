package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// configHome is where Claude Code keeps its settings and transcripts.
func configHome() string {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".claude")
}

var notAlnum = regexp.MustCompile(`[^A-Za-z0-9]`)

func (s *session) transcript() string {
	cwd, err := os.Getwd()
	if err != nil {
		return ""
	}
	return filepath.Join(configHome(), "projects", notAlnum.ReplaceAllString(cwd, "-"), s.id+".jsonl")
}

// record appends one message to the transcript, which is not there before the
// first one.
func (s *session) record(role, text string) {
	if s.name != "claude" || s.transcript() == "" {
		return
	}
	line := map[string]any{
		"type": role, "sessionId": s.id, "isSidechain": false, "uuid": newID(),
		"timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"message":   map[string]any{"role": role, "content": text},
	}
	if role == "user" {
		line["promptSource"] = "typed"
	} else {
		line["message"] = map[string]any{"role": role, "content": []any{map[string]string{"type": "text", "text": text}}}
	}
	if err := appendLine(s.transcript(), line); err != nil {
		fmt.Fprintln(os.Stderr, "claude: transcript:", err)
	}
}

func appendLine(path string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(raw, '\n'))
	return err
}

// hookSettings are the hooks of settings.json.
type hookSettings struct {
	Hooks map[string][]struct {
		Hooks []struct {
			Command string
			Args    []string
		}
	}
}

// hook runs the hooks of an event, prints what they say to the model and
// returns the prompt that a Stop hook answers with, "" for none.
func (s *session) hook(event, key, value string) (prompt string) {
	raw, err := os.ReadFile(filepath.Join(configHome(), "settings.json"))
	var settings hookSettings
	if s.name != "claude" || err != nil || json.Unmarshal(raw, &settings) != nil {
		return ""
	}
	cwd, _ := os.Getwd()
	payload, err := json.Marshal(map[string]any{
		"session_id": s.id, "transcript_path": s.transcript(), "cwd": cwd, "hook_event_name": event, key: value,
	})
	if err != nil {
		return ""
	}
	for _, group := range settings.Hooks[event] {
		for _, h := range group.Hooks {
			if said := s.runHook(h.Command, h.Args, payload); said != "" {
				prompt = said
			}
		}
	}
	return prompt
}

// runHook runs one hook: with arguments as a program, without as a shell line.
func (s *session) runHook(command string, args []string, payload []byte) (prompt string) {
	cmd := exec.Command(command, args...)
	if args == nil {
		cmd = exec.Command("/bin/sh", "-c", command)
	}
	cmd.Stdin = bytes.NewReader(payload)
	cmd.Env = append(os.Environ(), "CLAUDECODE=1", "CLAUDE_PID="+strconv.Itoa(os.Getpid()), "CLAUDE_CODE_SESSION_ID="+s.id)
	out, err := cmd.Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "claude: hook %s: %v\n", command, err)
	}
	var said struct {
		Decision, Reason   string
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if json.Unmarshal(out, &said) != nil {
		return ""
	}
	if text := said.HookSpecificOutput.AdditionalContext; text != "" {
		fmt.Fprintln(s.out, "hook says:", text)
	}
	if said.Decision == "block" {
		return said.Reason
	}
	return ""
}
