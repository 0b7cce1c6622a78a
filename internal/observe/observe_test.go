package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentwrap/internal/git"
	"agentwrap/internal/ledger"
	"agentwrap/internal/statefile"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

func claude(env ...string) actor.Program {
	return actor.Program{Argv: []string{"claude"}, Env: env}
}

func TestStatesOfRealProcesses(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		runs := claude().Start(t)
		ended := claude().Start(t)
		reused := claude().Start(t)
		alive := w.row("claude", of(runs)).LedgerID
		dead := w.row("claude", of(ended)).LedgerID
		recycled := w.row("claude", func(e *ledger.Entry) { of(reused)(e); *e.PIDStartTicks++ }).LedgerID
		rebooted := w.row("claude", func(e *ledger.Entry) { of(runs)(e); e.BootID = ledger.Ptr("another") }).LedgerID
		finished := w.row("claude", func(e *ledger.Entry) { of(runs)(e); e.FinishedAt = ledger.At(time.Now()) }).LedgerID
		ended.Kill()
		v := w.view(Want{Finished: true})
		for id, want := range map[string]ledger.State{
			alive: ledger.AliveIdle, dead: ledger.Orphaned, recycled: ledger.Orphaned, rebooted: ledger.Orphaned, finished: ledger.Finished,
		} {
			if s := w.session(v, id); s.State != want {
				t.Errorf("%s (%s), want %s", s.State, s.Evidence, want)
			}
		}
		if v = w.view(Want{}); len(v.Sessions) != 4 || len(v.Briefs) != 1 {
			t.Errorf("%d sessions and %d briefs without the finished", len(v.Sessions), len(v.Briefs))
		}
	})
}

func TestASessionIsFoundByTheIdItCarries(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		row := w.row("codex", func(e *ledger.Entry) { e.LauncherPID = ledger.Ptr(os.Getpid()) })
		p := actor.Wrapper(t, "codex").With("AGENT_LEDGER_ID=" + row.LedgerID).Start(t)
		s := w.session(w.view(Want{}), row.LedgerID)
		if s.Process.PID != p.PID() || len(s.folded) != 1 {
			t.Errorf("%s (%s), folded %v, want the wrapper %d", s.State, s.Evidence, s.folded, p.PID())
		}
		if v := w.view(Want{}); v.OwnerOf(&v.Snapshot.Processes[0]) != "" {
			t.Error("a process is an entry's before the entry says so")
		}
	})
}

func TestAnotherEntrysProcessIsNotThisOnes(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		outer := w.row("claude", func(e *ledger.Entry) { e.LauncherPID = ledger.Ptr(os.Getpid()) })
		nested := claude("AGENT_LEDGER_ID=" + outer.LedgerID).Start(t)
		w.row("claude", of(nested))
		if s := w.session(w.view(Want{}), outer.LedgerID); s.State.Alive() {
			t.Errorf("%s (%s)", s.State, s.Evidence)
		}
	})
}

func TestTheSecondReadingOfTheCPU(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		busy := w.row("codex", of(actor.Program{Argv: []string{"codex"}, Role: actor.Burn}.Start(t))).LedgerID
		quiet := w.row("codex", of(actor.Program{Argv: []string{"codex"}}.Start(t))).LedgerID
		path := w.conversation("s", "{}\n", time.Hour)
		spoken := w.row("claude", func(e *ledger.Entry) {
			of(actor.Program{Argv: []string{"claude"}, Role: actor.Burn}.Start(t))(e)
			e.TranscriptPath = &path
		}).LedgerID
		v := w.view(Want{})
		if n := len(v.Undecided()); n != 2 {
			t.Fatalf("%d undecided, want 2", n)
		}
		changed, err := v.Sample(context.Background())
		if err != nil || len(changed) != 1 || changed[0].Entry.LedgerID != busy {
			t.Errorf("changed %v, %v", changed, err)
		}
		for id, want := range map[string]ledger.State{busy: ledger.AliveWorking, quiet: ledger.AliveIdle, spoken: ledger.AliveIdle} {
			if s := w.session(v, id); s.State != want {
				t.Errorf("%s (%s), want %s", s.State, s.Evidence, want)
			}
		}
	})
}

