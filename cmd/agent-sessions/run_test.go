package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"agentwrap/internal/ledger"
	"agentwrap/internal/runstore"
)

func TestMessagesAreListedAndDropped(t *testing.T) {
	d := newDesk(t)
	id := d.row(&ledger.Entry{})
	runs, err := runstore.NewFileStore(d.home+"/.agent-run", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first\nlines", "second \x1b[2J"} {
		if _, err := runs.AppendMessage(id, text); err != nil {
			t.Fatal(err)
		}
	}
	if list := d.does("messages", id); !strings.HasPrefix(list, "1\tqueued\t") || !strings.HasSuffix(list, "\tsecond ␛[2J\n") || !strings.Contains(list, "\tfirst lines\n") {
		t.Errorf("listed %q", list)
	}
	if got := d.does("messages", id, "--drop", "1"); got != "1: dropped: first lines\n" {
		t.Errorf("dropped %q", got)
	}
	if _, stderr, code := d.run("messages", id, "--drop", "1"); code != exitFailed || !strings.Contains(stderr, "has no message") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	var items []messageItem
	if err := json.Unmarshal([]byte(d.does("messages", id, "--json")), &items); err != nil || len(items) != 1 || items[0].ID != "msg_2" || items[0].State != "queued" {
		t.Errorf("%+v, %v", items, err)
	}
}

func TestSendRefusesASessionThatRunsNoMore(t *testing.T) {
	d := newDesk(t)
	id := d.row(&ledger.Entry{FinishedAt: ledger.At(d.now)})
	for _, tc := range []struct {
		argv []string
		code int
		want string
	}{
		{[]string{"send", id, "go on"}, exitRefused, "bring it back first: agent-sessions attach " + id},
		{[]string{"send", id, " "}, exitWrongUse, "empty"},
		{[]string{"send", id}, exitWrongUse, "send: "},
		{[]string{"send", "nobody", "x"}, exitNoSession, "no such session"},
	} {
		if stdout, stderr, code := d.run(tc.argv...); code != tc.code || !strings.Contains(stderr, tc.want) || stdout != "" {
			t.Errorf("%q: exit %d, %q, %q", tc.argv, code, stdout, stderr)
		}
	}
	if _, err := os.Lstat(d.home + "/.agent-run"); err == nil {
		t.Error("something was queued")
	}
}

func TestEventsAreShownAndReadFromAnOffset(t *testing.T) {
	d := newDesk(t)
	id := d.row(&ledger.Entry{})
	d.does("idle", id, "--exit-after", "90m")
	d.does("idle", id, "--never")
	shown := d.does("events", id)
	if lines := strings.Split(shown, "\n"); len(lines) != 3 || !strings.HasSuffix(lines[0], "  idle          ends after 1h30m0s of idleness policy") {
		t.Errorf("shown %q", shown)
	}
	stdout, stderr, code := d.run("events", id, "--json")
	var ev runstore.Event
	if err := json.Unmarshal([]byte(stdout[:strings.IndexByte(stdout, '\n')]), &ev); err != nil || code != exitDone || ev.Type != "idle" {
		t.Errorf("%q, %v", stdout, err)
	}
	if stdout, _, _ := d.run("events", id, "--json", "--after", strings.TrimSpace(stderr)); stdout != "" {
		t.Errorf("behind the end: %q", stdout)
	}
	if _, stderr, code := d.run("events", id, "--after", "-1"); code != exitWrongUse {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if policy := d.does("idle", id); policy != "never ends by itself\n" {
		t.Errorf("policy %q", policy)
	}
	for _, argv := range [][]string{{"idle", id, "--exit-after", "-1m"}, {"idle", id, "--exit-after", "1m", "--never"}} {
		if _, stderr, code := d.run(argv...); code != exitWrongUse {
			t.Errorf("%q: exit %d, %q", argv, code, stderr)
		}
	}
}

func TestEnvIsKeptForTheNextOpening(t *testing.T) {
	d := newDesk(t)
	id := d.row(&ledger.Entry{CWD: ledger.Ptr("/w")})
	if shown := d.does("env", id); shown != "" {
		t.Errorf("nothing is kept: %q", shown)
	}
	if _, err := os.Lstat(d.home + "/.agent-run"); err == nil {
		t.Error("looking made a store")
	}
	d.does("SECRET=s3cret", "env", id, "--prepend-path", "/b", "--prepend-path", "/a", "--prepend-path", "/b", "--set", "K=1", "--set", "SECRET", "--set", "K=2", "--config-home", "/c")
	if shown := d.does("env", id); shown != "--prepend-path /b\n--prepend-path /a\n--prepend-path /b\n--set K\n--set SECRET\n--set K\n--config-home /c\n" {
		t.Errorf("shown %q", shown)
	}
	d.does("env", id, "--set", "K=3")
	var kept struct {
		PrependPaths []string `json:"prepend_paths"`
		Env          []string `json:"env"`
		ConfigHome   string   `json:"agent_runner_config_home"`
	}
	if err := json.Unmarshal([]byte(d.does("env", id, "--json")), &kept); err != nil || len(kept.PrependPaths) != 0 || len(kept.Env) != 1 || kept.Env[0] != "K=3" || kept.ConfigHome != "/c" {
		t.Errorf("kept %+v, %v", kept, err)
	}
}
