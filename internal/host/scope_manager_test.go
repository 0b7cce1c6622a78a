package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// cgroupVar names the cgroup of a sandbox that testdata/usermanager.sh made.
const cgroupVar = "AGENTWRAP_TEST_CGROUP"

// TestScopeUnderAManager runs TestScopeOutlivesTheLogin beside a real user manager, for which the sandbox takes root.
func TestScopeUnderAManager(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a user manager in a sandbox takes root")
	}
	for _, program := range []string{"unshare", "dbus-daemon", "busctl", "tmux", "/lib/systemd/systemd"} {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "testdata/usermanager.sh", t.TempDir(), self, "-test.v", "-test.run", "^TestScopeOutlivesTheLogin$")
	group := fmt.Sprintf("agentwrap-test-%d", os.Getpid())
	cmd.Env = append(os.Environ(), cgroupVar+"="+group)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestScopeOutlivesTheLogin/tmux") {
		t.Fatalf("%v:\n%s", err, out)
	}
	t.Logf("%s", out)
}

func TestScopeOutlivesTheLogin(t *testing.T) { // ad#958
	group := os.Getenv(cgroupVar)
	if group == "" {
		t.Skip("run by TestScopeUnderAManager")
	}
	group = filepath.Join("/sys/fs/cgroup", group)
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	eventually(t, "a manager", func() bool {
		_, bus := os.Stat(filepath.Join(runtime, "bus"))
		return bus == nil && managerSeesOurPIDs(filepath.Join(runtime, "systemd", "private"))
	})
	eachHost(t, func(t *testing.T, s *stage) {
		busctl, err := exec.LookPath("busctl")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(busctl, filepath.Join(s.path, "busctl")); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(group, "login-"+filepath.Base(s.root)) // one that was killed before kills what is started in it
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		login, err := os.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer login.Close()
		id := s.birth()
		c := s.on(func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+runtime)
			cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(login.Fd())}
		}, id, "shim", s.root, id, s.self, "cli", "echo")
		c.expect("ready")
		scope := filepath.Join(group, "agent.slice", "agent-"+id+".scope")
		want := 2
		if s.tmux {
			want++
		}
		eventually(t, "the session in "+scope, func() bool {
			procs, _ := os.ReadFile(filepath.Join(scope, "cgroup.procs"))
			return len(strings.Fields(string(procs))) == want
		})

		if err := os.WriteFile(filepath.Join(login.Name(), "cgroup.kill"), []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
		if status := c.exit(); !status.Signaled() {
			t.Errorf("the shim ended with %v", status)
		}
		s.getBack(t, id)
		eventually(t, "the scope's end", func() bool {
			_, err := os.Stat(scope)
			return errors.Is(err, fs.ErrNotExist)
		})
	})
}
