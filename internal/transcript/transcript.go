// Package transcript reads the two ends of the CLIs' conversation files, which
// grow past 100 MB: what a session is called and what it did last, for every
// view. It never reads one whole, never writes one and never touches its times.
package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Window bounds what is read at each end of a file, in bytes.
const Window = 64 << 10

// ErrNotRegular is returned for what is no regular file: a FIFO, a folder.
var ErrNotRegular = errors.New("transcript is not a regular file")

// Info is a transcript's size in bytes and its modification time.
type Info struct {
	Size    int64
	ModTime time.Time
}

// Digest is what the two ends of a transcript tell; a field is zero where they
// do not tell it. Texts are one line of valid UTF-8 and not yet safe to print.
type Digest struct {
	Info
	// Title is the user's own title, else the CLI's, else the first prompt.
	Title string
	// Activity is the last tool the model used, or the last thing it said.
	Activity string
	// Interrupted is when the user broke the last turn off.
	Interrupted time.Time
}

// Stat looks at a transcript without opening it. The error wraps
// fs.ErrNotExist or ErrNotRegular.
func Stat(path string) (Info, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Info{}, fmt.Errorf("look at transcript: %w", err)
	}
	if !st.Mode().IsRegular() {
		return Info{}, fmt.Errorf("look at transcript %s: %w", path, ErrNotRegular)
	}
	return Info{Size: st.Size(), ModTime: st.ModTime()}, nil
}

// Read reads the ends of a runtime's transcript, at most Window bytes of each.
// For a runtime whose transcripts are not known it is Stat. What cannot be
// understood there (partial, over-long or damaged lines) is passed over.
func Read(runtime, path string) (Digest, error) {
	shape, known := shapes[runtime]
	if !known {
		info, err := Stat(path)
		return Digest{Info: info}, err
	}
	f, err := open(path)
	if err != nil {
		return Digest{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Digest{}, fmt.Errorf("look at transcript: %w", err)
	}
	if !st.Mode().IsRegular() {
		return Digest{}, fmt.Errorf("read transcript %s: %w", path, ErrNotRegular)
	}
	d := Digest{Info: Info{Size: st.Size(), ModTime: st.ModTime()}}
	return d, d.fill(f, shape)
}

// open never waits (for a FIFO's writer) and leaves the access time alone where
// the file is ours.
func open(path string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	f, err := os.OpenFile(path, flags|unix.O_NOATIME, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.OpenFile(path, flags, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	return f, nil
}

var windows = sync.Pool{New: func() any { return new([Window]byte) }}

// fill asks the tail first: it answers most of the time, since CLIs repeat
// their titles. Only for what it does not know is the head read.
func (d *Digest) fill(f io.ReaderAt, s shape) error {
	buf := windows.Get().(*[Window]byte)
	defer windows.Put(buf)
	start := max(0, d.Size-Window)
	window, err := readWindow(f, buf[:], start)
	if err != nil {
		return err
	}
	lines := linesOf(window, start == 0)
	d.Activity, d.Interrupted = s.last(lines)
	if d.Title = s.lateTitle(lines); d.Title != "" {
		return nil
	}
	if start > 0 {
		if window, err = readWindow(f, buf[:], 0); err != nil {
			return err
		}
		lines = linesOf(window, true)
		d.Title = s.lateTitle(lines)
	}
	if d.Title == "" {
		d.Title = s.firstPrompt(lines)
	}
	return nil
}

func readWindow(f io.ReaderAt, buf []byte, at int64) ([]byte, error) {
	n, err := f.ReadAt(buf, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	return buf[:n], nil
}
