package record

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// A ring is a ring buffer into which the kernel writes records. head and tail count bytes from the
// beginning of the recording. The size of data is a power of two.
type ring struct {
	head  *atomic.Uint64 // written by the kernel
	tail  *atomic.Uint64 // written by drain
	data  []byte
	read  uint64 // own copy of tail, since the shared one is not trusted
	whole []byte // buffer for a record that wraps around
}

const recordHeader = 8

// drain passes all records in the ring buffer to use and frees their space. A record is valid until
// use returns.
func (r *ring) drain(use func(record []byte) error) error {
	head := r.head.Load()
	if head-r.read > uint64(len(r.data)) {
		return fmt.Errorf("record: %w: %d unread bytes in a buffer of %d bytes", errRing, head-r.read, len(r.data))
	}
	for r.read != head {
		record, err := r.next(head - r.read)
		if err != nil {
			return err
		}
		if err := use(record); err != nil {
			return err
		}
		r.read += uint64(len(record))
	}
	r.tail.Store(r.read)
	return nil
}

// next returns the next record in the ring buffer. left is the number of bytes that the kernel has
// written and drain has not read.
func (r *ring) next(left uint64) ([]byte, error) {
	if left < recordHeader {
		return nil, fmt.Errorf("record: %w: it ends in a record of %d bytes", errRing, left)
	}
	size := uint64(binary.NativeEndian.Uint16(r.piece(recordHeader)[6:]))
	if size < recordHeader || size > left {
		return nil, fmt.Errorf("record: %w: a record of %d bytes, where %d are left", errRing, size, left)
	}
	return r.piece(size), nil
}

// piece returns the next n bytes of the ring buffer. It copies them if they continue at the
// beginning of the buffer.
func (r *ring) piece(n uint64) []byte {
	at := r.read & uint64(len(r.data)-1)
	if at+n <= uint64(len(r.data)) {
		return r.data[at : at+n]
	}
	r.whole = append(append(r.whole[:0], r.data[at:]...), r.data[:at+n-uint64(len(r.data))]...)
	return r.whole
}
