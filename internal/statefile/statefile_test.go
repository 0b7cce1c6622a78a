package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAFailureAtAnyStepLeavesTheOldFileAndNoOther(t *testing.T) {
	for _, op := range []string{"open", "write", "fsync", "rename"} {
		path := filepath.Join(t.TempDir(), "f")
		if err := Write(path, []byte("old"), Synced); err != nil {
			t.Fatal(err)
		}
		restore := Inject(func(got, _ string) error {
			if got == op {
				return syscall.ENOSPC
			}
			return nil
		})
		err := Write(path, []byte("new"), Synced)
		restore()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: got %v", op, err)
		}
		names, _ := os.ReadDir(filepath.Dir(path))
		if raw, _ := os.ReadFile(path); string(raw) != "old" || len(names) != 1 {
			t.Errorf("%s: left %q and %d files", op, raw, len(names))
		}
	}
}

func TestCreateNeverReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Create(path, []byte("a"), Soon); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("b"), Soon); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v, want ErrExist", err)
	}
}

func TestFilesArePrivateWhateverTheUmask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	defer unix.Umask(unix.Umask(0))
	if err := Write(path, nil, Soon); err != nil {
		t.Fatal(err)
	}
	unix.Umask(0o777)
	if err := Write(path+"2", nil, Soon); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + "2"} {
		if st, err := os.Stat(p); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", p, st.Mode(), err)
		}
	}
}

func TestReadRefusesWhatIsNoPlainFile(t *testing.T) {
	dir := t.TempDir()
	target, link, fifo := filepath.Join(dir, "t"), filepath.Join(dir, "l"), filepath.Join(dir, "p")
	if err := errors.Join(os.WriteFile(target, []byte("secret"), 0o600), os.Symlink(target, link), unix.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, fifo, dir} {
		if raw, err := Read(path, 100); err == nil {
			t.Errorf("%s was read: %q", path, raw)
		}
	}
	if _, err := Read(target, 3); !errors.Is(err, ErrTooBig) {
		t.Errorf("bound: got %v", err)
	}
}

func TestMakeDirOwnsAndCloses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Stat(dir); st.Mode().Perm() != 0o700 {
		t.Errorf("mode %o", st.Mode().Perm())
	}
	if os.Geteuid() != 0 {
		t.Log("not root: the folder of another user was not tried")
		return
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if err := MakeDir(dir); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("another user's folder: got %v", err)
	}
}

func TestALockIsExclusiveAndItsFileMayGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	first, err := Acquire(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path, 3*time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("second holder: got %v", err)
	}
	got := make(chan error)
	go func() {
		l, err := Acquire(path, time.Minute)
		if err == nil {
			defer l.Release()
			if _, err = Acquire(path, 0); errors.Is(err, ErrLocked) {
				err = nil
			}
		}
		got <- err
	}()
	first.Discard()
	if err := <-got; err != nil {
		t.Errorf("after the file went: %v", err)
	}
}

func TestSetAsideOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	now := time.Unix(1700000000, 0)
	seen := map[string]bool{}
	for range 3 {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		to, err := SetAside(path, filepath.Join(dir, "damaged"), now)
		if err != nil || seen[to] {
			t.Fatalf("%s: %v", to, err)
		}
		seen[to] = true
	}
}

func TestAFolderBehindALinkOfTheUsersHoldsState(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(dir+"/disk", 0o700), os.Symlink("disk", dir+"/state")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(MakeDir(dir+"/state"), Write(dir+"/state/f", []byte("x"), Synced)); err != nil {
		t.Error(err)
	}
}
