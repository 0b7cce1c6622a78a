package procscan

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
	"agentwrap/test/actor"
	"agentwrap/test/isolate"
)

// hold takes hold of a file or folder for as long as this process runs.
func hold(how, path string) error {
	switch how {
	case "cwd":
		return os.Chdir(path)
	case "descriptor":
		_, err := unix.Open(path, unix.O_RDONLY, 0)
		return err
	case "mapping":
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ, unix.MAP_PRIVATE)
		return err
	case "root":
		return unix.Chroot(path)
	case "bound elsewhere":
		return errors.Join(unix.Unshare(unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
			unix.Mount(path, "/mnt", "", unix.MS_BIND, ""), os.Chdir("/mnt"))
	}
	return nil
}

func startHolder(t *testing.T, how, path string) (pid int) {
	t.Helper()
	return actor.Program{Argv: []string{"holder", how, path}, Role: "hold"}.Start(t).PID()
}

func TestInsideSeesEveryWayToHoldAFile(t *testing.T) { isolate.TestAsRoot(t, insideSeesEveryHold) }

func insideSeesEveryHold(t *testing.T) {
	for how, want := range map[string]string{
		"cwd": "working directory", "descriptor": "descriptor", "mapping": "a mapped file", "root": "root directory",
		"bound elsewhere": "working directory", "nothing": "",
	} {
		t.Run(how, func(t *testing.T) {
			held, other := newTree(t), newTree(t)
			target := held.Path + "/sub"
			if how == "descriptor" || how == "mapping" {
				target += "/file"
			}
			pid := startHolder(t, how, target)
			got, err := Inside([]Tree{other, held})
			if err != nil {
				t.Fatal(err)
			}
			if got[0] != "" || (got[1] == "") != (want == "") {
				t.Fatalf("got %v", got)
			}
			if want != "" && (!strings.HasPrefix(got[1], "process "+strconv.Itoa(pid)+" (") || !strings.Contains(got[1], want)) {
				t.Errorf("got %q, want process %d and its %s", got[1], pid, want)
			}
		})
	}
}

// A path that only begins like the tree's is not in it; a name that was
// unlinked while it is open is.
func TestInsideComparesWholePathsAndInodes(t *testing.T) { isolate.Test(t, comparesWholePaths) }

func comparesWholePaths(t *testing.T) {
	tree := newTree(t)
	beside := tree.Path + "-2"
	if err := errors.Join(os.Mkdir(beside, 0o700), os.WriteFile(tree.Path+"/sub/gone", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	startHolder(t, "cwd", beside)
	if got, err := Inside([]Tree{tree}); err != nil || len(got) != 0 {
		t.Errorf("beside it: got %v, %v", got, err)
	}
	startHolder(t, "descriptor", tree.Path+"/sub/gone")
	if err := os.Remove(tree.Path + "/sub/gone"); err != nil {
		t.Fatal(err)
	}
	if got, err := Inside([]Tree{tree}); err != nil || len(got) != 1 {
		t.Errorf("unlinked: got %v, %v", got, err)
	}
	if err := os.Rename(tree.Path+"/sub/file", beside+"/file"); err != nil {
		t.Fatal(err)
	}
	startHolder(t, "descriptor", beside+"/file")
	if got, err := Inside([]Tree{{Path: "/nowhere", Dev: tree.Dev, Inodes: tree.Inodes}}); err != nil || len(got) != 1 {
		t.Errorf("under another name: got %v, %v", got, err)
	}
}

func newTree(t *testing.T) Tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = errors.Join(os.Mkdir(dir+"/sub", 0o755), os.WriteFile(dir+"/sub/file", []byte("x"), 0o600))
	}
	f, oerr := os.Open(dir)
	if err = errors.Join(err, oerr); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree := Tree{Path: dir}
	if err := statefile.Walk(f, func(n statefile.Node) { tree.Dev, tree.Inodes = n.ID.Dev, append(tree.Inodes, n.ID.Ino) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(tree.Inodes)
	return tree
}

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]string{
		"7f00-7f01 r--p 00000000 fe:00 1234                       /a/b c":  "/a/b c",
		"7f00-7f01 r--p 00000000 00:00 0":                                  "",
		"7ffc-7ffd rw-p 00000000 00:00 0                          [stack]": "",
		"torn": "",
	} {
		dev, inode, path, ok := parseMapping([]byte(line + "\n"))
		if path != want || ok != (want != "") || ok && (inode != 1234 || dev != unix.Mkdev(0xfe, 0)) {
			t.Errorf("%q: got %d %d %q %t", line, dev, inode, path, ok)
		}
	}
}
