package become

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// EntryFlag is the linker flag of programs that must hand on what they were started with:
//
//	go build -ldflags=-E=agentwrap_start
//
// It makes the kernel start the program at agentwrap_start (entry_*.s), which notes what the Go runtime
// is about to change and then goes on to the runtime's own entry. Nothing of the runtime is patched or
// read, so nothing breaks with its layout; a program linked without the flag works and knows less.
// With the race detector or cgo the C start-up code is the entry and the flag has no effect.
const EntryFlag = "-E=agentwrap_start"

// Written by agentwrap_start before the runtime exists.
var (
	entryRan     bool
	entryIgnored SignalSet
	entryBlocked SignalSet
	entryUmask   uint32
	entryFiles   unix.Rlimit    // open files, before the runtime raises the soft limit
	entryStack   unsafe.Pointer // argc, then argv and the environment, each ended by nil
	//lint:ignore U1000 scratch of entry_*.s
	entryAction sigaction
)

// EntryRan tells whether this program was linked with EntryFlag, for who checks an installation.
func EntryRan() bool { return entryRan }
