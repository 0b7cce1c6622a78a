// Scale makes what the scale benchmarks look at, and looks at it by this
// project's own code, a program each as their peers are.
//
//	scale ledger DIR N        a ledger of N entries, one in 200 of them open
//	scale transcripts DIR N   N transcripts of up to 145 MB
//	scale look NAME           count the sessions of NAME among all processes
//	scale windows DIR         read both ends of every transcript in DIR
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"agentwrap/internal/ledger"
	"agentwrap/internal/procscan"
	"agentwrap/internal/statefile"
	"agentwrap/internal/transcript"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "ledger":
		return counted(args[2], func(n int) error { return makeLedger(args[1], n) })
	case len(args) == 3 && args[0] == "transcripts":
		return counted(args[2], func(n int) error { return makeTranscripts(args[1], n) })
	case len(args) == 2 && args[0] == "look":
		return look(args[1])
	case len(args) == 2 && args[0] == "windows":
		return windows(args[1])
	}
	return errors.New("see its source for how it is called")
}

func counted(text string, do func(n int) error) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	return do(n)
}

func makeLedger(dir string, n int) error {
	store := ledger.Open(dir)
	began := time.Now().Add(-20 * 24 * time.Hour)
	for i := range n {
		id := fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)
		e := &ledger.Entry{
			Runtime: "claude", StartedAt: ledger.At(began.Add(time.Duration(i) * time.Minute)), Host: ledger.Ptr("box"), EnrolledBy: ledger.EnrolledByShim,
			BootID: ledger.Ptr("0f0e0d0c-0000-4000-8000-000000000000"), CWD: ledger.Ptr("/home/user/Projects/parser"), RepoRoot: ledger.Ptr("/home/user/Projects/parser"),
			Project: ledger.Ptr("parser"), Branch: ledger.Ptr("main"), Worktree: ledger.Ptr(false), TTY: ledger.Ptr("/dev/pts/17"), LaunchedBy: ledger.Ptr(ledger.LaunchedByUser),
			PID: ledger.Ptr(1000 + i), PIDStartTicks: ledger.Ptr(uint64(i)), Interactive: ledger.Ptr(true), SessionID: &id,
			TranscriptPath: ledger.Ptr("/home/user/.claude/projects/-home-user-Projects-parser/" + id + ".jsonl"), Scratch: ledger.Ptr("/home/user/.openagents/scratch/claude"),
			SessionIDs: []ledger.Conversation{{ID: id, Since: ledger.At(began)}},
		}
		if i%200 != 0 {
			e.FinishedAt, e.FinishReason, e.EndedBy = ledger.At(began.Add(time.Duration(i+30)*time.Minute)), ledger.Ptr("exited at the prompt"), ledger.Ptr(ledger.EndedByUser)
		}
		if err := store.Create(e, statefile.Soon); err != nil {
			return err
		}
	}
	return nil
}

// largest is the size in bytes of the largest transcript that was met.
const largest = 145 << 20

// makeTranscripts makes files whose two ends are real; what is between them is
// a hole, which nobody reads.
func makeTranscripts(dir string, n int) error {
	filler := strings.Repeat("x", 900)
	head := `{"type":"user","promptSource":"typed","message":{"role":"user","content":"mend the parser"}}` + "\n"
	middle := `{"type":"attachment","rendered":"` + filler + `"}` + "\n"
	tail := `{"type":"ai-title","aiTitle":"Mend the parser"}` + "\n" + `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make"}}]}}` + "\n" +
		`{"type":"user","message":{"content":[{"type":"tool_result","content":"` + filler + `"}]}}` + "\n"
	begin, end := []byte(head+strings.Repeat(middle, 100)), []byte("\n"+strings.Repeat(middle, 100)+tail)
	for i := range n {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%04d.jsonl", i)))
		if err != nil {
			return err
		}
		size := int64(len(begin)+len(end)) + int64(i)*(largest/int64(n))
		_, err = f.WriteAt(begin, 0)
		if _, werr := f.WriteAt(end, size-int64(len(end))); err == nil {
			err = werr
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func look(name string) error {
	s, err := procscan.Take(func(n string) bool { return n == name }, nil)
	if err != nil {
		return err
	}
	fmt.Println(len(s.Processes))
	return nil
}

func windows(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, file := range files {
		group.Go(func() error {
			d, err := transcript.Read("claude", file)
			if err == nil && (d.Title != "Mend the parser" || d.Activity != "Bash: make") {
				err = fmt.Errorf("%s: title %q, activity %q", file, d.Title, d.Activity)
			}
			return err
		})
	}
	return group.Wait()
}
