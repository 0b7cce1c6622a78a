package focus

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agentwrap/internal/caller"
	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
)

var now = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

func ptr(s string) *string { return &s }

func newStore(t *testing.T) Store {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "ledger"), filepath.Join(t.TempDir(), "tree"))
}

func (s Store) saved(t *testing.T, id string, u Update, at time.Time) Record {
	t.Helper()
	r, err := s.Save(id, u, Record{Host: "e14", PID: 7}, at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestARecordHasTheContractsFieldsAndMerges(t *testing.T) {
	s := newStore(t)
	s.saved(t, "claude-1", Update{Focus: ptr("parser"), Model: ptr("opus")}, now)
	if raw, err := os.ReadFile(s.Path("claude-1")); err != nil || string(raw) != `{
  "id": "claude-1",
  "focus": "parser",
  "model": "opus",
  "host": "e14",
  "pid": 7,
  "updated_at": "2026-08-07T12:00:00Z"
}
` {
		t.Errorf("got %s, %v", raw, err)
	}
	s.saved(t, "claude-1", Update{TicketID: ptr("T-1")}, now.Add(time.Minute))
	s.saved(t, "claude-1", Update{Reasoning: ptr("it is slow"), Model: ptr("")}, now.Add(2*time.Minute))
	want := Record{ID: "claude-1", TicketID: "T-1", Focus: "parser", Reasoning: "it is slow", Host: "e14", PID: 7, UpdatedAt: "2026-08-07T12:02:00Z"}
	got, found, err := s.Read("claude-1")
	if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
		t.Errorf("%s %t %v", diff, found, err)
	}
	raw, err := json.Marshal(want)
	if keys := regexp.MustCompile(`"([a-z_]+)":`).FindAllString(string(raw), -1); err != nil || strings.Join(keys, "") != `"id":"ticket_id":"focus":"reasoning":"host":"pid":"updated_at":` {
		t.Errorf("fields %q, %v", keys, err)
	}
	for path, mode := range map[string]os.FileMode{s.Dir(): 0o700, s.Path("claude-1"): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
}

func TestAnUpdateSaysSomething(t *testing.T) {
	s := newStore(t)
	for _, u := range []Update{{}, {Model: ptr("opus")}, {Focus: ptr("")}} {
		if _, err := s.Save("x", u, Record{}, now); !errors.Is(err, ErrNothing) {
			t.Errorf("%+v: got %v", u, err)
		}
	}
	if _, err := s.Save("x", Update{Focus: ptr(strings.Repeat("x", textLimit+1))}, Record{}, now); err == nil {
		t.Error("a text of any length was kept")
	}
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}

func TestStaleIsTwentyMinutesOrNoTime(t *testing.T) {
	for at, want := range map[string]bool{
		"2026-08-07T11:40:01Z": false, "2026-08-07T11:40:00Z": true, "2026-08-07T12:00:00Z": false, "2026-08-07T13:00:00+01:00": false, "2026-08-08T00:00:00Z": false,
		"2020-01-01T00:00:00Z": true, "yesterday": true, "": true,
	} {
		if got := (Record{UpdatedAt: at}).Stale(now); got != want {
			t.Errorf("%q: stale %t", at, got)
		}
	}
}

func TestLoadIsNewestFirstAndPassesOverWhatItCannotRead(t *testing.T) {
	s := newStore(t)
	if records, unreadable, err := s.Load(); len(records)+len(unreadable) != 0 || err != nil {
		t.Errorf("of none: %v %v %v", records, unreadable, err)
	}
	for i, id := range []string{"middle", "newest", "oldest"} {
		s.saved(t, id, Update{Focus: ptr(id)}, now.Add([]time.Duration{-5, 0, -9}[i]*time.Minute))
	}
	for name, text := range map[string]string{
		"torn.json": `{"id":"torn",`, "foreign.json": `{"id":"another","focus":"x"}`, "timeless.json": `{"id":"timeless","focus":"x","updated_at":"soon"}`,
		"typed.json": `{"id":7}`, "bad name.json": `{"id":"bad name"}`, "notes.txt": "x", ".lock.json": "x",
	} {
		if err := os.WriteFile(filepath.Join(s.Dir(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	records, unreadable, err := s.Load()
	var ids []string
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	if got := strings.Join(ids, " "); got != "newest middle oldest timeless" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if len(unreadable) != 4 || !strings.Contains(fmt.Sprint(unreadable), filepath.Join(s.Dir(), "torn.json")) {
		t.Errorf("unreadable: %v", unreadable)
	}
	if all := Unreadable(filepath.Dir(filepath.Dir(s.Dir()))); len(all) != 4 {
		t.Errorf("for doctor: %v", all)
	}
	if all := Unreadable(t.TempDir()); len(all) != 0 {
		t.Errorf("of none: %v", all)
	}
	if _, err := s.Save("torn", Update{Focus: ptr("x")}, Record{}, now); err == nil {
		t.Error("a damaged record was overwritten")
	}
	for range 2 {
		if err := s.Remove("newest"); err != nil {
			t.Error(err)
		}
	}
	if _, found, err := s.Read("newest"); found || err != nil {
		t.Errorf("removed: %t, %v", found, err)
	}
}

func TestEachWorkingTreeHasItsOwnRecords(t *testing.T) {
	root, base := t.TempDir(), t.TempDir()
	one, two := filepath.Join(base, "a", "tree"), filepath.Join(base, "b", "tree")
	if err := errors.Join(os.MkdirAll(one, 0o700), os.MkdirAll(two, 0o700), os.Symlink(one, base+"/link")); err != nil {
		t.Fatal(err)
	}
	if Open(root, one) == Open(root, two) || Open(root, one) != Open(root, base+"/link") {
		t.Errorf("%v %v %v", Open(root, one), Open(root, two), Open(root, base+"/link"))
	}
	dir := Open(root, "/x/é tree\n").Dir()
	if !regexp.MustCompile(`/focus/--tree--[0-9a-f]{12}$`).MatchString(dir) {
		t.Errorf("got %s", dir)
	}
}

func TestIDs(t *testing.T) {
	for name, want := range map[string]string{
		"claude-20260807T110001Z-482913": "claude-20260807T110001Z-482913", "a_B-9": "a_B-9", "e14.lan-7": "e14-lan-7", "../x": "---x", "é": "-", "": "session",
		strings.Repeat("x", 48): strings.Repeat("x", 48),
	} {
		if got := ID(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	long := strings.Repeat("x", 48)
	if a, b := ID(long+"a"), ID(long+"b"); len(a) != 48 || a == b {
		t.Errorf("cut to %s and %s", a, b)
	}
}

func TestTheDefaultIDIsTheRowsThenTheCLIsThenTheProcesss(t *testing.T) {
	store := ledger.Open(filepath.Join(t.TempDir(), "ledger"))
	e := &ledger.Entry{Runtime: "claude", StartedAt: ledger.At(now)}
	if err := store.Create(e, statefile.Lazy); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"AGENT_LEDGER_ID": e.LedgerID, "CLAUDE_CODE_SESSION_ID": "abc"}, e.LedgerID},
		{map[string]string{"CLAUDE_CODE_SESSION_ID": "a:c", "CODEX_THREAD_ID": "t"}, "a-c"},
		{map[string]string{"CODEX_SESSION_ID": "s"}, "s"},
		{nil, "e14-lan-4194305"},
	} {
		// No process has this pid: there is no agent above it.
		who := caller.Look{Getenv: func(k string) string { return tc.env[k] }, Ledger: store, PID: 4194304, PPID: 4194305}
		if got := DefaultID(who, "e14.lan"); got != tc.want {
			t.Errorf("%v: got %s, want %s", tc.env, got, tc.want)
		}
	}
}

func TestConcurrentUpdatesOfOneRecordLoseNothing(t *testing.T) {
	s := newStore(t)
	errs := make(chan error)
	updates := []Update{{Focus: ptr("f")}, {TicketID: ptr("t")}, {Reasoning: ptr("r")}, {Focus: ptr("f"), Model: ptr("m")}}
	for i := range 40 {
		go func() {
			_, err := s.Save("x", updates[i%4], Record{Host: "h", PID: 1}, now)
			errs <- err
		}()
	}
	for range 40 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	want := Record{ID: "x", TicketID: "t", Focus: "f", Reasoning: "r", Model: "m", Host: "h", PID: 1, UpdatedAt: "2026-08-07T12:00:00Z"}
	if got, _, err := s.Read("x"); got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
