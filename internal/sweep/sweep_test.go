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
	"agentwrap/internal/observe"
	"agentwrap/internal/process"
	"agentwrap/internal/procscan"
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
