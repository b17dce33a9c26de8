package steps

import (
	"io"
	"sync"
)

// Limits of an outbox, in bytes. The tracer starts no burst while more than outboxPause bytes wait,
// and drops records beyond outboxLimit. It must never wait for the reader of the records, because
// traced threads wait for the tracer.
const (
	outboxPause = 1 << 20
	outboxLimit = 8 << 20
)

// An outbox holds records until a goroutine has written them to the caller's pipe.
type outbox struct {
	mu      sync.Mutex
	filled  sync.Cond
	waiting []byte
	limit   int // bytes that may wait
	closed  bool
	failed  bool // the reader is gone
	dropped uint64
	done    chan struct{}
}

func newOutbox(to io.Writer) *outbox {
	o := &outbox{limit: outboxLimit, done: make(chan struct{})}
	o.filled.L = &o.mu
	go o.write(to)
	return o
}

// Write adds records to the outbox. b consists of whole records. Write never blocks, and never
// fails.
func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.failed:
	case len(o.waiting)+len(b) > o.limit:
		o.dropped++
	default:
		o.waiting = append(o.waiting, b...)
		o.filled.Signal()
	}
	return len(b), nil
}

// isFull reports whether more than outboxPause bytes wait to be written. The tracer starts no burst
// then.
func (o *outbox) isFull() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) > outboxPause
}

// finish returns how many records the outbox has dropped because it was full. It makes room for one
// more record, which the caller writes to report this number.
func (o *outbox) finish() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limit += outboxPause
	return o.dropped
}

// close announces that no more records follow. The channel done is closed once all have been
// written.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.filled.Signal()
	o.mu.Unlock()
}

func (o *outbox) write(to io.Writer) {
	defer close(o.done)
	var batch []byte
	for {
		o.mu.Lock()
		for len(o.waiting) == 0 && !o.closed {
			o.filled.Wait()
		}
		batch, o.waiting = o.waiting, batch[:0]
		o.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		if _, err := to.Write(batch); err != nil {
			o.mu.Lock()
			o.failed = true
			o.mu.Unlock()
			return
		}
	}
}
