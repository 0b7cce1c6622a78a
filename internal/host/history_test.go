package host

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// emulator is a terminal with a history that shows what was written on it, after what a shell wrote before.
type emulator struct{ *vt.Emulator }

const shellLine = "$ echo an earlier line of the shell"

func newEmulator(t *testing.T) emulator {
	e := emulator{vt.NewEmulator(90, 30)}
	e.SetScrollbackSize(100_000)
	go func() { _, _ = io.Copy(io.Discard, e) }() // its answers
	t.Cleanup(func() { e.Close() })
	for range 3 {
		_, _ = e.WriteString(shellLine + "\r\n")
	}
	return e
}

// lines are the history and the screen as text, without the empty lines at the end.
func (e emulator) lines() []string {
	var lines []string
	for y := range e.ScrollbackLen() {
		var line strings.Builder
		for x := range e.Width() {
			if cell := e.ScrollbackCellAt(x, y); cell != nil {
				line.WriteString(cell.Content)
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	for line := range strings.Lines(e.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// numbers is the scenario that writes so many numbered lines and waits for a key.
func numbers(args []string) int {
	n, _ := strconv.Atoi(args[0])
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "line %06d\n", i)
	}
	fmt.Print(out.String() + "press a key")
	var key [1]byte
	_, _ = readSome(0, key[:])
	fmt.Println("\nbye")
	return 0
}

func numbered(n int) (lines []string) {
	for range 3 {
		lines = append(lines, shellLine)
	}
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %06d", i))
	}
	return append(lines, "press a key")
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: %d lines, want %d; the first that differs is %d: %q, want %q", what, len(got), len(want), i,
				append(got, "none")[min(i, len(got))], append(want, "none")[min(i, len(want))])
			return
		}
	}
}

func TestFidelity18History(t *testing.T) { // cc#62890
	for _, n := range []int{180, 20_000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			eachHost(t, func(t *testing.T, s *stage) { historyStays(t, s, n) })
		})
	}
}

func historyStays(t *testing.T, s *stage, n int) {
	shim := s.hosted("numbers", strconv.Itoa(n))
	shim.expect("press a key")
	e := newEmulator(t)
	_, _ = e.Write(shim.output())
	same(t, "while it runs", e.lines(), numbered(n))

	back := s.attach(shim.id)
	back.expect("press a key")
	e = newEmulator(t)
	_, _ = e.Write(back.output())
	same(t, "after attaching", e.lines(), numbered(n))

	back.typed("k\r")
	back.exit()
	shim.exit()
	for what, c := range map[string]*screen{"after its end": shim, "after its end, attached": back} {
		e = newEmulator(t)
		_, _ = e.Write(c.output())
		same(t, what, e.lines(), append(numbered(n)[:n+3], "press a keyk", "", "bye"))
	}
}

// count is the scenario that writes numbered lines, some 50,000 a second, until a key is pressed.
func count([]string) int {
	stop := make(chan struct{})
	go func() {
		var key [1]byte
		_, _ = readSome(0, key[:])
		close(stop)
	}()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return 0
		default:
			fmt.Printf("count %09d\n", i)
			if i%100 == 0 {
				time.Sleep(2 * time.Millisecond)
			}
		}
	}
}

func TestATerminalThatAttachesMissesNothingAndSeesNothingTwice(t *testing.T) {
	eachHost(t, func(t *testing.T, s *stage) {
		c := s.hosted("count")
		c.expect("count 000000500")
		for range 5 {
			back := s.attach(c.id)
			eventually(t, "more output", func() bool { return back.size() > 200_000 })
			_ = back.cmd.Process.Signal(unix.SIGHUP)
			back.exit()
			e := newEmulator(t)
			_, _ = e.Write(back.output())
			contiguous(t, e.lines())
		}
		c.typed("q\r")
		c.exit()
	})
}

// contiguous proves that the lines that count are numbered without a gap.
func contiguous(t *testing.T, lines []string) {
	t.Helper()
	last, counted := -1, 0
	for _, line := range lines {
		var n int
		if _, err := fmt.Sscanf(line, "count %09d", &n); err != nil || len(line) != len("count 000000000") {
			continue
		}
		if last >= 0 && n != last+1 {
			t.Errorf("after %d comes %d", last, n)
			return
		}
		last, counted = n, counted+1
	}
	if counted < 1000 {
		t.Errorf("only %d lines of %d: %q", counted, len(lines), lines[max(0, len(lines)-3):])
	}
}
