package host

// outbox is a queue of frames for one client.
type outbox struct {
	frames [][]byte
	sent   int // of the first
	size   int // bytes that wait
}

func (o *outbox) add(frame []byte) {
	o.frames = append(o.frames, append([]byte(nil), frame...))
	o.size += len(frame)
}

// addRest queues a frame of which sent bytes are written already.
func (o *outbox) addRest(frame []byte, sent int) {
	o.add(frame)
	o.wrote(sent)
}

// first is what to write next.
func (o *outbox) first() []byte { return o.frames[0][o.sent:] }

// wrote takes n bytes off the queue.
func (o *outbox) wrote(n int) {
	o.sent += n
	o.size -= n
	for len(o.frames) > 0 && o.sent >= len(o.frames[0]) {
		o.sent -= len(o.frames[0])
		o.frames = o.frames[1:]
	}
}

// drop forgets all but a frame that is under way.
func (o *outbox) drop() {
	keep := 0
	if o.sent > 0 {
		keep = 1
	}
	for _, frame := range o.frames[keep:] {
		o.size -= len(frame)
	}
	o.frames = o.frames[:keep]
}
