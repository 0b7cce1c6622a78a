package sweep

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/internal/notify"
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
	"agentwrap/internal/settings"
	"agentwrap/internal/statefile"
	"agentwrap/internal/tidy"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

func TestASessionThatNobodyRecordedIsEnrolledOnce(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		dir := t.TempDir()
		p := actor.Program{Argv: []string{"claude", "fix it"}, Dir: dir, Env: []string{"HOME=/x/accounts/work/y"}}.Start(t)
		id := w.run().Enrolled
		if len(id) != 1 {
			t.Fatalf("enrolled %v", id)
		}
		e := w.read(id[0])
		began := process.StartTime(*e.PIDStartTicks)
		switch {
		case *e.PID != p.PID() || e.EnrolledBy != ledger.EnrolledByDiscovery || *e.CWD != dir || *e.Account != "work":
			t.Errorf("%+v", e)
		case e.StartedAt.Sub(began).Abs() > time.Second:
			t.Errorf("started %v, its process %v", e.StartedAt, began)
		case e.SessionID != nil || e.TranscriptPath != nil || e.LaunchedBy != nil:
			t.Errorf("guessed: %+v", e)
		}
		for range 3 {
			if again := w.run(); len(again.Enrolled) != 0 {
				t.Errorf("enrolled again: %v", again.Enrolled)
			}
		}
		p.Kill()
		if r := w.run(); len(r.Closed) != 1 || r.Closed[0].Reason != reasonNothingLeft {
			t.Errorf("%+v", r)
		}
	})
}

func TestAWrapperAndWhatASessionRuns(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		wrapper := actor.Wrapper(t, "codex").Start(t)
		outer := actor.Program{Argv: []string{"claude"}, Role: actor.Nest}.Start(t)
		if got := w.run().Enrolled; len(got) != 3 {
			t.Fatalf("enrolled %v", got)
		}
		for _, id := range w.ids() {
			e := w.read(id)
			switch {
			case e.Runtime == "codex" && *e.PID != wrapper.PID():
				t.Errorf("codex is process %d, want the wrapper %d", *e.PID, wrapper.PID())
			case e.Runtime == "claude" && *e.PID != outer.PID() && (ledger.Value(e.LaunchedBy) != ledger.LaunchedByAgent || e.Parent == nil):
				t.Errorf("the inner claude: launched by %v, parent %v", ledger.Value(e.LaunchedBy), ledger.Value(e.Parent))
			}
		}
		if got := w.run(); len(got.Enrolled) != 0 {
			t.Errorf("enrolled again: %v", got.Enrolled)
		}
	})
}

// Killing the node wrapper of a codex leaves the program: the session lives on.
func TestASessionOutlivesItsWrapper(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.row("codex", func(e *ledger.Entry) { e.LauncherPID = ledger.Ptr(os.Getpid()) })
		wrapper := actor.Wrapper(t, "codex").With("AGENT_LEDGER_ID=" + id).Start(t)
		if r := w.run(); !slices.Equal(r.Bound, []string{id}) || len(r.Enrolled) != 0 || *w.read(id).PID != wrapper.PID() {
			t.Fatalf("%+v", r)
		}
		if err := wrapper.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = wrapper.Process.Wait()
		if r := w.run(); !slices.Equal(r.Bound, []string{id}) || len(r.Enrolled) != 0 || len(r.Closed) != 0 {
			t.Errorf("%+v", r)
		}
		if e := w.read(id); *e.PID == wrapper.PID() || e.FinishedAt != nil {
			t.Errorf("pid %d, finished %v", *e.PID, e.FinishedAt)
		}
	})
}

