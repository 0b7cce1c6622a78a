package host

import "bytes"

// ring keeps the last output, for a terminal that attaches when there is no mirror.
type ring struct{ bytes []byte }

// ringBytes is how much of it is kept at least; up to twice that before the oldest is dropped.
const ringBytes = 1 << 20

func (r *ring) add(b []byte) {
	r.bytes = append(r.bytes, b...)
	if len(r.bytes) > 2*ringBytes {
		r.bytes = append(r.bytes[:0], r.bytes[len(r.bytes)-ringBytes:]...)
	}
}

// last is what is kept, from the beginning of a line where the beginning is lost.
func (r *ring) last() []byte {
	if len(r.bytes) < ringBytes {
		return r.bytes
	}
	last := r.bytes[len(r.bytes)-ringBytes:]
	if i := bytes.IndexByte(last, '\n'); i >= 0 {
		return last[i+1:]
	}
	return last
}

// screenful is the last rows lines of what is kept.
func (r *ring) screenful(rows int) []byte {
	last := r.last()
	start := len(last)
	for ; rows > 0 && start > 0; rows-- {
		start = max(0, bytes.LastIndexByte(last[:start-1], '\n')+1)
	}
	return last[start:]
}
