package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/runstore"
)

func TestFocusIsSaidShownAndCleared(t *testing.T) {
	d := newDesk(t)
	d.inTree()
	own, other := d.row(&ledger.Entry{}), d.row(&ledger.Entry{})
	d.does("AGENT_LEDGER_ID="+own, "focus", "--focus", "the parser", "--why", "it drops comments")
	d.does("AGENT_LEDGER_ID="+own, "focus", "--ticket", "T-12")
	d.now = d.now.Add(19 * time.Minute)
	d.does("AGENT_LEDGER_ID="+other, "focus", "--focus", "\x1b[2Jtests")
	d.now = d.now.Add(time.Minute)
	if shown := d.does("focus"); !strings.HasPrefix(shown, other+"\t␛[2Jtests\t") || !strings.Contains(shown, "\n"+own+"\tthe parser\tit drops comments\tT-12\t\t") {
		t.Errorf("shown %q", shown)
	}
	var items []focusItem
	if err := json.Unmarshal([]byte(d.does("focus", "--json")), &items); err != nil || len(items) != 2 || items[0].Stale || !items[1].Stale {
		t.Errorf("%+v, %v", items, err)
	}
	d.does("focus", "--clear", "--session", own)
	d.does("AGENT_LEDGER_ID="+other, "focus", "--clear")
	if shown := d.does("focus"); shown != "" {
		t.Errorf("cleared: %q", shown)
	}
	for _, argv := range [][]string{{"focus", "--model", "opus"}, {"focus", "--focus", ""}, {"focus", "--clear", "--focus", "x"}, {"focus", "x"}} {
		if stdout, stderr, code := d.run(argv...); code != exitWrongUse || stderr == "" || stdout != "" {
			t.Errorf("%q: exit %d, %q, %q", argv, code, stdout, stderr)
		}
	}
}

func TestFocusPassesOverADamagedRecord(t *testing.T) {
	d := newDesk(t)
	d.inTree()
	d.does("focus", "--focus", "x", "--session", "me")
	files, err := filepath.Glob(d.home + "/.local/state/agent-sessions/focus/tree-*/me.json")
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	torn := filepath.Join(filepath.Dir(files[0]), "torn.json")
	if err := os.WriteFile(torn, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, code := d.run("focus"); code != exitDone || !strings.HasPrefix(stdout, "me\tx\t") || !strings.Contains(stderr, torn) {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

func TestAClaimIsRefusedWhileAnotherHoldsIt(t *testing.T) {
	d := newDesk(t)
	d.inTree()
	// Whatever started this test may be an agent: then the claims are bound to it.
	for _, tc := range []struct {
		argv []string
		code int
		want string
	}{
		{[]string{"claim", "T-1", "--session", "a"}, exitDone, "T-1: claimed\n"},
		{[]string{"claim", "T-1", "--session", "a"}, exitDone, "T-1: renewed\n"},
		{[]string{"claim", "T-1", "--session", "b"}, exitRefused, "agent-sessions: claim T-1: session a holds it"},
		{[]string{"release", "T-1", "--session", "b"}, exitRefused, "agent-sessions: release T-1: session a holds it"},
		{[]string{"claim", "T-1", "--session", "b", "--steal"}, exitDone, "T-1: taken over: session a holds it"},
		{[]string{"release", "T-1", "--session", "b"}, exitDone, "T-1: released\n"},
		{[]string{"release", "T-1", "--session", "b"}, exitDone, "T-1: nobody holds it\n"},
		{[]string{"claim", "T\n1"}, exitFailed, "cannot be a ticket"},
		{[]string{"claim"}, exitWrongUse, "claim: "},
		{[]string{"claim", "T-2", "--session", "a"}, exitDone, "T-2: claimed\n"},
	} {
		stdout, stderr, code := d.run(tc.argv...)
		if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
			t.Errorf("%q: exit %d, %q, %q, want %q", tc.argv, code, stdout, stderr, tc.want)
		}
	}
	if list := d.does("claims"); !strings.HasPrefix(list, "T-2\ta\t") || !strings.HasSuffix(list, "\theld\n") {
		t.Errorf("listed %q", list)
	}
	var items []claimItem
	if err := json.Unmarshal([]byte(d.does("claims", "--json")), &items); err != nil || len(items) != 1 || !items[0].Held || items[0].TicketID != "T-2" {
		t.Errorf("%+v, %v", items, err)
	}
}

func TestShowTellsTheFocusAndWhatWaits(t *testing.T) {
	d := newDesk(t)
	id := d.row(&ledger.Entry{CWD: ledger.Ptr(d.inTree())})
	if shown := d.does("show", id); strings.Contains(shown, "focus") || strings.Contains(shown, "messages") {
		t.Errorf("shown %q", shown)
	}
	d.does("AGENT_LEDGER_ID="+id, "focus", "--focus", "the parser")
	runs, err := runstore.NewFileStore(d.home+"/.agent-run", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runs.AppendMessage(id, "run the tests"); err != nil {
		t.Fatal(err)
	}
	if shown := d.does("show", id); !strings.Contains(shown, "the parser") || !strings.Contains(shown, "1 wait: agent-sessions messages "+id) {
		t.Errorf("shown %q", shown)
	}
}