func TestWhatIsGoneIsRescuedThenClosedByRuntime(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		codex := w.row("codex", w.dead())
		lost := w.row("claude", w.dead(), func(e *ledger.Entry) { e.SessionID = ledger.Ptr("s") })
		empty := w.row("claude", w.dead())
		starting := w.row("claude")
		reused := w.row("codex", of(started("codex").Start(t)), func(e *ledger.Entry) { e.PIDStartTicks = ledger.Ptr(*e.PIDStartTicks + 1) })
		rebooted := w.row("codex", of(started("codex").Start(t)), func(e *ledger.Entry) { e.BootID = ledger.Ptr("earlier") })
		w.run()
		for id, want := range map[string]string{codex: reasonExited, empty: reasonNothingLeft, reused: reasonExited, rebooted: reasonExited} {
			e := w.read(id)
			if e.FinishedAt == nil || ledger.Value(e.FinishReason) != want || ledger.Value(e.EndedBy) != ledger.EndedByLoss || ledger.Value(e.RescueRef) != "refs/rescued/"+id {
				t.Errorf("%s: finished %v, %q by %q, rescue %q", id, e.FinishedAt, ledger.Value(e.FinishReason), ledger.Value(e.EndedBy), ledger.Value(e.RescueRef))
			}
		}
		if e := w.read(lost); e.FinishedAt != nil || e.RescuedAt == nil {
			t.Errorf("the lost claude: finished %v, rescued %v", e.FinishedAt, e.RescuedAt)
		}
		if e := w.read(starting); e.FinishedAt != nil || e.RescuedAt != nil {
			t.Errorf("the starting claude: finished %v, rescued %v", e.FinishedAt, e.RescuedAt)
		}
		w.run()
		slices.Sort(w.saved)
		if want := []string{codex, lost, empty, reused, rebooted}; len(slices.Compact(w.saved)) != len(want) || len(w.saved) != len(want) {
			t.Errorf("rescued %v, want each of %v once", w.saved, want)
		}
	})
}

func TestAFailedRescueLeavesTheEntryOpenAndIsTriedAgain(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.row("codex", w.dead())
		closed := w.row("claude", w.dead(), func(e *ledger.Entry) { e.FinishedAt = ledger.At(time.Now()) })
		works := w.Rescue
		w.Rescue = func(context.Context, *ledger.Entry, bool) (Saved, error) { return Saved{}, errNoDisk }
		r, err := w.Sweeper.Run(context.Background())
		if err != nil || len(r.Failed) != 2 || !strings.Contains(r.Failed[0].Why, "no space left") || w.read(id).FinishedAt != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		w.Rescue = works
		if r := w.run(); len(r.Rescued) != 2 || w.read(id).FinishedAt == nil || w.read(closed).RescuedAt == nil {
			t.Errorf("%+v", r)
		}
	})
}

func TestAFolderThatIsNotThereMarksNothing(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.row("codex", w.dead())
		w.Rescue = func(context.Context, *ledger.Entry, bool) (Saved, error) { return Saved{}, nil }
		w.run()
		if e := w.read(id); e.RescuedAt != nil || e.FinishedAt == nil {
			t.Errorf("rescued %v, finished %v", e.RescuedAt, e.FinishedAt)
		}
	})
}

func TestTheTicksOfTwoSweeps(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := actor.Program{Argv: []string{"codex"}, Role: actor.Burn}.Start(t)
		id := w.row("codex", of(p))
		w.run()
		first := w.read(id)
		if first.CPUTicks == nil || first.LastActiveAt != nil {
			t.Fatalf("after the first: ticks %v, active %v", first.CPUTicks, first.LastActiveAt)
		}
		grown := func() bool {
			w.run()
			return *w.read(id).CPUTicks > *first.CPUTicks
		}
		for n := 0; !grown(); n++ {
			if n > 1000 {
				t.Fatal("a process that burns uses no ticks")
			}
		}
		if w.read(id).LastActiveAt == nil {
			t.Error("growing ticks are no activity")
		}
	})
}

func TestOneSweepAtATime(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, err := w.lock()
		if err != nil {
			t.Fatal(err)
		}
		started("claude").Start(t)
		if r := w.run(); !r.Busy || len(r.Enrolled) != 0 {
			t.Errorf("%+v", r)
		}
		held.Release()
		if r := w.run(); r.Busy || len(r.Enrolled) != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestAnotherUsersSessionIsUnverifiableAndNotEnrolled(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		theirs := actor.Program{Path: actor.Named(t, "cli"), Argv: []string{"claude"}, Attr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}}.Start(t)
		r := w.run()
		if len(r.Enrolled) != 0 || len(r.Unverifiable) != 1 || r.Unverifiable[0].PID != theirs.PID() || r.Unverifiable[0].Runtime != "claude" {
			t.Errorf("%+v", r)
		}
	})
}

