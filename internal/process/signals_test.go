package process

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWaitingTellsWhatAStoppedProcessWasSent(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	pid := cmd.Process.Pid
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Wait4(pid, nil, unix.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Waiting(pid); err != nil || got != 0 {
		t.Errorf("before: %x, %v", got, err)
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got, err := Waiting(pid); err != nil || got != 1<<(unix.SIGTERM-1) {
		t.Errorf("after SIGTERM: %x, %v", got, err)
	}
}
