//go:build real

package real

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentwrap/test/cli"
)

// A row is what the tests look at in an element of `agent-sessions list --json`.
type row struct {
	LedgerID, Runtime, State, EnrolledBy, Evidence string
	LaunchedBy, ParentLedgerID, ResumedFrom        *string
	PID, LauncherPID                               int
	FinishReason, EndedBy, Turn                    *string
	ExitStatus                                     *exitStatus
	TmuxSocket                                     *string
	SessionID, TranscriptPath                      *string
	SessionIDs                                     []struct{ ID string }
	Title, Activity                                *string
	Interactive, Lost                              bool
	CWD, Branch                                    *string
	Worktree                                       *bool
	RescuedAt, RescueRef, RescueCommit             *string
	RescuedPaths                                   []string
}

type exitStatus struct{ Code, Signal *int }

// rows are all sessions that the ledger knows.
func rows(t *testing.T, w *cli.World) []row {
	t.Helper()
	got := w.Run(t, "", "agent-sessions", "list", "--all", "--json")
	var all []row
	if err := json.Unmarshal([]byte(got.Stdout), &all); err != nil || got.Code != 0 {
		t.Fatalf("list: %v: %+v", err, got)
	}
	return all
}

// onlyRow is the one session there is.
func onlyRow(t *testing.T, w *cli.World) row {
	t.Helper()
	all := rows(t, w)
	if len(all) != 1 {
		t.Fatalf("want one session, got %+v", all)
	}
	return all[0]
}

// waitState waits until the one session is in a state.
func waitState(t *testing.T, w *cli.World, state string) row {
	t.Helper()
	var r row
	cli.Eventually(t, "session in state "+state, func() bool {
		r = onlyRow(t, w)
		return r.State == state
	})
	return r
}

func kill(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("signal %v to process %d: %v", signal, pid, err)
	}
}

// onlyPID is the one process that pgrep finds by these words.
func onlyPID(t *testing.T, w *cli.World, words ...string) int {
	t.Helper()
	got := w.Run(t, "", "pgrep", words...)
	pid, err := strconv.Atoi(strings.TrimSpace(got.Stdout))
	if err != nil {
		t.Fatalf("pgrep %q: %+v", words, got)
	}
	return pid
}

// waitInTranscript waits until a conversation on disk holds a text.
func waitInTranscript(t *testing.T, path, text string) {
	t.Helper()
	cli.Eventually(t, text+" in "+path, func() bool {
		data, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(data), text)
	})
}
