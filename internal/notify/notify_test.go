package notify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/settings"
)

var now = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

func TestDecide(t *testing.T) {
	lost := Subject{Lost: true, LostSince: ago(time.Hour)}
	yours := Subject{Running: true, Yours: true, TurnAt: ago(time.Minute)}
	its := Subject{Running: true, Its: true, TurnAt: ago(time.Hour)}
	run := Subject{Running: true, Headless: true, StartedAt: ago(time.Hour)}
	with := func(s Subject, change func(*Subject)) Subject { change(&s); return s }
	type looks []Subject
	for _, tc := range []struct {
		name  string
		looks looks // at one session, one after the other
		want  string
	}{
		{"a lost session, once however often it is seen", looks{lost, lost, lost}, "lost"},
		{"the same, though its time is told otherwise", looks{lost, with(lost, func(s *Subject) { s.LostSince = now })}, "lost"},
		{"lost, resumed, and lost again", looks{lost, {Ended: true}, lost}, "lost lost"},
		{"waiting for its user, once", looks{yours, yours}, "needs-you"},
		{"each new entry into waiting", looks{yours, its, with(yours, func(s *Subject) { s.TurnAt = now })}, "needs-you finished"},
		{"a short turn between two looks", looks{yours, with(yours, func(s *Subject) { s.TurnAt = now })}, "needs-you needs-you"},
		{"a long turn ends", looks{its, yours, yours}, "finished"},
		{"a short turn ends", looks{with(its, func(s *Subject) { s.TurnAt = ago(5 * time.Minute) }), yours}, "needs-you"},
		{"the user is attached", looks{with(yours, func(s *Subject) { s.Attached = true }), yours}, ""},
		{"working tells nothing", looks{its, its}, ""},
		{"a long run without a screen ends", looks{run, {Ended: true}, {Ended: true}}, "finished"},
		{"a short one ends", looks{with(run, func(s *Subject) { s.StartedAt = now }), {Ended: true}}, ""},
		{"a long run is lost", looks{run, {Ended: true, Lost: true}}, "lost"},
		{"ended before anyone looked", looks{{Ended: true}}, ""},
	} {
		told := Told{}
		var got []string
		for _, sub := range tc.looks {
			sub.LedgerID = "claude-x"
			var notices []Notice
			notices, told = Decide([]Subject{sub}, told, settings.Defaults().Notify, now)
			for _, n := range notices {
				got = append(got, n.Event)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, got, tc.want)
		}
	}
}

func TestWhatIsNotWantedIsNotToldLaterEither(t *testing.T) {
	s := settings.Defaults().Notify
	s.Lost, s.NeedsYou = false, false
	subjects := []Subject{{LedgerID: "a", Lost: true, LostSince: now}, {LedgerID: "b", Running: true, Yours: true, TurnAt: now}}
	notices, told := Decide(subjects, nil, s, now)
	later, _ := Decide(subjects, told, settings.Defaults().Notify, now)
	if len(notices) != 0 || len(later) != 0 {
		t.Errorf("%v, %v", notices, later)
	}
}

func TestAReboot(t *testing.T) {
	var subjects []Subject
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		subjects = append(subjects, Subject{LedgerID: id, Lost: true, LostSince: now})
	}
	notices, told := Decide(subjects, nil, settings.Defaults().Notify, now)
	if len(notices) != 1 || notices[0].Summary != "5 sessions were lost" || len(told) != 5 {
		t.Errorf("%+v, %v", notices, told)
	}
}

func TestWhatIsRememberedStaysSmall(t *testing.T) {
	told := Told{"gone": {Lost: "x"}, "ended": {NeedsYou: "x", working: "y"}}
	_, next := Decide([]Subject{{LedgerID: "ended", Ended: true}}, told, settings.Defaults().Notify, now)
	if len(next) != 0 {
		t.Errorf("%v", next)
	}
}

// recorder is a notifier whose command writes down what it is told.
func recorder(t *testing.T) (*Notifier, func() string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "ledger")
	out := filepath.Join(t.TempDir(), "out")
	script := filepath.Join(t.TempDir(), "say")
	text := "#!/bin/sh\nprintf '%s|%s|%s|%s\\n' \"$1\" \"$2\" \"$AGENT_SESSIONS_EVENT\" \"$AGENT_SESSIONS_ID\" >> " + out + "\n"
	if err := errors.Join(os.MkdirAll(root, 0o700), os.WriteFile(script, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
	s := settings.Defaults().Notify
	s.Command = []string{script}
	n := &Notifier{Root: root, Settings: s, Environ: os.Environ(), Now: func() time.Time { return now }}
	return n, func() string {
		raw, err := os.ReadFile(out)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(raw)
	}
}

func tell(t *testing.T, n *Notifier, subjects ...Subject) {
	t.Helper()
	if _, err := n.Tell(context.Background(), subjects); err != nil {
		t.Fatal(err)
	}
}

func TestTheUsersCommandIsToldOnceAndHarmlessly(t *testing.T) {
	n, out := recorder(t)
	sub := Subject{LedgerID: "claude-x", Name: "evil\x1b]0;t\a\nname", Lost: true, LostSince: now}
	for range 3 {
		tell(t, n, sub)
	}
	if got := out(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\a") || !strings.HasSuffix(got, "|lost|claude-x\n") ||
		!strings.Contains(got, "agent-sessions attach claude-x") {
		t.Errorf("%q", got)
	}
	st, err := os.Stat(filepath.Join(n.Root, "notified.json"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
}

func TestATornMemoryTellsNothingTwice(t *testing.T) {
	n, out := recorder(t)
	sub := Subject{LedgerID: "claude-x", Lost: true, LostSince: now}
	if err := os.WriteFile(n.path(), []byte(`{"claude-x": {"lo`), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t, n, sub)
	tell(t, n, sub)
	if got := out(); got != "" {
		t.Errorf("told %q", got)
	}
	if aside, err := os.ReadDir(filepath.Join(n.Root, "damaged")); err != nil || len(aside) != 1 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
	tell(t, n, Subject{LedgerID: "claude-y", Lost: true, LostSince: now})
	if got := out(); strings.Count(got, "\n") != 1 {
		t.Errorf("what is new is not told: %q", got)
	}
}

func TestWhatCannotBeDeliveredIsInTheLog(t *testing.T) {
	for name, command := range map[string][]string{"absent": {"/nonexistent/say"}, "failing": {"/bin/false"}, "none": nil} {
		n, _ := recorder(t)
		n.Settings.Command = command
		t.Setenv("PATH", t.TempDir())
		tell(t, n, Subject{LedgerID: "claude-x", Name: "work", Lost: true, LostSince: now})
		raw, err := os.ReadFile(filepath.Join(n.Root, "log", "notices.log"))
		if err != nil || !strings.Contains(string(raw), "Session lost: work") || !strings.Contains(string(raw), "claude-x") {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
}
