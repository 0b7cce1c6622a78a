package become

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// parentMain holds a child as the holder does, on a controlling terminal: it hands on what it was started
// with, descriptor 4 as 9, 5 as 3, its terminal as 7 and the folder open at 6 as working directory.
func parentMain(args []string) {
	_ = unix.CloseRange(4, 1<<20, unix.CLOSE_RANGE_CLOEXEC)
	child, err := StartChild("/proc/self/exe", 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	spec := Capture()
	ignored, _ := strconv.ParseUint(args[0], 16, 64)
	spec.Ignored, spec.Blocked, spec.Umask = SignalSet(ignored), SignalSet(ignored>>1), 0o031
	spec.Path, spec.Argv, spec.Env = args[1], args[1:], []string{"ONLY=this"}
	files := []File{{Number: 9, FD: 4}, {Number: 3, FD: 5}, {Number: 7, FD: Terminal}, {Number: WorkingDir, FD: 6}}
	if err := child.Prepare(spec, files); err != nil {
		fmt.Println(err)
	}
	if err := child.Release(); err != nil {
		fmt.Printf("not started=%t noent=%t\n", errors.Is(err, ErrNotExeced), errors.Is(err, unix.ENOENT))
	}
	var status syscall.WaitStatus
	_, _ = syscall.Wait4(child.PID, &status, 0, nil)
	fmt.Printf("pid %d exit %d\n", child.PID, status.ExitStatus())
	os.Exit(0)
}

// hold runs parentMain on a terminal of its own with the files from descriptor 4 on.
func hold(t *testing.T, ignored SignalSet, files []*os.File, argv ...string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{"parent", fmt.Sprintf("%x", ignored)}, argv...)
	cmd.ExtraFiles = append([]*os.File{nil}, files...)
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	out, err := io.ReadAll(terminal)
	if err != nil && !errors.Is(err, unix.EIO) { // EIO: the other side is closed
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// openFiles are two files and a folder that is then removed, to be descriptors 4, 5 and 6.
func openFiles(t *testing.T) []*os.File {
	t.Helper()
	var files []*os.File
	for _, name := range []string{"nine", "three"} {
		file, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(gone)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, file := range append(files, dir) {
			file.Close()
		}
	})
	return append(files, dir)
}

func TestChildFindsWhatItsParentHandsOver(t *testing.T) {
	files := openFiles(t)
	script := `echo nine >&9; echo three >&3; echo terminal >&7; ls /proc/self/fd | tr '\n' ' '; readlink /proc/$$/cwd
		ps -o pgid=,tpgid= -p $$; echo pid $$; tr '\0' ' ' </proc/$$/environ; umask; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; exit 7`
	ignored := SignalSet(1<<(unix.SIGPIPE-1) | 1<<(unix.SIGTERM-1) | 1<<(unix.SIGTTOU-1) | 1<<63)
	out := hold(t, ignored, files, "/bin/bash", "--norc", "-c", script)
	for _, file := range files[:2] {
		if got, _ := os.ReadFile(file.Name()); string(got) != filepath.Base(file.Name())+"\n" {
			t.Errorf("%s holds %q", file.Name(), got)
		}
	}
	var group, foreground, pid int
	for line := range strings.Lines(out) {
		_, _ = fmt.Sscanf(line, "%d %d", &group, &foreground)
		_, _ = fmt.Sscanf(line, "pid %d exit 7", &pid)
	}
	if pid == 0 || group != pid || foreground != pid {
		t.Errorf("pid %d, group %d, foreground group %d; want them equal", pid, group, foreground)
	}
	for _, want := range []string{
		"terminal\n", "0 1 2 3 4 7 9", "gone (deleted)", "ONLY=this", "0031",
		fmt.Sprintf("SigBlk:\t%016x", ignored>>1), fmt.Sprintf("SigIgn:\t%016x", ignored),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

func TestChildTellsThatExecFailed(t *testing.T) {
	out := hold(t, 0, openFiles(t), "/absent/program")
	if !strings.Contains(out, "not started=true noent=true") || !strings.Contains(out, "exit 126") {
		t.Errorf("got:\n%s", out)
	}
}

func TestSpecSurvivesItsEncoding(t *testing.T) {
	want := Capture()
	want.Path, want.Argv, want.Env, want.Dir = "/p\xff", []string{"", "\n"}, []string{"A=\x01"}, "/d"
	want.Nice, want.Blocked = -5, ^SignalSet(0)
	got, err := Decode(want.Encode())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	fds, order := orderOf(want, []File{{9, 4}, {7, Terminal}, {WorkingDir, 5}})
	spec, files, err := decodeOrder(order)
	wantFiles := []File{{9, unsent}, {7, Terminal}, {WorkingDir, unsent}}
	if err != nil || !reflect.DeepEqual(files, wantFiles) || !reflect.DeepEqual(fds, []int{4, 5}) || !reflect.DeepEqual(spec, want) {
		t.Errorf("order: %v, %v, %v", files, fds, err)
	}
}

func FuzzDecodeOrder(f *testing.F) {
	_, order := orderOf(Capture(), []File{{9, 4}, {7, Terminal}})
	f.Add([]byte(order))
	f.Fuzz(func(t *testing.T, raw []byte) {
		spec, _, err := decodeOrder(raw)
		if err != nil {
			return
		}
		again, err := Decode(spec.Encode())
		if err != nil || !bytes.Equal(again.Encode(), spec.Encode()) {
			t.Errorf("%q: %v", raw, err)
		}
	})
}
