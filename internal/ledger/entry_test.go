package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agentwrap/internal/statefile"
)

// contractFields are the entry's fields in the order of docs/ledger.md.
const contractFields = "schemaVersion ledgerId runtime startedAt host bootId cwd repoRoot project branch worktree tty launcherPid " +
	"parentLedgerId parent launchedBy account enrolledBy mux tmuxSession tmuxSocket pid pidStartTicks cpuTicks sessionId transcriptPath " +
	"lastActiveAt lastHeartbeatAt finishedAt finishReason rescuedAt rescueRef rescueCommit rescuedPaths rescueSkipped interactive " +
	"hostSocket clientTty exitStatus endedBy turn turnAt sessionIds resumedFrom scratch configHome flags resumedBy resumeClaim program gitCommonDir machineId turnOrder told takenFacts"

func fieldOrder(t *testing.T, raw []byte) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func TestEveryFieldIsWrittenInTheContractsOrder(t *testing.T) {
	raw, err := Encode(&Entry{SchemaVersion: 1, LedgerID: "claude-x"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Fields(contractFields), fieldOrder(t, raw)); diff != "" {
		t.Error(diff)
	}
	for _, list := range []string{"rescuedPaths", "rescueSkipped", "sessionIds", "flags", "told", "takenFacts"} {
		if !strings.Contains(string(raw), `"`+list+`": []`) {
			t.Errorf("%s is not written as [] while it is empty", list)
		}
	}
}

func TestUnknownFieldsOutliveARewrite(t *testing.T) {
	in := `{"schemaVersion":1,"ledgerId":"claude-x","future":{"b":[1, 2.50],"a":"é<"},"runtime":"claude","zeta":null}`
	e, err := Decode([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	e.Branch = Ptr("main")
	raw, err := Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if all["future"].(map[string]any)["a"] != "é<" || len(again.unknown) != 2 || !strings.Contains(string(raw), "2.50") {
		t.Errorf("unknown fields changed: %s", raw)
	}
}

func TestDecodeRefusesWhatIsNoEntry(t *testing.T) {
	for name, raw := range map[string]string{
		"empty":             "",
		"torn":              `{"schemaVersion":1,"ledgerId":"claude-x","runt`,
		"not an object":     `[1]`,
		"wrong type":        `{"schemaVersion":1,"ledgerId":"claude-x","pid":"12"}`,
		"wrong time":        `{"schemaVersion":1,"ledgerId":"claude-x","startedAt":"yesterday"}`,
		"path for an id":    `{"schemaVersion":1,"ledgerId":"../../x"}`,
		"no schema version": `{"ledgerId":"claude-x"}`,
	} {
		if _, err := Decode([]byte(raw)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var e Entry
	e.SchemaVersion, e.LedgerID, e.SessionIDs, e.RescueSkipped = 1, "claude-x", []Conversation{{ID: "a", Since: At(time.Unix(1, 0))}}, []SkippedPath{{"p", "w"}}
	raw, err := Encode(&e)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"schemaVersion":1,"ledgerId":"claude-x","future":{"b":[1, 2.50]},"mux":{"kind":null},"exitStatus":{"code":1},"flags":null,"pid":7}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := Decode(raw)
		if err != nil {
			return
		}
		once, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(once)
		if err != nil {
			t.Fatalf("%v: %s", err, once)
		}
		if twice, err := Encode(again); err != nil || string(twice) != string(once) {
			t.Errorf("%v: %s became %s", err, once, twice)
		}
	})
}

func newStore(t *testing.T) *Store {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "root"))
}

func created(t *testing.T, s *Store) *Entry {
	t.Helper()
	e := &Entry{Runtime: "claude", StartedAt: At(time.Date(2026, 8, 7, 11, 0, 1, 999, time.UTC)), EnrolledBy: EnrolledByShim}
	if err := s.Create(e, statefile.Soon); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCreateMakesAPrivateRecordUnderAContractID(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	if !strings.HasPrefix(e.LedgerID, "claude-20260807T110001Z-") || len(e.LedgerID) != len("claude-20260807T110001Z-482913") {
		t.Errorf("id %q is not runtime-YYYYMMDDTHHMMSSZ-NNNNNN", e.LedgerID)
	}
	for path, want := range map[string]os.FileMode{s.Dir(): 0o700, filepath.Join(s.Dir(), "sessions"): 0o700, s.EntryPath(e.LedgerID): 0o600} {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, st.Mode().Perm(), want)
		}
	}
	if got, err := s.Read(e.LedgerID); err != nil || got.StartedAt.String() != "2026-08-07T11:00:01Z" {
		t.Errorf("read back %v, %v", got, err)
	}
}