func TestANestedUserNamespaceIsRefused(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		newWorld(t)
		cmd := exec.Command("unshare", "--user", "--map-root-user", actor.Self(t))
		cmd.Env = append(os.Environ(), actor.RoleVar+"=sweep", "ROOT="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "nested user namespace") {
			t.Errorf("%s, %v", out, err)
		}
	})
}

// sweepOnce is a process that sweeps the ledger in $ROOT.
func sweepOnce() int {
	s := Sweeper{Sources: observe.Sources{Store: ledger.Open(os.Getenv("ROOT")), Covered: covered, Now: time.Now}}
	s.Rescue = func(context.Context, *ledger.Entry, bool) (Saved, error) { return Saved{Looked: true}, nil }
	if _, err := s.Run(context.Background()); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

func TestFilesAreLookedAfter(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		old := ledger.At(time.Now().Add(-ledger.FinishedRetention - time.Hour))
		ended := w.row("claude", func(e *ledger.Entry) { e.FinishedAt, e.EndedBy = old, ledger.Ptr(ledger.EndedByUser) })
		lost := w.row("claude", func(e *ledger.Entry) {
			e.FinishedAt, e.EndedBy, e.Interactive = old, ledger.Ptr(ledger.EndedByLoss), ledger.Ptr(true)
		})
		open := w.row("claude", func(e *ledger.Entry) { e.StartedAt = old })
		torn := filepath.Join(w.Sources.Store.Dir(), "sessions", "claude-torn.json")
		if err := os.WriteFile(torn, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		first := w.run()
		if len(first.Pruned) != 0 || len(first.SetAside) != 1 {
			t.Errorf("the first sweep: %+v", first)
		}
		if raw, err := os.ReadFile(first.SetAside[0]); err != nil || string(raw) != "{" {
			t.Errorf("set aside: %q, %v", raw, err)
		}
		second := w.run()
		slices.Sort(second.Pruned)
		if want := []string{ended, lost}; !slices.Equal(second.Pruned, slices.Sorted(slices.Values(want))) || !slices.Equal(w.ids(), []string{open}) {
			t.Errorf("pruned %v, left %v", second.Pruned, w.ids())
		}
	})
}

// A launch does not wait for the disk: the sweep does it for it.
func TestEntriesOfLateAreMadeDurable(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := w.row("claude", of(started("claude").Start(t)), func(e *ledger.Entry) { e.StartedAt = ledger.At(time.Now().Add(-time.Hour)) })
		late := w.row("claude", of(started("claude").Start(t)))
		if err := w.Sources.Store.NoteSweep(ledger.LastSweep{CompletedAt: time.Now().Add(-time.Minute)}); err != nil {
			t.Fatal(err)
		}
		v, err := observe.All(context.Background(), w.Sources, observe.Want{})
		if err != nil {
			t.Fatal(err)
		}
		var synced []string
		restore := statefile.Inject(func(op, path string) error {
			if op == "fsync" {
				synced = append(synced, strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".json"))
			}
			return nil
		})
		defer restore()
		w.syncRecent(v)
		if want := []string{late, "sessions"}; !slices.Equal(synced, want) {
			t.Errorf("synced %v, want %v and not %s", synced, want, before)
		}
	})
}

func TestTheUserIsToldOfALostSessionOnce(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		out := filepath.Join(t.TempDir(), "out")
		say := actor.Script(t, "say", `echo "$AGENT_SESSIONS_EVENT $AGENT_SESSIONS_ID" >> `+out)
		s := settings.Defaults().Notify
		s.Command = []string{say}
		w.Notify = &notify.Notifier{Root: w.Sources.Store.Dir(), Settings: s, Environ: os.Environ(), Now: time.Now}
		lost := w.row("claude", w.dead(), func(e *ledger.Entry) { e.SessionID, e.Interactive = ledger.Ptr("s"), ledger.Ptr(true) })
		w.row("codex", w.dead(), func(e *ledger.Entry) { e.Interactive = ledger.Ptr(false) })
		for range 3 {
			w.run()
		}
		raw, err := os.ReadFile(out)
		if err != nil || string(raw) != "lost "+lost+"\n" {
			t.Errorf("told %q, %v", raw, err)
		}
	})
}

