package become

import (
	"os"
	"unsafe"
)

// Environ returns the environment that this process was started with: every item in order, also those
// that os.Environ drops because an earlier one has the same name. Changes by os.Setenv are not in it.
// In a program linked without EntryFlag it is os.Environ.
func Environ() []string {
	if !entryRan {
		return os.Environ()
	}
	argc := *(*uintptr)(entryStack)
	items := unsafe.Add(entryStack, (argc+2)*unsafe.Sizeof(argc)) // past argc, argv and its nil
	var env []string
	for {
		item := *(**byte)(items)
		if item == nil {
			return env
		}
		env = append(env, cString(item))
		items = unsafe.Add(items, unsafe.Sizeof(item))
	}
}

// cString is a string over the NUL-terminated bytes at p, which the kernel put above the stack for good.
func cString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.String(p, n)
}
