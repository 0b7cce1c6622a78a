// Package process says who one process is, by raw reads of /proc: for the shim,
// which must not pay for a library's start-up, and for whoever checks one
// identity before a signal or a binding. Scans of all processes are procscan's.
//
// A process is identified by boot id, pid and start ticks together; a pid alone
// is reused.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"agentwrap/internal/statefile"
)

// TicksPerSecond is the unit of start ticks and cpu ticks: USER_HZ, which the
// kernel's interface fixes at 100 on every architecture that Go runs on.
const TicksPerSecond = 100

// Stat is one line of /proc/PID/stat.
type Stat struct {
	PID     int
	Comm    string // as the kernel has it, at most 15 bytes
	State   byte   // R, S, D, T, Z, …
	PPID    int
	PGRP    int
	Session int
	TTY     int // device number of the controlling terminal, 0 for none
	// Forked tells that it has run no program of its own yet: it looks like its
	// parent, whose arguments and environment it still has.
	Forked bool
	// UserTicks and SystemTicks are cpu time used, in ticks.
	UserTicks, SystemTicks uint64
	// StartTicks is field 22: the start since boot, in ticks.
	StartTicks uint64
}

// ErrGone is returned for a process that is not there (any more).
var ErrGone = errors.New("process is gone")

// ReadStat reads /proc/PID/stat. It fails with ErrGone for no such process.
func ReadStat(pid int) (Stat, error) {
	raw, err := readProc(pid, "stat")
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(raw)
}

// ParseStat parses one line of /proc/PID/stat. The name stands in brackets and
// may itself hold brackets, blanks and newlines: it ends at the last bracket.
func ParseStat(line []byte) (Stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open || end+2 > len(line) {
		return Stat{}, fmt.Errorf("parse stat line %.40q: no name in brackets", line)
	}
	rest := bytes.Fields(line[end+1:])
	if len(rest) < 20 || len(rest[0]) != 1 {
		return Stat{}, fmt.Errorf("parse stat line %.40q: %d fields after the name, want 20 or more", line, len(rest))
	}
	s := Stat{Comm: string(line[open+1 : end]), State: rest[0][0]}
	p := fields{rest: rest}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	s.PID, p.err = pid, err
	s.PPID, s.PGRP, s.Session, s.TTY = p.int(1), p.int(2), p.int(3), p.int(4)
	s.Forked = p.uint(6)&forkedNoExec != 0
	s.UserTicks, s.SystemTicks, s.StartTicks = p.uint(11), p.uint(12), p.uint(19)
	if p.err != nil {
		return Stat{}, fmt.Errorf("parse stat line %.40q: %w", line, p.err)
	}
	return s, nil
}

// forkedNoExec is the kernel's PF_FORKNOEXEC among a process's flags.
const forkedNoExec = 0x40

type fields struct {
	rest [][]byte
	err  error
}

func (f *fields) int(i int) int {
	n, err := strconv.Atoi(string(f.rest[i]))
	f.err = errors.Join(f.err, err)
	return n
}

func (f *fields) uint(i int) uint64 {
	n, err := strconv.ParseUint(string(f.rest[i]), 10, 64)
	f.err = errors.Join(f.err, err)
	return n
}

// Environ reads the environment a process was started with, one KEY=VALUE
// each. An unreadable one is an error: it is not the same as an empty one.
func Environ(pid int) ([]string, error) { return readList(pid, "environ") }

// Cmdline reads a process's arguments. A zombie or a kernel thread has none.
func Cmdline(pid int) ([]string, error) { return readList(pid, "cmdline") }

// Exe is the path of a process's program, as it was when that was removed since;
// "" where it cannot be read.
func Exe(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
}

func readList(pid int, name string) ([]string, error) {
	raw, err := readProc(pid, name)
	if err != nil {
		return nil, err
	}
	return SplitNul(raw), nil
}

// SplitNul splits what /proc gives as strings that each end in a NUL byte.
func SplitNul(raw []byte) []string {
	raw = bytes.TrimSuffix(raw, []byte{0})
	if len(raw) == 0 {
		return nil
	}
	parts := bytes.Split(raw, []byte{0})
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = string(p)
	}
	return list
}

// procLimit bounds what is read of one file of /proc, in bytes: an environment
// and an argument list may each be as large as the kernel takes.
const procLimit = 16 << 20

func readProc(pid int, name string) ([]byte, error) {
	raw, err := statefile.Read("/proc/"+strconv.Itoa(pid)+"/"+name, procLimit)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil, fmt.Errorf("pid %d: %w", pid, ErrGone)
	}
	return raw, err
}

// TTYName is the path of a terminal by its device number, for the kinds whose
// names follow from the number; "" for others and for none.
func TTYName(dev int) string {
	major, minor := unix.Major(uint64(dev)), unix.Minor(uint64(dev))
	switch {
	case dev == 0:
		return ""
	case major == 136:
		return "/dev/pts/" + strconv.Itoa(int(minor))
	case major == 4 && minor < 64:
		return "/dev/tty" + strconv.Itoa(int(minor))
	case major == 4:
		return "/dev/ttyS" + strconv.Itoa(int(minor-64))
	}
	return ""
}
