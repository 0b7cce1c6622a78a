// Package fdpass sends open descriptors over a unix stream socket: for the parts of a hosted session,
// which hand the CLI what its launcher had open.
package fdpass

import (
	"io"

	"golang.org/x/sys/unix"
)

// Batch is how many descriptors go with one Send at most; the kernel takes 253.
const Batch = 200

// Send writes all of payload, which must not be empty, to a blocking socket and lets fds, at most Batch
// of them, travel with its first bytes. The caller's descriptors stay open.
func Send(socket int, payload []byte, fds []int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for len(payload) > 0 {
		n, err := unix.SendmsgN(socket, payload, rights, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		payload, rights = payload[n:], nil
	}
	return nil
}

// Receive reads once into buf and returns how many bytes came and the descriptors that travelled with
// them, which are close-on-exec and now the caller's. At the end of the stream the error is io.EOF.
func Receive(socket int, buf []byte) (int, []int, error) {
	rights := make([]byte, unix.CmsgSpace(Batch*4))
	for {
		n, have, _, _, err := unix.Recvmsg(socket, buf, rights, unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, nil, err
		case n == 0:
			return 0, nil, io.EOF
		}
		fds, err := parse(rights[:have])
		return n, fds, err
	}
}

func parse(rights []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	var fds []int
	for i := range messages {
		some, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, some...)
	}
	return fds, nil
}
