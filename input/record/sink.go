package record

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/perfdata"
)

// A sink writes the records of a recording, counts them, and collects the names of the mapped
// files.
type sink struct {
	writer *perfdata.Writer
	report *Report
	files  map[perfdata.BuildID]bool // files with mapped code, by path and build ID
	builds map[string]string         // build IDs by path
}

func newSink(w *perfdata.Writer) *sink {
	return &sink{writer: w, report: new(Report), files: make(map[perfdata.BuildID]bool), builds: make(map[string]string)}
}

// take writes a record that the kernel or a tracer has encoded, and adds it to the counts.
func (s *sink) take(record []byte) error {
	decoded, err := s.writer.Copy(record)
	switch r := decoded.(type) {
	case *perfdata.Sample:
		s.report.Samples++
		if len(r.Branches) > 0 {
			s.report.Stacks++
		}
	case *perfdata.Lost:
		s.report.Lost += r.Count
	case *perfdata.Throttle:
		s.report.Throttled++
	case *perfdata.Mmap:
		s.note(r)
	}
	return err
}

// add writes a record that this package has created.
func (s *sink) add(record perfdata.Record) error {
	if m, ok := record.(*perfdata.Mmap); ok {
		s.note(m)
	}
	return s.writer.Write(record)
}

func (s *sink) note(m *perfdata.Mmap) {
	if m.Executable {
		s.files[perfdata.BuildID{Path: m.Path, ID: m.BuildID}] = true
	}
}

// drain writes all records that are in the given ring buffers to the recording.
func (s *sink) drain(rings []*ring) error {
	for _, r := range rings {
		if err := r.drain(s.take); err != nil {
			return err
		}
	}
	return nil
}

// round writes the records in all ring buffers, and then a record that marks the end of this round.
// perf.data needs such marks to sort records by time: see perfdata.Reader.Ordered.
func (s *sink) round(rings []*ring) error {
	if err := s.drain(rings); err != nil {
		return err
	}
	return s.writer.FinishRound()
}

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

// next returns the next record in the ring buffer. left is the number of bytes in the buffer that
// the kernel has written and that [ring.drain] has not read yet.
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