func TestTheLastSweepsReadingServesAsTheFirst(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := actor.Program{Argv: []string{"codex"}}.Start(t)
		row := func(ticks uint64) string {
			return w.row("codex", func(e *ledger.Entry) { of(p)(e); e.CPUTicks = &ticks }).LedgerID
		}
		still := row(1 << 40)
		for _, tc := range []struct {
			name string
			ago  time.Duration
			want int
		}{{"old enough", ledger.CPUSample, 0}, {"too young", ledger.CPUSample / 2, 1}, {"in the future", -time.Hour, 1}} {
			if err := w.src.Store.NoteSweep(ledger.LastSweep{CompletedAt: time.Now().Add(-tc.ago)}); err != nil {
				t.Fatal(err)
			}
			v := w.view(Want{})
			if n := len(v.Undecided()); n != tc.want {
				t.Errorf("%s: %d undecided (%s), want %d", tc.name, n, w.session(v, still).Evidence, tc.want)
			}
		}
	})
}

func TestTextsFromWhereTheTranscriptIsNow(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		text := `{"type":"user","promptSource":"typed","message":{"content":"mend it"}}` + "\n" +
			`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make"}}]}}` + "\n" +
			`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]},"timestamp":"2030-01-01T00:00:00Z"}` + "\n"
		w.conversation("id-1", text, 20*24*time.Hour)
		id := w.row("claude", func(e *ledger.Entry) {
			of(claude().Start(t))(e)
			e.SessionID, e.TranscriptPath = ledger.Ptr("id-1"), ledger.Ptr("/moved/away/id-1.jsonl")
			e.Turn, e.TurnAt = ledger.Ptr(ledger.TurnIts), ledger.At(time.Now())
		}).LedgerID
		s := w.session(w.view(Want{Texts: true}), id)
		if s.Title != "mend it" || s.Activity != "Bash: make" || ledger.Value(s.Turn) != ledger.TurnYours {
			t.Errorf("title %q, activity %q, turn %q", s.Title, s.Activity, ledger.Value(s.Turn))
		}
		if s.TranscriptExpiresAt == nil || time.Until(*s.TranscriptExpiresAt).Round(time.Hour) != 10*24*time.Hour {
			t.Errorf("expires %v", s.TranscriptExpiresAt)
		}
		settings := filepath.Join(w.home, ".claude", "settings.json")
		if err := os.WriteFile(settings, []byte(`{"cleanupPeriodDays": 21}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if s = w.session(w.view(Want{}), id); s.Title != "" || time.Until(*s.TranscriptExpiresAt).Round(time.Hour) != 24*time.Hour {
			t.Errorf("title %q, expires %v", s.Title, s.TranscriptExpiresAt)
		}
	})
}

func TestWhatWasResumed(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hours := func(n int) *ledger.Stamp { return ledger.At(time.Now().Add(time.Duration(-n) * time.Hour)) }
		first := w.row("claude", func(e *ledger.Entry) { e.StartedAt, e.SessionID = hours(3), ledger.Ptr("s") }).LedgerID
		named := w.row("codex", func(e *ledger.Entry) { e.StartedAt = hours(3) }).LedgerID
		byWord := w.row("codex", func(e *ledger.Entry) { e.ResumedFrom, e.FinishedAt = &named, hours(0) }).LedgerID
		later := w.row("claude", func(e *ledger.Entry) { e.StartedAt, e.SessionID, e.FinishedAt = hours(2), ledger.Ptr("s"), hours(1) }).LedgerID
		v := w.view(Want{})
		for id, want := range map[string]string{first: later, named: byWord} {
			if s := w.session(v, id); s.ResumedBy() != want || s.Lost {
				t.Errorf("resumed by %q, lost %v, want %q", s.ResumedBy(), s.Lost, want)
			}
		}
	})
}

// cc#95355: two sessions in one working tree share branch and stash.
func TestTheSecondSessionInAWorkingTree(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		in := func(tree string, parent string) string {
			return w.row("claude", func(e *ledger.Entry) {
				of(claude().Start(t))(e)
				e.RepoRoot, e.ParentLedgerID = &tree, ledger.Known(parent)
			}).LedgerID
		}
		one := in("/a", "")
		two := in("/a", "")
		child := in("/a", one)
		alone := in("/b", "")
		w.row("claude", func(e *ledger.Entry) {
			e.RepoRoot = ledger.Ptr("/b")
			e.PID, e.PIDStartTicks = ledger.Ptr(1<<22), ledger.Ptr(uint64(1))
		})
		v := w.view(Want{})
		for id, want := range map[string][]string{one: {two}, two: {one, child}, child: {two}, alone: nil} {
			slices.Sort(want)
			if s := w.session(v, id); !slices.Equal(s.SharedWith, want) {
				t.Errorf("%s shares with %v, want %v", id, s.SharedWith, want)
			}
			row, err := w.src.Store.Read(id)
			if err != nil {
				t.Fatal(err)
			}
			others, err := Beside(w.src.Store, row)
			var beside []string
			for _, e := range others {
				beside = append(beside, e.LedgerID)
			}
			if slices.Sort(beside); err != nil || !slices.Equal(beside, want) {
				t.Errorf("beside %s are %v, %v, want %v", id, beside, err, want)
			}
		}
	})
}

func TestTheRescueThatWaitsInARepository(t *testing.T) {
	ago := func(n int) *ledger.Stamp { return ledger.At(time.Now().Add(-time.Duration(n) * time.Hour)) }
	store, common := ledger.Open(filepath.Join(t.TempDir(), "l")), t.TempDir()
	saved := func(ref string, hour int, change func(*ledger.Entry)) string {
		e := &ledger.Entry{Runtime: "claude", StartedAt: ago(9), RescuedAt: ago(hour), RescueRef: &ref, GitCommonDir: &common, FinishedAt: ago(hour)}
		change(e)
		if err := store.Create(e, statefile.Soon); err != nil {
			t.Fatal(err)
		}
		return e.LedgerID
	}
	as := func(*ledger.Entry) {}
	found := func() string {
		row := &ledger.Entry{LedgerID: "claude-me", GitCommonDir: &common}
		e, err := RescuedIn(context.Background(), store, row)
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return ""
		}
		return e.LedgerID
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(common, "refs", "rescued"), 0o700), os.WriteFile(filepath.Join(common, "refs", "rescued", "loose"), nil, 0o600),
		os.WriteFile(filepath.Join(common, "packed-refs"), []byte("# pack-refs\n0123 refs/rescued/packed\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	saved("refs/rescued/dropped", 1, as)
	saved("refs/rescued/loose", 2, func(e *ledger.Entry) { e.GitCommonDir = ledger.Ptr("/elsewhere") })
	saved("refs/rescued/loose", 2, func(e *ledger.Entry) { e.ResumedBy = ledger.Ptr("claude-y") })
	if got := found(); got != "" {
		t.Errorf("found %s", got)
	}
	packed := saved("refs/rescued/packed", 4, as)
	if got := found(); got != packed {
		t.Errorf("found %q, want %s", got, packed)
	}
	loose := saved("refs/rescued/loose", 3, func(e *ledger.Entry) { e.FinishedAt = nil })
	if got := found(); got != loose {
		t.Errorf("found %q, want the newest, %s", got, loose)
	}
}

func TestOne(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.src.Dirty = func(_ context.Context, folders []string) map[string]git.Dirty {
			return map[string]git.Dirty{folders[0]: {Count: len(folders[0])}}
		}
		id := w.row("claude", func(e *ledger.Entry) { of(claude().Start(t))(e); e.CWD = ledger.Ptr("/abc") }).LedgerID
		done := w.row("claude", func(e *ledger.Entry) { e.FinishedAt, e.CWD = ledger.At(time.Now()), ledger.Ptr("/abc") }).LedgerID
		s, _, err := One(context.Background(), w.src, id, Want{Costs: true, Dirty: true})
		if err != nil || ledger.Value(s.Memory) < 1<<20 || s.CPUTicks == nil || ledger.Value(s.DirtyCount) != 4 {
			t.Fatalf("%+v, %v", s, err)
		}
		raw, err := json.Marshal(s)
		var fields map[string]any
		if err != nil || json.Unmarshal(raw, &fields) != nil || fields["state"] != "ALIVE-IDLE" || fields["ledgerId"] != id || fields["dirtyCount"] != 4.0 {
			t.Errorf("%s, %v", raw, err)
		}
		if twice := repeated(t, raw); twice != "" {
			t.Errorf("the field %s stands twice: %s", twice, raw)
		}
		if s, _, err = One(context.Background(), w.src, done, Want{Dirty: true}); err != nil || s.State != ledger.Finished || s.DirtyCount != nil {
			t.Errorf("%+v, %v", s, err)
		}
		if _, _, err = One(context.Background(), w.src, "claude-none", Want{}); !errors.Is(err, ledger.ErrNoSession) {
			t.Errorf("%v", err)
		}
	})
}

// repeated is a name that an object has twice, "" for none.
func repeated(t *testing.T, raw []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err = errors.Join(err, dec.Decode(&value)); err != nil {
			t.Fatal(err)
		}
		if seen[name] {
			return name.(string)
		}
		seen[name] = true
	}
	return ""
}
