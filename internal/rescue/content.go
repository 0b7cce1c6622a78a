package rescue

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// heldFile and heldTotal bound, in bytes, which files are kept in memory
// between hashing and saving. Larger ones are read twice.
const (
	heldFile  = 1 << 20
	heldTotal = 64 << 20
)

// content is a regular file's bytes as they were read.
type content struct {
	size int64
	// oid is the object id of exactly these bytes.
	oid string
	// crlf and ident say that the bytes hold what git's own conversions look
	// for: a carriage return before a newline, an $Id.
	crlf, ident bool
	// held are the bytes, nil where they have to be read again.
	held []byte
	// seen is the file as it was when its bytes were read.
	seen fs.FileInfo
}

// errMoving is that a file is being written to.
var errMoving = errors.New("it was changed while it was read")

// movingError is that a file changed between being read and being stored.
type movingError struct{ path string }

func (e *movingError) Error() string { return fmt.Sprintf("%q was changed while it was saved", e.path) }

// newHash is the hash of a blob of so many bytes.
func newHash(format string, size int64) hash.Hash {
	h := sha1.New()
	if format == "sha256" {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

// openFile opens a regular file below root that lstat has seen. A link, a FIFO
// or another file that has taken its place is not followed nor waited for.
func openFile(root *os.Root, path string, seen fs.FileInfo) (*os.File, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, seen) {
		err = errMoving
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readContent reads a file whole, keeping the bytes where hold allows so many.
// It fails with errMoving when the file changed meanwhile.
func readContent(root *os.Root, path string, seen fs.FileInfo, format string, hold int64) (content, error) {
	f, err := openFile(root, path, seen)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	c := content{size: before.Size(), seen: before}
	h, scan := newHash(format, c.size), &scanner{}
	sinks := []io.Writer{h, scan}
	var kept bytes.Buffer
	if c.size <= hold {
		kept.Grow(int(c.size))
		sinks = append(sinks, &kept)
	}
	n, err := io.Copy(io.MultiWriter(sinks...), io.LimitReader(f, c.size+1))
	if err != nil {
		return content{}, err
	}
	after, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	if n != c.size || !sameState(before, after) {
		return content{}, errMoving
	}
	c.oid, c.crlf, c.ident = fmt.Sprintf("%x", h.Sum(nil)), scan.crlf, scan.ident
	if c.size <= hold {
		c.held = kept.Bytes()
	}
	return c, nil
}

// sameState says that a file was not written to between two looks at it.
func sameState(a, b fs.FileInfo) bool {
	x, y := a.Sys().(*syscall.Stat_t), b.Sys().(*syscall.Stat_t)
	return os.SameFile(a, b) && x.Size == y.Size && x.Mode == y.Mode && x.Mtim == y.Mtim && x.Ctim == y.Ctim
}

// scanner looks for what git's conversions look for, across the borders of writes.
type scanner struct {
	crlf, ident bool
	last        []byte
}

func (s *scanner) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	border := append(s.last, b[:min(len(b), 2)]...)
	s.look(border)
	s.look(b)
	last := append(s.last, b[max(0, len(b)-2):]...)
	s.last = append([]byte(nil), last[max(0, len(last)-2):]...)
	return len(b), nil
}

func (s *scanner) look(b []byte) {
	s.crlf = s.crlf || bytes.Contains(b, []byte("\r\n"))
	s.ident = s.ident || bytes.Contains(b, []byte("$Id"))
}
