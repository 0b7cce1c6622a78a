package become

import (
	"fmt"

	"golang.org/x/sys/unix"

	"agentwrap/internal/fdpass"
	"agentwrap/internal/tlv"
)

// File is a descriptor that the CLI has at its start.
type File struct {
	Number int // descriptor number in the CLI, or WorkingDir
	FD     int // the descriptor here, or Terminal
}

const (
	// WorkingDir in place of a number makes the descriptor the working directory: exact also where the
	// path leads elsewhere or nowhere by now.
	WorkingDir = -1
	// Terminal in place of a descriptor is the child's own terminal.
	Terminal = -1
)

const (
	fieldSpec tlv.Type = iota + 1
	fieldSentFile
	fieldTerminalFile
)

// orderOf encodes a spec and its files; fds are the descriptors to send, in the order of the files.
func orderOf(s Spec, files []File) (fds []int, order tlv.Message) {
	order.Bytes(fieldSpec, s.Encode())
	for _, file := range files {
		if file.FD == Terminal {
			order.Int(fieldTerminalFile, int64(file.Number))
			continue
		}
		order.Int(fieldSentFile, int64(file.Number))
		fds = append(fds, file.FD)
	}
	return fds, order
}

// decodeOrder reads what orderOf wrote; files that were sent have no descriptor yet.
func decodeOrder(order []byte) (s Spec, files []File, err error) {
	err = tlv.Each(order, func(t tlv.Type, value []byte) (err error) {
		switch t {
		case fieldSpec:
			s, err = Decode(value)
		case fieldSentFile:
			files = append(files, File{FD: unsent})
			err = tlv.SetInt(&files[len(files)-1].Number, value)
		case fieldTerminalFile:
			files = append(files, File{FD: Terminal})
			err = tlv.SetInt(&files[len(files)-1].Number, value)
		}
		return err
	})
	return s, files, err
}

const unsent = -2

func receiveFiles(control int, files []File) error {
	var came []int
	for i := range files {
		if files[i].FD != unsent {
			continue
		}
		for len(came) == 0 {
			var err error
			if _, came, err = fdpass.Receive(control, make([]byte, 1)); err != nil {
				return fmt.Errorf("receive descriptors: %w", err)
			}
		}
		files[i].FD, came = came[0], came[1:]
	}
	return nil
}

// place gives every file its number. What is in the way, the control socket too, first moves above the
// highest number, so that no file overwrites another before its turn.
func place(control int, files []File) (int, error) {
	above := controlFD
	for _, file := range files {
		above = max(above, file.Number)
	}
	above++
	var err error
	if control, err = moveUp(control, above); err != nil {
		return control, err
	}
	for i := range files {
		if files[i].FD == Terminal {
			files[i].FD, err = unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, above)
		} else {
			files[i].FD, err = moveUp(files[i].FD, above)
		}
		if err != nil {
			return control, fmt.Errorf("place descriptor %d: %w", files[i].Number, err)
		}
	}
	for _, file := range files {
		if file.Number == WorkingDir {
			err = unix.Fchdir(file.FD)
		} else {
			err = unix.Dup3(file.FD, file.Number, 0)
		}
		if err != nil {
			return control, fmt.Errorf("place descriptor %d: %w", file.Number, err)
		}
	}
	return control, nil
}

func moveUp(fd, above int) (int, error) {
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, above)
	if err != nil {
		return fd, fmt.Errorf("move descriptor %d up: %w", fd, err)
	}
	unix.Close(fd)
	return moved, nil
}