func TestTheMultiplexerOfASessionIsFound(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		dtach, err := exec.LookPath("dtach")
		if err != nil {
			isolate.Missing(t, "dtach")
		}
		w := newWorld(t)
		w.Panes = func(string) ([]procscan.Pane, error) { return nil, errors.New("no server") }
		socket := filepath.Join(t.TempDir(), "s")
		cmd := exec.Command(dtach, "-n", socket, "bash", "-c", "exec -a claude sleep infinity")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s, %v", out, err)
		}
		var r Report
		for n := 0; len(r.Enrolled) == 0 && n < 10_000; n++ {
			r = w.run() // until bash has become claude
		}
		if len(r.Enrolled) != 1 {
			t.Fatalf("%+v", r)
		}
		if e := w.read(r.Enrolled[0]); ledger.Value(e.Mux.Kind) != ledger.MuxDtach || ledger.Value(e.Mux.Socket) != socket || e.TmuxSocket != nil {
			t.Errorf("%+v", e.Mux)
		}
	})
}

func TestTidyingComesLastAndItsFailureIsTold(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		say := actor.Script(t, "say", `echo "$AGENT_SESSIONS_EVENT $AGENT_SESSIONS_ID: $2" >> `+filepath.Join(w.Sources.Home, "out"))
		s := settings.Defaults().Notify
		s.Command = []string{say}
		w.Notify = &notify.Notifier{Root: w.Sources.Store.Dir(), Settings: s, Environ: os.Environ(), Now: time.Now}
		w.Tidy = func() (tidy.Report, bool, error) {
			return tidy.Report{Large: []tidy.Large{{Path: "/s/a", Session: "claude-a", Bytes: 11 << 30}}, Failed: []string{"/s/b is in use"}}, true, errNoDisk
		}
		r, err := w.Sweeper.Run(context.Background())
		if err != nil || len(r.Failed) != 2 || r.Failed[1].String() != "/s/b is in use" || r.Tidied == nil {
			t.Errorf("%+v, %v", r, err)
		}
		raw, err := os.ReadFile(filepath.Join(w.Sources.Home, "out"))
		if err != nil || !strings.HasPrefix(string(raw), "large claude-a: /s/a of session claude-a holds 11264 MB") {
			t.Errorf("told %q, %v", raw, err)
		}
		if last, err := w.Sources.Store.LastSweep(); err != nil || last.CompletedAt.IsZero() {
			t.Errorf("a failed tidying undid the sweep: %+v, %v", last, err)
		}
	})
}

func TestARuntimeWhoseShimIsGoneIsFoundButNotEnrolled(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Sources.Covered = func(string) bool { return false }
		id := w.row("codex", func(e *ledger.Entry) { e.LauncherPID = ledger.Ptr(os.Getpid()) })
		started("codex").With("AGENT_LEDGER_ID=" + id).Start(t)
		started("codex").Start(t)
		if r := w.run(); !slices.Equal(r.Bound, []string{id}) || len(r.Enrolled) != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// A launch whose ledger could not be written gives an id that nobody has.
func TestAnIdWithoutAnEntryIsNoParent(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		w := newWorld(t)
		parent := w.row("claude")
		orphan := started("claude").With("AGENT_LEDGER_ID=claude-20260807T110001Z-482913").Start(t)
		child := started("claude").With("AGENT_LEDGER_ID=" + parent).Start(t)
		for _, id := range w.run().Enrolled {
			e := w.read(id)
			switch *e.PID {
			case orphan.PID():
				if e.LaunchedBy != nil || e.Parent != nil {
					t.Errorf("its own id counts as its launcher's: by %s, parent %s", ledger.Value(e.LaunchedBy), ledger.Value(e.Parent))
				}
			case child.PID():
				if ledger.Value(e.ParentLedgerID) != parent {
					t.Errorf("the parent is %q, want %s", ledger.Value(e.ParentLedgerID), parent)
				}
			}
		}
	})
}
