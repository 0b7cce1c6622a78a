package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

// terminalVar makes a test binary play a terminal; its value is COLSxROWS.
const terminalVar = "AGENTWRAP_TEST_TERMINAL"

// raceVar spares a terminal's process the second that the race detector waits at each exit.
const raceVar = "GORACE=atexit_sleep_ms=0"

// endMark stands behind the last byte of a terminal's command: an APC string, which no terminal shows.
const endMark = "\x1b_agentwrap test: end\x1b\\"

// runTerminal runs args[0] with the argument vector args[1:] in a new pty. It passes the output to stdout, takes orders
// from stdin, and writes the command's status to descriptor 3.
func runTerminal(args []string) int {
	size := &pty.Winsize{}
	if _, err := fmt.Sscanf(os.Getenv(terminalVar), "%dx%d", &size.Cols, &size.Rows); err != nil {
		return complain(err)
	}
	os.Unsetenv(terminalVar)
	os.Unsetenv("GORACE")
	status := os.NewFile(3, "status")
	syscall.CloseOnExec(3)
	master, slave, err := pty.Open()
	if err != nil {
		return complain(err)
	}
	if err := pty.Setsize(master, size); err != nil {
		return complain(err)
	}
	cmd := &exec.Cmd{
		Path: args[0], Args: args[1:], Stdin: slave, Stdout: slave, Stderr: slave,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := cmd.Start(); err != nil {
		return complain(err)
	}
	go obey(master, cmd.Process.Pid)
	shown := make(chan struct{})
	go func() { show(master); close(shown) }()
	cmd.Wait()
	// The mark goes through the pty itself, so that it stands behind what the command wrote, even if a grandchild
	// still holds the pty open.
	io.WriteString(slave, endMark)
	<-shown
	json.NewEncoder(status).Encode(statusOf(cmd.ProcessState))
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "terminal:", err)
	return 1
}

func statusOf(state *os.ProcessState) Status {
	s := Status{Known: true, Code: state.ExitCode()}
	if ws := state.Sys().(syscall.WaitStatus); ws.Signaled() {
		s.Signal = int(ws.Signal())
	}
	return s
}

// show passes on what comes from the pty up to the end mark.
func show(master *os.File) {
	var tail []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := master.Read(buf)
		tail = append(tail, buf[:n]...)
		if i := bytes.Index(tail, []byte(endMark)); i >= 0 {
			os.Stdout.Write(tail[:i])
			return
		}
		keep := partialMark(tail)
		os.Stdout.Write(tail[:len(tail)-keep])
		tail = append(tail[:0], tail[len(tail)-keep:]...)
		if err != nil {
			return
		}
	}
}

// partialMark returns how many bytes at the end of data may be the beginning of the end mark.
func partialMark(data []byte) int {
	for n := min(len(data), len(endMark)-1); n > 0; n-- {
		if bytes.HasSuffix(data, []byte(endMark[:n])) {
			return n
		}
	}
	return 0
}

// obey carries out the test's orders. When the test is gone, so is the terminal.
func obey(master *os.File, pid int) {
	orders := json.NewDecoder(os.Stdin)
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			os.Exit(0)
		}
		switch {
		case o.HangUp:
			// As sshd does when its connection is lost.
			syscall.Kill(pid, syscall.SIGHUP)
			os.Exit(0)
		case o.Cols > 0:
			pty.Setsize(master, &pty.Winsize{Cols: uint16(o.Cols), Rows: uint16(o.Rows)})
		default:
			master.Write(o.Write)
		}
	}
}
