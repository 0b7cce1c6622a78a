package fdpass

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDescriptorsTravelWithTheFirstBytes(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(t.TempDir(), "sent")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fds := make([]int, Batch)
	for i := range fds {
		fds[i] = int(file.Fd())
	}
	if err := Send(pair[0], []byte("payload"), fds); err != nil {
		t.Fatal(err)
	}
	unix.Close(pair[0])
	buf := make([]byte, 3)
	n, got, err := Receive(pair[1], buf)
	if n != 3 || len(got) != Batch || err != nil {
		t.Fatalf("%d bytes, %d descriptors, %v; want 3, %d", n, len(got), err, Batch)
	}
	if _, err := unix.Write(got[Batch-1], []byte("through")); err != nil {
		t.Error(err)
	}
	for _, fd := range got {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d: flags %d, %v; want close-on-exec", fd, flags, err)
		}
		unix.Close(fd)
	}
	if written, _ := os.ReadFile(file.Name()); string(written) != "through" {
		t.Errorf("file holds %q", written)
	}
	n, got, err = Receive(pair[1], make([]byte, 16))
	if n != 4 || len(got) != 0 || err != nil {
		t.Errorf("the rest: %d bytes, %d descriptors, %v", n, len(got), err)
	}
	if _, _, err = Receive(pair[1], buf); err != io.EOF {
		t.Errorf("at the end %v, want io.EOF", err)
	}
	unix.Close(pair[1])
}
