package process

import (
	"bytes"
	"fmt"
	"hash/fnv"

	"agentwrap/internal/statefile"
)

// Machine is an id of this machine that outlives boots and changes of its name:
// 16 hexadecimal digits that follow from /etc/machine-id, which itself is not to
// be spread. "" where there is none, as in many containers. On two machines, or
// in a container and on its host, a pid means different processes.
func Machine() string {
	raw, err := statefile.Read("/etc/machine-id", 256)
	if err != nil {
		return ""
	}
	return machineOf(raw)
}

func machineOf(raw []byte) string {
	id := bytes.TrimSpace(raw)
	if len(id) < 32 {
		return "" // empty or "uninitialized": the same on many machines
	}
	h := fnv.New64a()
	h.Write([]byte("agentwrap "))
	h.Write(id)
	return fmt.Sprintf("%016x", h.Sum64())
}
