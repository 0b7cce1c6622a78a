package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func homeWith(t *testing.T, text string) func(string) string {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, ".config", "agentwrap", "config.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(name string) string { return map[string]string{"HOME": home}[name] }
}

func TestEveryKey(t *testing.T) {
	s, problems := Read(homeWith(t, `{
		"notify": {"command": ["say", "-x"], "lost": false, "needs_you": false, "finished": false, "attached": true, "finished_after_minutes": 3},
		"rescue": {"file_mb": 7, "total_mb": 9}, "scratch_days": 30, "scratch_notice_mb": 5, "idle_exit": {"claude": "30m", "codex": "1h30m"}, "detach_key": "ctrl-]", "reopen_at_login": true}`))
	want := Settings{
		Notify:    Notify{Command: []string{"say", "-x"}, Attached: true, FinishedAfter: 3 * time.Minute},
		Rescue:    Rescue{7 << 20, 9 << 20},
		Scratch:   Scratch{30, 5 << 20},
		IdleExit:  map[string]time.Duration{"claude": 30 * time.Minute, "codex": 90 * time.Minute},
		DetachKey: "ctrl-]", ReopenAtLogin: true,
	}
	if diff := cmp.Diff(want, s); diff != "" || len(problems) != 0 {
		t.Error(diff, problems)
	}
}

func TestABadKeyIsToldAndItsDefaultStands(t *testing.T) {
	for text, want := range map[string]string{
		``:                                        "are not used",
		`{"notify": {"lost": true,`:               "are not used",
		"{\n\n\"scratch_days\": nope}":            "line 3",
		`[]`:                                      "are not used",
		`{"scratch_days": "7"}`:                   `scratch_days: "7" is not a whole number`,
		`{"scratch_days": 0}`:                     "from 1 to 36500",
		`{"scratch_days": null}`:                  "null is not",
		`{"scratch_days": 1e99}`:                  "1e99 is not",
		`{"notify": {"lost": "yes"}}`:             `notify.lost: "yes" is not a bool`,
		`{"notify": {"command": "say"}}`:          "not a list of strings",
		`{"notify": {"command": [""]}}`:           "must be a program",
		`{"idle_exit": "30m"}`:                    "is not an object of times",
		`{"idle_exit": {"claude": "0s"}}`:         `"0s" is not a time such as 30m`,
		`{"notify": 7}`:                           "notify is not an object",
		`{"notify": {"colour": 1}}`:               `there is no setting "notify.colour"`,
		`{"scratch-days": 7}`:                     `there is no setting "scratch-days"`,
		`{"` + strings.Repeat("x", 500) + `": 1}`: "there is no setting",
	} {
		s, problems := Read(homeWith(t, text))
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), want) || !strings.Contains(problems[0].Error(), "config.json") {
			t.Errorf("%.60s: %v, want …%s…", text, problems, want)
		}
		if diff := cmp.Diff(Defaults(), s); diff != "" {
			t.Errorf("%.60s: %s", text, diff)
		}
	}
}

func TestOneBadKeyLeavesTheOthers(t *testing.T) {
	s, problems := Read(homeWith(t, `{"scratch_days": -1, "detach_key": "ctrl-a", "nonsense": 1}`))
	if len(problems) != 2 || s.DetachKey != "ctrl-a" || s.Scratch.Days != 7 {
		t.Errorf("%v, %+v", problems, s)
	}
}

func TestNoFileIsNormalAndAStrangeOneIsTold(t *testing.T) {
	if s, problems := Read(func(string) string { return "" }); len(problems) != 0 || s.Scratch.Days != 7 {
		t.Errorf("no HOME: %v", problems)
	}
	home := t.TempDir()
	getenv := func(string) string { return home }
	if _, problems := Read(getenv); len(problems) != 0 {
		t.Errorf("no file: %v", problems)
	}
	if err := os.MkdirAll(filepath.Dir(Path(getenv)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(Path(getenv), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := Read(getenv); len(problems) != 1 {
		t.Errorf("a FIFO: %v", problems)
	}
}
