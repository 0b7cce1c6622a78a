package procscan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/process"
)

// Tree is a folder and all that is in it, to be looked for among what
// processes hold.
type Tree struct {
	// Path is the folder's absolute path without links.
	Path string
	// Dev is the device of the folder and of all that is in it.
	Dev uint64
	// Inodes are theirs, sorted.
	Inodes []uint64
}

func (t *Tree) has(dev, inode uint64) bool {
	if dev != t.Dev {
		return false
	}
	_, ok := slices.BinarySearch(t.Inodes, inode)
	return ok
}

// under tells a path, as the kernel names what a process holds, in the tree.
func (t *Tree) under(path string) bool {
	rest, ok := strings.CutPrefix(path, t.Path)
	return ok && (rest == "" || rest[0] == '/')
}

// Inside tells, by index, which of the trees a process works in (its working or
// root directory), has open or has mapped, and in words which process it is. A
// file counts by its inode, so under whatever name and in whatever mount
// namespace it is held, and by its path. A process that may not be looked into,
// as most of other users', counts as holding nothing.
func Inside(trees []Tree) (map[int]string, error) {
	pids, err := allPIDs()
	if err != nil {
		return nil, err
	}
	used := map[int]string{}
	for _, pid := range pids {
		h := holder{pid: pid, trees: trees, used: used}
		h.links("cwd", "working directory")
		h.links("root", "root directory")
		h.descriptors()
		h.mappings()
	}
	return used, nil
}

func allPIDs() ([]int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("look at the processes: %w", err)
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("look at the processes: %w", err)
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return nil, errors.New("look at the processes: /proc lists none, not even this one")
	}
	return pids, nil
}

// holder is one process while it is looked into.
type holder struct {
	pid   int
	trees []Tree
	used  map[int]string
}

func (h holder) file(name string) string { return "/proc/" + strconv.Itoa(h.pid) + "/" + name }

// links looks at one of a process's links in /proc: where it says it leads,
// and which file it does lead to.
func (h holder) links(name, what string) {
	path, err := os.Readlink(h.file(name))
	if err != nil {
		return
	}
	var st unix.Statx_t
	// Nothing is looked up and no server is asked: a dead network mount must
	// not hold the scan.
	err = unix.Statx(unix.AT_FDCWD, h.file(name), unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_INO, &st)
	dev, inode := unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	for i := range h.trees {
		if h.trees[i].under(path) || err == nil && h.trees[i].has(dev, inode) {
			h.uses(i, what)
		}
	}
}

func (h holder) descriptors() {
	fds, err := os.Open(h.file("fd"))
	if err != nil {
		return
	}
	defer fds.Close()
	names, _ := fds.Readdirnames(-1) // a process that ends meanwhile holds nothing any more
	for _, name := range names {
		h.links("fd/"+name, "descriptor "+name)
	}
}

func (h holder) mappings() {
	raw, err := os.ReadFile(h.file("maps"))
	if err != nil {
		return
	}
	for line := range bytes.Lines(raw) {
		dev, inode, path, ok := parseMapping(line)
		if !ok {
			continue
		}
		for i := range h.trees {
			if h.trees[i].has(dev, inode) || h.trees[i].under(path) {
				h.uses(i, "a mapped file")
			}
		}
	}
}

// parseMapping reads a line of /proc/PID/maps that maps a file.
func parseMapping(line []byte) (dev, inode uint64, path string, ok bool) {
	fields := bytes.SplitN(bytes.TrimRight(line, "\n"), []byte(" "), 6)
	if len(fields) < 6 || len(fields[4]) == 1 && fields[4][0] == '0' {
		return 0, 0, "", false
	}
	major, minor, _ := strings.Cut(string(fields[3]), ":")
	hi, err1 := strconv.ParseUint(major, 16, 32)
	lo, err2 := strconv.ParseUint(minor, 16, 32)
	inode, err3 := strconv.ParseUint(string(fields[4]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return 0, 0, "", false
	}
	return unix.Mkdev(uint32(hi), uint32(lo)), inode, string(bytes.TrimLeft(fields[5], " ")), true
}

func (h holder) uses(tree int, what string) {
	if h.used[tree] != "" {
		return
	}
	name := "process " + strconv.Itoa(h.pid)
	if st, err := process.ReadStat(h.pid); err == nil {
		name += " (" + st.Comm + ")"
	}
	h.used[tree] = name + " has its " + what + " there"
}
