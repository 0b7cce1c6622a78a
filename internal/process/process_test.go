package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseStatNames(t *testing.T) {
	tail := " S 7 8 9 34817 10 4194304 1 2 3 4 50 60 7 8 20 0 1 0 4242 1 2"
	for _, comm := range []string{"sh", "tmux: server", "a) S 1 (b", "((", "))", "new\nline", ""} {
		st, err := ParseStat([]byte("12 (" + comm + ")" + tail))
		want := Stat{PID: 12, Comm: comm, State: 'S', PPID: 7, PGRP: 8, Session: 9, TTY: 34817, UserTicks: 50, SystemTicks: 60, StartTicks: 4242}
		if err != nil || st != want {
			t.Errorf("%q: %+v, %v", comm, st, err)
		}
	}
	for _, bad := range []string{"", "12", "12 (sh", "12 (sh)", "12 (sh) S 1", "x (sh)" + tail, "12 (sh) S 7 8 9 x" + tail[12:]} {
		if st, err := ParseStat([]byte(bad)); err == nil {
			t.Errorf("%q: parsed as %+v", bad, st)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (sh) S 7 8 9 34817 10 4194304 1 2 3 4 50 60 7 8 20 0 1 0 4242 1 2"))
	f.Add([]byte(") ("))
	f.Fuzz(func(_ *testing.T, line []byte) { _, _ = ParseStat(line) })
}

func TestIdentityOutlivesNothing(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		id   Identity
		want bool
	}{
		"itself":       {self, true},
		"another boot": {Identity{"other", self.PID, self.StartTicks}, false},
		"a reused pid": {Identity{self.BootID, self.PID, self.StartTicks + 1}, false},
		"no such pid":  {Identity{self.BootID, 1 << 30, 1}, false},
	} {
		if got, err := tc.id.Alive(); got != tc.want || err != nil {
			t.Errorf("%s: alive %v, %v", name, got, err)
		}
	}
}

func TestAKeyComesBackAsTheIdentity(t *testing.T) {
	id := Identity{"0f0e0d0c-0b0a-4908-8706-050403020100", 12, 345}
	if got, err := ParseKey(id.Key()); got != id || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "b", "b:1", ":1:2", "b:x:2", "b:1:x", "b:0:1", "b:-1:1"} {
		if got, err := ParseKey(bad); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func TestAZombieIsNotAlive(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := id.Alive(); !alive || err != nil {
		t.Errorf("running: %v, %v", alive, err)
	}
	stdin.Close()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if st, err := ReadStat(id.PID); err != nil || st.State == 'Z' {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("cat did not end")
		}
	}
	if alive, err := id.Alive(); alive || err != nil {
		t.Errorf("zombie: %v, %v", alive, err)
	}
	_ = cmd.Wait()
}

func TestStartTimeIsBtimeAndTicks(t *testing.T) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(raw), "\nbtime ")
	btime, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const ticks = 12345
	want := time.Unix(btime, 0).Add(ticks * time.Second / TicksPerSecond)
	// btime is cut to the second.
	if off := StartTime(ticks).Sub(want); off < -20*time.Millisecond || off > 1020*time.Millisecond {
		t.Errorf("%v from what btime gives", off)
	}
}

func TestAncestorsStartAtTheParent(t *testing.T) {
	chain := slices.Collect(Ancestors(os.Getpid()))
	if len(chain) == 0 || chain[0].PID != os.Getppid() {
		t.Errorf("got %+v, want the parent %d first", chain, os.Getppid())
	}
}

func TestTTYName(t *testing.T) {
	for dev, want := range map[int]string{0: "", 136<<8 | 5: "/dev/pts/5", 136<<8 | 1<<20 | 4: "/dev/pts/260", 4<<8 | 1: "/dev/tty1", 4<<8 | 64: "/dev/ttyS0", 5 << 8: ""} {
		if got := TTYName(dev); got != want {
			t.Errorf("%#x: %q, want %q", dev, got, want)
		}
	}
}
