package procscan

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) {
	actor.Play(map[string]func() int{"scan": printScan, "hold": holdAndStay})
	os.Exit(isolate.Main(m))
}

// printScan prints what another user sees.
func printScan() int {
	s, err := Take(covered, nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, p := range s.Processes {
		fmt.Println(p.PID, p.LedgerID, p.Unreadable)
	}
	return 0
}

func holdAndStay() int {
	if err := hold(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		return 1
	}
	actor.Stay()
	return 0
}

func covered(name string) bool {
	return slices.Contains([]string{"claude", "codex", "kilo", "agent"}, name)
}

func scan(t *testing.T) *Snapshot {
	t.Helper()
	s, err := Take(covered, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