func TestConcurrentUpdatesLoseNothing(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	const writers, each = 8, 25
	errs := make(chan error, writers)
	for range writers {
		go func() {
			var err error
			for range each {
				err = errors.Join(err, s.Update(e.LedgerID, Within(time.Minute), func(e *Entry) error {
					e.CPUTicks = Ptr(Value(e.CPUTicks) + 1)
					return nil
				}))
			}
			errs <- err
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got, err := s.Read(e.LedgerID); err != nil || Value(got.CPUTicks) != writers*each {
		t.Errorf("%d updates of %d are there (%v)", Value(got.CPUTicks), writers*each, err)
	}
}

func TestUpdateRefusals(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	path := s.EntryPath(e.LedgerID)
	touch := func(e *Entry) error { e.Branch = Ptr("x"); return nil }
	for _, tc := range []struct {
		name, file string
		want       error
	}{
		{"newer schema", `{"schemaVersion":2,"ledgerId":"` + e.LedgerID + `"}`, ErrNewer},
		{"damaged", `{"schemaVersion":`, ErrDamaged},
		{"another's name", `{"schemaVersion":1,"ledgerId":"claude-other"}`, ErrDamaged},
	} {
		if err := os.WriteFile(path, []byte(tc.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Update(e.LedgerID, Within(time.Second), touch); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
		}
		if raw, _ := os.ReadFile(path); string(raw) != tc.file {
			t.Errorf("%s: the file was rewritten to %s", tc.name, raw)
		}
	}
	if err := s.Update("claude-nobody", Within(time.Second), touch); !errors.Is(err, ErrNoSession) {
		t.Errorf("unknown id: got %v", err)
	}
	if err := s.Update("../x", Within(time.Second), touch); !errors.Is(err, ErrNoSession) {
		t.Errorf("path for an id: got %v", err)
	}
}

func TestUpdateGivesUpOnALockThatIsHeld(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	held, err := statefile.Acquire(s.lockPath(e.LedgerID), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	err = s.Update(e.LedgerID, Within(5*time.Millisecond), func(*Entry) error { t.Error("changed without the lock"); return nil })
	if !errors.Is(err, statefile.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
}

func TestDamagedFilesAreSetAsideNeverReset(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	if _, err := s.SetAside(e.LedgerID, time.Now()); err == nil {
		t.Error("a whole entry was set aside")
	}
	torn := []byte(`{"schemaVersion":1,`)
	if err := os.WriteFile(s.EntryPath(e.LedgerID), torn, 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := s.SetAside(e.LedgerID, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(to); err != nil || string(raw) != string(torn) {
		t.Errorf("set aside as %s: %q, %v", to, raw, err)
	}
	if ids, err := s.IDs(); err != nil || len(ids) != 0 {
		t.Errorf("still listed: %v, %v", ids, err)
	}
}

func TestRemoveTakesTheEntryOnlyWhileItShould(t *testing.T) {
	s := newStore(t)
	e := created(t, s)
	if gone, err := s.Remove(e.LedgerID, func(*Entry) bool { return false }); gone || err != nil {
		t.Errorf("removed %v, %v", gone, err)
	}
	if gone, err := s.Remove(e.LedgerID, func(*Entry) bool { return true }); !gone || err != nil {
		t.Errorf("kept: %v, %v", gone, err)
	}
	if _, err := os.Lstat(s.lockPath(e.LedgerID)); !errors.Is(err, os.ErrNotExist) {
		t.Error("its lock file stays")
	}
}

// fill sets every field of a struct that can be set, so that none is nil.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Stamp]() {
			v.Set(reflect.ValueOf(*At(time.Unix(1700000000, 0))))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0))
		fill(t, v.Index(1))
	case reflect.String:
		v.SetString("a\"b\\c\n<é\u2028>&")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(-7)
	case reflect.Uint64:
		v.SetUint(1 << 60)
	default:
		t.Fatalf("a field of kind %s: teach the encoder and this test", v.Kind())
	}
}

func TestEveryFieldComesBackAsItWentIn(t *testing.T) {
	var e Entry
	fill(t, reflect.ValueOf(&e).Elem())
	e.SchemaVersion, e.LedgerID = 1, "claude-x"
	raw, err := Encode(&e)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&e, back, cmpopts.IgnoreUnexported(Entry{})); diff != "" {
		t.Error(diff)
	}
	if len(back.unknown) != 0 {
		t.Errorf("fields that the encoder writes and the struct does not know: %v", back.unknown)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil || indented.String() != string(raw) {
		t.Errorf("the file is not plainly indented (%v):\n%s", err, raw)
	}
}
