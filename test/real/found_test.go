//go:build real

package real

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agentwrap/test/cli"
)

// A session that was started past the shim is found by the sweep: one row, whatever processes the CLI consists of, and no
// other at the next sweep.
func TestSweepFindsEachCLI(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) {
				w.Model.Add(makeFile)
				term := w.Open(t, filepath.Join(w.Bin, d.open[0]), d.open[1:]...)
				term.WaitText(d.ready)
				term.Ask("make a file")
				term.WaitText("The file is made.")
				sweep(t, w)
				first := onlyRow(t, w)
				if first.Runtime != d.program.Name || first.PID != term.CommandPID() || first.EnrolledBy != "discovery" {
					t.Errorf("process %d was enrolled as %+v", term.CommandPID(), first)
				}
				sweep(t, w)
				if again := onlyRow(t, w); again.LedgerID != first.LedgerID {
					t.Errorf("enrolled again: %+v", again)
				}
				term.Ask(d.quit)
				term.WaitExit()
				sweep(t, w)
				if r := onlyRow(t, w); r.State != "FINISHED" {
					t.Errorf("after the end: %+v", r)
				}
			})
		})
	}
}

func sweep(t *testing.T, w *cli.World) {
	t.Helper()
	if got := w.Run(t, "", "agent-sessions", "sweep"); got.Code != 0 {
		t.Fatalf("sweep: %+v", got)
	}
}

// A session is stopped as a whole, in the middle of an answer, and its row says by whom.
func TestStopEndsEachCLI(t *testing.T) {
	for _, d := range drivers {
		t.Run(d.program.Name, func(t *testing.T) {
			wrapped(t, d, func(t *testing.T, w *cli.World) {
				lost := loseMidAnswer(t, w, d, func(_ *testing.T, _ *cli.World, term *cli.Terminal) { term.Kill() })
				tree := below(lost.PID)
				if got := w.Run(t, "", "agent-sessions", "stop", lost.LedgerID); got.Code != 0 {
					t.Fatalf("stop: %+v", got)
				}
				for _, pid := range tree {
					if runs, daemon := processRuns(pid), isDaemon(pid); runs != daemon {
						t.Errorf("process %d, a shared daemon %t, runs %t", pid, daemon, runs)
					}
				}
				if r := onlyRow(t, w); r.State != "FINISHED" || r.EndedBy == nil || *r.EndedBy != "user" {
					t.Errorf("the row after stop: %+v", r)
				}
			})
		})
	}
}

// below is a process and all that descend from it.
func below(pid int) []int {
	tree := []int{pid}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		data, _ := os.ReadFile(f)
		for _, child := range strings.Fields(string(data)) {
			if n, err := strconv.Atoi(child); err == nil {
				tree = append(tree, below(n)...)
			}
		}
	}
	return tree
}

func processRuns(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return err == nil
}

// isDaemon tells whether a process belongs to the daemon that all of a user's codex screens share.
func isDaemon(pid int) bool {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return strings.Contains(exe, "/app-server-daemon/")
}
