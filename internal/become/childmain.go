package become

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"agentwrap/internal/fdpass"
)

const (
	batchByte = 'f' // carries descriptors
	goByte    = 'g'
)

// maxOrder bounds what a child reads: far above the 6 MB of arguments and environment that Linux execs.
const maxOrder = 64 << 20

// ChildMain is the other end of Child: it waits for its orders and becomes the CLI. It returns an exit
// status only when it did not: the parent went away or exec failed, which the parent is told.
func ChildMain() int {
	control, err := unix.FcntlInt(controlFD, unix.F_DUPFD_CLOEXEC, controlFD+1)
	if err != nil {
		return 126
	}
	unix.Close(controlFD)
	control, err = obey(control)
	var errno syscall.Errno
	errors.As(err, &errno)
	report := binary.LittleEndian.AppendUint32(nil, uint32(errno))
	_ = fdpass.Send(control, append(report, err.Error()...), nil)
	return 126
}

// obey returns only on failure, with the control socket's number, which placing descriptors may change.
func obey(control int) (int, error) {
	order, err := receiveOrder(control)
	if err != nil {
		return control, err
	}
	spec, files, err := decodeOrder(order)
	if err != nil {
		return control, err
	}
	if err := receiveFiles(control, files); err != nil {
		return control, err
	}
	if control, err = place(control, files); err != nil {
		return control, err
	}
	var word [1]byte
	if _, err := io.ReadFull(socketReader(control), word[:]); err != nil || word[0] != goByte {
		return control, fmt.Errorf("no word to go on: %w", err)
	}
	return control, InPlace(spec)
}

func receiveOrder(control int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(socketReader(control), head[:]); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxOrder {
		return nil, fmt.Errorf("orders of %d bytes", length)
	}
	order := make([]byte, length)
	_, err := io.ReadFull(socketReader(control), order)
	return order, err
}
