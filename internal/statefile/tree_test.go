package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/test/isolate"
)

func openT(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func mustID(t *testing.T, path string) FileID {
	t.Helper()
	id, err := IDOf(openT(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// plant makes files below dir: a name that ends in / is a folder, one with ->
// a link.
func plant(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, target, link := strings.Cut(name, "->")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		switch {
		case link:
			err = errors.Join(err, os.Symlink(target, path))
		case strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.MkdirAll(path, 0o700))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte(name), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRemoveTreeTakesAllOfItAndNothingElse(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	plant(t, outside, "precious", "dir/precious")
	plant(t, root, "gone/a", "gone/d/e/f", "gone/readonly/x", "gone/closed/", "gone/link->"+outside, "gone/d/up->..", "gone/d/file->"+outside+"/precious", "kept/x")
	if err := errors.Join(os.Chmod(root+"/gone/readonly", 0o500), os.Chmod(root+"/gone/closed", 0)); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTree(openT(t, root), "gone", mustID(t, root+"/gone")); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]bool{root + "/gone": false, root + "/kept/x": true, outside + "/precious": true, outside + "/dir/precious": true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", path, err, want)
		}
	}
}

func TestRemoveTreeRefusesWhatTookThePlace(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	plant(t, outside, "precious")
	plant(t, root, "dir/x")
	want := mustID(t, root+"/dir")
	if err := os.Rename(root+"/dir", root+"/moved"); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"another folder": func() error {
			return errors.Join(os.Mkdir(root+"/dir", 0o700), os.WriteFile(root+"/dir/x", nil, 0o600))
		},
		"a link":       func() error { return os.Symlink(outside, root+"/dir") },
		"a link to it": func() error { return os.Symlink("moved", root+"/dir") },
		"a file":       func() error { return os.WriteFile(root+"/dir", nil, 0o600) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if err := RemoveTree(openT(t, root), "dir", want); err == nil {
			t.Errorf("%s: removed", name)
		}
		for _, path := range []string{root + "/dir", root + "/moved/x", outside + "/precious"} {
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := os.RemoveAll(root + "/dir"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"../x", "/", "", "dir/../../x"} {
		if err := RemoveTree(openT(t, root), name, want); err == nil {
			t.Errorf("%q was removed", name)
		}
	}
}

func TestAFailedUnlinkIsToldAndTheRestGoes(t *testing.T) {
	root := t.TempDir()
	plant(t, root, "dir/a", "dir/b", "dir/c")
	restore := Inject(func(op, path string) error {
		if op == "unlink" && filepath.Base(path) == "b" {
			return unix.EIO
		}
		return nil
	})
	err := RemoveTree(openT(t, root), "dir", mustID(t, root+"/dir"))
	restore()
	left, _ := os.ReadDir(root + "/dir")
	if !errors.Is(err, unix.EIO) || len(left) != 1 {
		t.Errorf("got %v, %d left", err, len(left))
	}
}

func TestAFolderOfManyNamesGoesWhole(t *testing.T) {
	root := t.TempDir()
	plant(t, root, "dir/")
	for i := range 5000 {
		if err := os.WriteFile(root+"/dir/"+strconv.Itoa(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var seen int
	if err := Walk(openT(t, root+"/dir"), func(Node) { seen++ }); err != nil || seen != 5001 {
		t.Errorf("walked %d, %v", seen, err)
	}
	if err := RemoveTree(openT(t, root), "dir", mustID(t, root+"/dir")); err != nil {
		t.Error(err)
	}
}

func TestMain(m *testing.M) { os.Exit(isolate.Main(m)) }

func TestMountsAreNeverEntered(t *testing.T) { isolate.TestAsRoot(t, mountsAreNeverEntered) }

func mountsAreNeverEntered(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	plant(t, outside, "precious", "dir/precious")
	plant(t, root, "bound/", "tmpfs/", "deep/a/b/", "file/f", "x->"+outside)
	mount := func(source, target, kind string, flags uintptr) {
		t.Helper()
		if err := unix.Mount(source, target, kind, flags, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(target, 0) })
	}
	mount(outside, root+"/bound", "", unix.MS_BIND)
	mount("none", root+"/tmpfs", "tmpfs", 0)
	plant(t, root, "tmpfs/precious")
	mount(outside, root+"/deep/a/b", "", unix.MS_BIND)
	mount(outside+"/precious", root+"/file/f", "", unix.MS_BIND)
	for _, name := range []string{"bound", "tmpfs", "deep", "file"} {
		err := RemoveTree(openT(t, root), name, mustID(t, root+"/"+name))
		if !errors.Is(err, ErrMount) && !errors.Is(err, unix.EBUSY) {
			t.Errorf("remove %s: got %v", name, err)
		}
	}
	for _, name := range []string{"deep", "file"} {
		if err := Walk(openT(t, root+"/"+name), func(Node) {}); !errors.Is(err, ErrMount) {
			t.Errorf("walk %s: got %v", name, err)
		}
	}
	for _, path := range []string{outside + "/precious", outside + "/dir/precious", root + "/tmpfs/precious"} {
		if raw, err := os.ReadFile(path); err != nil || len(raw) == 0 {
			t.Errorf("%s: %q, %v", path, raw, err)
		}
	}
}
