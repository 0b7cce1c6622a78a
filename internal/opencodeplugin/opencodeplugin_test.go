package opencodeplugin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentwrap/test/isolate"
)

// told plays events to the plugin in a real JavaScript engine and is what its
// companion was told.
func told(t *testing.T, events string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		isolate.Missing(t, "node, to run the plugin: %v", err)
	}
	dir := filepath.Join(t.TempDir(), `odd " name`)
	at := func(name string) string { return filepath.Join(dir, name) }
	companion := "#!/bin/sh\n" + `{ printf '%s %s ' "$1" "$2"; cat; echo; } > "${0%/*}/told"; echo noise` + "\n"
	plugin := at("plugin.mjs") // opencode takes .js for a module, node only this
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(at("companion"), []byte(companion), 0o700), os.WriteFile(at("events"), []byte(events), 0o600),
		unix.Mkfifo(at("told"), 0o600), Write(plugin, at("companion"))); err != nil {
		t.Fatal(err)
	}
	reports, err := os.OpenFile(at("told"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reports.Close()
	if err := reports.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "testdata/play.mjs", plugin, at("events"))
	var noise strings.Builder
	cmd.Stdout, cmd.Stderr = &noise, &noise
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	got := readUntil(reports, report("prompt", "ses_end"))
	stdin.Close()
	if err := cmd.Wait(); err != nil || noise.Len() > 0 {
		t.Fatalf("%v: %s", err, &noise)
	}
	return got
}

// readUntil is what comes before a line, or all up to an end or a deadline.
func readUntil(r io.Reader, last string) string {
	var got strings.Builder
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if line == last {
			return got.String()
		}
		if got.WriteString(line); err != nil {
			return got.String() + err.Error()
		}
	}
}

func report(event, id string) string {
	return fmt.Sprintf(`hook opencode {"hook_event_name":"%s","session_id":"%s"}`+"\n", event, id)
}

func TestWhatARealSessionTells(t *testing.T) {
	events, err := os.ReadFile("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const id = "ses_dd6ece165ffeDG81ZlrwhVVxyk"
	if got, want := told(t, string(events)), report("created", id)+report("prompt", id)+report("idle", id); got != want {
		t.Errorf("told\n%s, want\n%s", got, want)
	}
}

func TestWhatIsTold(t *testing.T) {
	prompt := func(id string) string { return `{"message":{"sessionID":"` + id + `"}}` + "\n" }
	event := func(kind, properties string) string {
		return `{"event":{"type":"` + kind + `","properties":` + properties + "}}\n"
	}
	for name, tc := range map[string]struct{ events, want string }{
		"a session that is gone on with": {prompt("ses_1") + event("session.idle", `{"sessionID":"ses_1"}`), report("prompt", "ses_1") + report("idle", "ses_1")},
		"a subagent that begins":         {event("session.created", `{"info":{"id":"ses_2","parentID":"ses_1"}}`) + prompt("ses_2") + event("session.idle", `{"sessionID":"ses_2"}`), ""},
		"a subagent that goes on":        {prompt("ses_inner") + event("session.idle", `{"sessionID":"ses_inner"}`), ""},
		"a client without an answer":     {prompt("ses_broken"), report("prompt", "ses_broken")},
		"a question":                     {event("permission.asked", `{"sessionID":"ses_1"}`), report("asked", "ses_1")},
		"what says nothing":              {event("session.idle", `{}`) + event("session.updated", `{"sessionID":"ses_1"}`) + event("lsp.updated", "null"), ""},
		"more than is taken in":          {strings.Repeat(prompt("ses_1"), 5), strings.Repeat(report("prompt", "ses_1"), 5)},
	} {
		if got := told(t, tc.events); got != tc.want {
			t.Errorf("%s: told\n%s, want\n%s", name, got, tc.want)
		}
	}
}

func TestThePluginIsWrittenAndRemoved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "share", "opencode.js")
	if err := Write(file, "agent-sessions"); err == nil || !strings.Contains(err.Error(), "no absolute path") {
		t.Errorf("a relative companion: %v", err)
	}
	if Installed(file, "/bin/agent-sessions") {
		t.Error("installed before it was written")
	}
	for range 2 {
		if err := Write(file, "/bin/agent-sessions"); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if !Installed(file, "/bin/agent-sessions") || Installed(file, "/other/agent-sessions") || Installed(file, "x") {
		t.Error("not told from another companion's")
	}
	for range 2 {
		if err := Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if Installed(file, "/bin/agent-sessions") {
		t.Error("still there")
	}
}
