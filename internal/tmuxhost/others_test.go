package tmuxhost

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"agentwrap/test/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Main(m)) }

func TestTheUsersOwnServers(t *testing.T) {
	isolate.Test(t, func(t *testing.T) {
		program, err := Find(os.Getenv("PATH"))
		if err != nil {
			isolate.Missing(t, "tmux")
		}
		own := Server{Program: program, Socket: filepath.Join(t.TempDir(), "s")}
		if panes, err := own.Panes(); err == nil {
			t.Errorf("panes of no server: %v", panes)
		}
		if _, err := os.Lstat(own.Socket); err == nil {
			t.Error("asking started a server")
		}
		for _, name := range []string{"my work", "b"} {
			cmd := exec.Command(program, "-S", own.Socket, "-f", "/dev/null", "new-session", "-d", "-s", name, "sleep infinity")
			cmd.Env = append(os.Environ(), "TMUX=")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s, %v", out, err)
			}
		}
		panes, err := own.Panes()
		if err != nil || len(panes) != 2 {
			t.Fatalf("%v, %v", panes, err)
		}
		for _, p := range panes {
			if err := exec.Command("kill", "-0", "--", strconv.Itoa(p.PID)).Run(); err != nil || p.Session != "my work" && p.Session != "b" {
				t.Errorf("%+v, %v", p, err)
			}
		}
		sessions, err := own.Attached()
		if n, known := sessions["my work"]; err != nil || !known || n != 0 || len(sessions) != 2 {
			t.Errorf("%v, %v", sessions, err)
		}
		if err := own.End(); err != nil {
			t.Error(err)
		}
	})
}
