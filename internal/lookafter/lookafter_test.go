package lookafter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentwrap/internal/ledger"
	"agentwrap/test/actor"
)

var now = time.Date(2026, 8, 7, 12, 0, 0, 0, time.UTC)

// The test binary lies in a folder without an agent-sessions; a copy of it
// beside one starts that one.
func TestMain(m *testing.M) {
	actor.Play(map[string]func() int{"start": startOnce})
	os.Exit(m.Run())
}

func startOnce() int {
	wait, err := StartIfDue(ledger.Open(os.Getenv("ROOT")), time.Now(), os.Environ())
	if err == nil && wait != nil {
		err = wait()
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

func TestDue(t *testing.T) {
	long, short := now.Add(-Interval-time.Second), now.Add(-Interval)
	for _, tc := range []struct {
		name string
		last ledger.LastSweep
		want bool
	}{
		{"never", ledger.LastSweep{}, true},
		{"long ago", ledger.LastSweep{BegunAt: long, CompletedAt: long}, true},
		{"not long ago", ledger.LastSweep{BegunAt: long, CompletedAt: short}, false},
		{"at work", ledger.LastSweep{BegunAt: short, CompletedAt: long}, false},
		{"at work for too long", ledger.LastSweep{BegunAt: long}, true},
		{"in the future: the clock was set back", ledger.LastSweep{BegunAt: now.Add(time.Hour), CompletedAt: now.Add(time.Hour)}, true},
	} {
		store := ledger.Open(filepath.Join(t.TempDir(), "l"))
		if err := store.NoteSweep(tc.last); err != nil {
			t.Fatal(err)
		}
		if got := Due(store, now); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	if !Due(ledger.Open(t.TempDir()+"/none"), now) {
		t.Error("no ledger: not due")
	}
}

func TestASweepIsStartedBesideTheRunningProgram(t *testing.T) {
	program := actor.Named(t, "starter")
	out := filepath.Join(t.TempDir(), "out")
	fake := "#!/bin/sh\necho \"$@\" $(ps -o sid= -p $$) $$ > " + out + "\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(program), "agent-sessions"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "l")
	start := func(env ...string) {
		cmd := actor.Program{Path: program, Argv: []string{"starter"}, Role: "start"}.Command(t)
		cmd.Env = append(cmd.Env, append(env, "ROOT="+root)...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s, %v", text, err)
		}
	}
	start(OffVar + "=1")
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("started though it is off")
	}
	start()
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(raw))
	if len(words) != 4 || words[0] != "sweep" || words[1] != "--quiet" || words[2] != words[3] {
		t.Errorf("started with %q; it should lead a session of its own", raw)
	}
	if err := errors.Join(os.Remove(out), ledger.Open(root).NoteSweep(ledger.LastSweep{CompletedAt: time.Now()})); err != nil {
		t.Fatal(err)
	}
	start()
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Error("started though one has just ended")
	}
}
