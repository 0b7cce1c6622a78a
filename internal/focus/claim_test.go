package focus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/caller"
	"agentwrap/internal/process"
)

func TestWhatAClaimComesTo(t *testing.T) {
	bound := &Claim{SessionID: "other", Process: &Process{Name: "claude", PID: 7}, RenewedAt: stamp(now.Add(-time.Hour))}
	unbound := func(renewed string) *Claim { return &Claim{SessionID: "other", RenewedAt: renewed} }
	for _, tc := range []struct {
		name   string
		held   *Claim
		holder Presence
		want   Verdict
		why    string
	}{
		{"nobody held it", nil, Unbound, Taken, "nobody"},
		{"its own", &Claim{SessionID: "me", RenewedAt: stamp(now)}, Runs, Renewed, "own"},
		{"its own, of a process that is gone", &Claim{SessionID: "me", Process: &Process{}}, Gone, Renewed, "own"},
		{"a dead one's", bound, Gone, TakenOver, "session other held it, whose process 7 is gone"},
		{"a live other's, however old", bound, Runs, Refused, "session other holds it, whose process 7 (claude) runs"},
		{"one of whom nothing can be told", bound, Unknown, Refused, "cannot be told"},
		{"from a plain shell, fresh", unbound(stamp(now.Add(-29 * time.Minute))), Unbound, Refused, "renewed at 2026-08-07T11:31:00Z"},
		{"from a plain shell, 30 minutes old", unbound(stamp(now.Add(-30 * time.Minute))), Unbound, TakenOver, "has not renewed it since"},
		{"from a plain shell, of the future", unbound(stamp(now.Add(time.Hour))), Unbound, Refused, "renewed at"},
		{"from a plain shell, timeless", unbound("soon"), Unbound, Refused, "cannot be read"},
	} {
		v, why := Decide(tc.held, "me", tc.holder, now)
		if v != tc.want || !strings.Contains(why, tc.why) {
			t.Errorf("%s: got %d, %q", tc.name, v, why)
		}
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func TestAClaimIsBoundToOneProcessForGood(t *testing.T) {
	self, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	is := func(name string, ok bool) func(int) (string, bool) {
		return func(pid int) (string, bool) { return name, ok && pid == self.PID }
	}
	me := Process{Name: "claude", BootID: self.BootID, PID: self.PID, StartTicks: self.StartTicks}
	reused, rebooted := me, me
	reused.StartTicks++
	rebooted.BootID = "another"
	for _, tc := range []struct {
		name      string
		process   *Process
		runtimeOf func(int) (string, bool)
		host      string
		want      Presence
	}{
		{"it runs", &me, is("claude", true), "here", Runs},
		{"its command line cannot be read", &me, is("", false), "here", Runs},
		{"it has become another program", &me, is("", true), "here", Gone},
		{"it runs another agent now", &me, is("codex", true), "here", Gone},
		{"its pid is another's now", &reused, is("claude", true), "here", Gone},
		{"the machine was restarted", &rebooted, is("claude", true), "here", Gone},
		{"on another machine", &me, is("claude", true), "there", Unknown},
		{"none is bound", nil, is("claude", true), "here", Unbound},
	} {
		if got := (Claim{Process: tc.process, Host: tc.host}).Presence("here", tc.runtimeOf); got != tc.want {
			t.Errorf("%s: got %d, want %d", tc.name, got, tc.want)
		}
	}
}

func claimant(session string, at time.Time) Claimant {
	return Claimant{Session: session, Host: "here", Now: at, RuntimeOf: func(int) (string, bool) { return "claude", true }}
}

func (s Store) claims(t *testing.T, ticket string, by Claimant, steal bool, want Verdict) {
	t.Helper()
	if v, why, _, err := s.Claim(ticket, by, steal); v != want || err != nil {
		t.Errorf("%s claims %s: got %d (%s), %v, want %d", by.Session, ticket, v, why, err, want)
	}
}

func TestClaimsAreTakenRenewedRefusedStolenAndReleased(t *testing.T) {
	s := newStore(t)
	s.claims(t, "T-1", claimant("a", now), false, Taken)
	s.claims(t, "T-1", claimant("a", now.Add(time.Minute)), false, Renewed)
	if c, err := s.ReadClaim("T-1"); err != nil || *c != (Claim{TicketID: "T-1", SessionID: "a", Host: "here", ClaimedAt: stamp(now), RenewedAt: stamp(now.Add(time.Minute))}) {
		t.Errorf("got %+v, %v", c, err)
	}
	s.claims(t, "T-1", claimant("b", now), false, Refused)
	s.claims(t, "T-2", claimant("b", now), false, Taken)
	if released, v, _, err := s.Release("T-1", claimant("b", now)); released || v != Refused || err != nil {
		t.Errorf("another's was released: %t %d %v", released, v, err)
	}
	s.claims(t, "T-1", claimant("b", now), true, TakenOver)
	for _, want := range []bool{true, false} {
		if released, _, _, err := s.Release("T-1", claimant("b", now)); released != want || err != nil {
			t.Errorf("released %t, %v", released, err)
		}
	}
	s.claims(t, "T-2", claimant("a", now.Add(31*time.Minute)), false, TakenOver)
	claims, unreadable, err := s.Claims()
	if len(claims) != 1 || claims[0].SessionID != "a" || len(unreadable) != 0 || err != nil {
		t.Errorf("claims %+v, %v, %v", claims, unreadable, err)
	}
}

func TestARenewalFromAPlainShellInheritsNoLiveness(t *testing.T) {
	s := newStore(t)
	self, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	by := claimant("a", now)
	by.Process = &Process{Name: "claude", BootID: self.BootID, PID: self.PID, StartTicks: self.StartTicks}
	other := by
	other.Session, other.Now = "b", now.Add(time.Hour)
	s.claims(t, "T-1", by, false, Taken)
	s.claims(t, "T-1", other, false, Refused)
	s.claims(t, "T-1", claimant("a", now), false, Renewed)
	s.claims(t, "T-1", other, false, TakenOver)
}

func TestTicketsOfAnyNameAreKeptApart(t *testing.T) {
	s := newStore(t)
	for _, ticket := range []string{"a/b", "a-b", "a b", "../../x", "é", strings.Repeat("x", 200), "." + strings.Repeat("x", 199)} {
		s.claims(t, ticket, claimant("me", now), false, Taken)
	}
	for _, ticket := range []string{"", "a\nb", "\x1b[2J", strings.Repeat("x", 201)} {
		if _, _, _, err := s.Claim(ticket, claimant("me", now), false); err == nil {
			t.Errorf("%q was claimed", ticket)
		}
	}
	if claims, _, err := s.Claims(); len(claims) != 7 || err != nil {
		t.Errorf("%d claims, %v", len(claims), err)
	}
}

func TestADamagedClaimIsToldAndOnlyStolen(t *testing.T) {
	s := newStore(t)
	s.claims(t, "T-1", claimant("a", now), false, Taken)
	if err := os.WriteFile(s.claimPath("T-1"), []byte(`{"ticket_id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := s.Claim("T-1", claimant("b", now), false); err == nil || !strings.Contains(err.Error(), s.claimPath("T-1")) || !strings.Contains(err.Error(), "--steal") {
		t.Errorf("got %v", err)
	}
	if _, unreadable, err := s.Claims(); len(unreadable) != 1 || err != nil {
		t.Errorf("unreadable %v, %v", unreadable, err)
	}
	s.claims(t, "T-1", claimant("b", now), true, Taken)
}

// raceVar makes the test binary claim a ticket, as soon as its standard input
// ends, and say what came of it.
const raceVar = "FOCUS_TEST_RACE"

func TestMain(m *testing.M) {
	if os.Getenv(raceVar) == "" {
		os.Exit(m.Run())
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	self, err := process.Self()
	look := caller.Look{Getenv: os.Getenv, PID: os.Getpid()}
	by := Claimant{Session: os.Args[2], Host: "here", Now: time.Now(), RuntimeOf: look.RuntimeOf,
		Process: &Process{Name: "claude", BootID: self.BootID, PID: self.PID, StartTicks: self.StartTicks}}
	v, why, _, cerr := Store{os.Args[1]}.Claim("T-1", by, false)
	fmt.Println(v, why, errors.Join(err, cerr))
	if v == Taken || v == TakenOver {
		_, _ = io.Copy(io.Discard, os.NewFile(3, "until the others are done"))
	}
}

func TestOf20ProcessesThatClaimAtOnceOneWins(t *testing.T) {
	s := newStore(t)
	for round := range 3 {
		// In the second round and the third a dead winner's claim is there.
		winners := race(t, s, round)
		if winners != 1 {
			t.Fatalf("round %d: %d won", round, winners)
		}
		if c, err := s.ReadClaim("T-1"); err != nil || c == nil {
			t.Fatalf("round %d: %+v, %v", round, c, err)
		}
	}
}

// race has 20 processes claim one ticket at the same moment, each of which the
// others see alive, and counts those that won.
func race(t *testing.T, s Store, round int) (winners int) {
	t.Helper()
	const racers = 20
	start, begin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hold, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var outs []*bufio.Reader
	for i := range racers {
		cmd := exec.Command("/proc/self/exe", s.Dir(), fmt.Sprintf("s%d-%d", round, i))
		cmd.Args[0] = "claude"
		cmd.Env = []string{raceVar + "=1", "HOME=" + t.TempDir()}
		cmd.Stdin, cmd.Stderr, cmd.ExtraFiles = start, os.Stderr, []*os.File{hold}
		out, err := cmd.StdoutPipe()
		if err = errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
		outs = append(outs, bufio.NewReader(out))
	}
	for _, out := range outs {
		if line, err := out.ReadString('\n'); line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
	}
	begin.Close()
	for _, out := range outs {
		line, err := out.ReadString('\n')
		switch {
		case err != nil || !strings.HasSuffix(line, " <nil>\n"):
			t.Errorf("%q, %v", line, err)
		case strings.HasPrefix(line, fmt.Sprint(int(Taken))), strings.HasPrefix(line, fmt.Sprint(int(TakenOver))):
			winners++
		case !strings.Contains(line, "(claude) runs"):
			t.Errorf("refused by %q", line)
		}
	}
	release.Close()
	for _, f := range []*os.File{start, hold} {
		f.Close()
	}
	// The winner must be gone before the next round.
	for _, out := range outs {
		_, _ = io.Copy(io.Discard, out)
	}
	return winners
}
