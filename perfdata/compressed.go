package perfdata

import (
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/go-afdo/afdo/internal/fault"
)

// Compressed records hold one zstd stream between them, in which one record may begin what the next
// one ends. Other records stand between them and have their place in the order, so each compressed
// record must give all it can before the next is read: the decompressor runs as a coroutine, which
// comes back with either data or hunger.

const (
	// Decompression stops where the data is more than maxRatio times as long as what it came from:
	// samples shrink to a tenth or so.
	maxRatio = 1 << 10
	maxFree  = 64 << 20

	maxWindow = 32 << 20 // of zstd: enough for levels up to 20. perf takes 1 if it is not told
)

// An inflater decompresses a stream of compressed records.
type inflater struct {
	resume func() (chunk []byte, ok bool) // next data, nil if more input is needed
	stop   func()
	input  []byte // of the record that was met last
	unread []byte // what the decompressor has not read of it
	err    error  // of the decompressor

	out     []byte // decompressed and not consumed
	start   int    // of what is not consumed
	offset  int64  // of the record that was decompressed last
	in, got uint64 // bytes so far
}

func newInflater() *inflater {
	f := new(inflater)
	f.resume, f.stop = iter.Pull(f.run)
	return f
}

// run decompresses. It yields chunks of data, and nil when there is no more input.
func (f *inflater) run(yield func([]byte) bool) {
	d, err := zstd.NewReader(readFunc(func(p []byte) (int, error) {
		for len(f.unread) == 0 {
			if !yield(nil) {
				return 0, io.EOF
			}
		}
		n := copy(p, f.unread)
		f.unread = f.unread[n:]
		return n, nil
	}), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		f.err = err
		return
	}
	defer d.Close()
	_, f.err = d.WriteTo(writeFunc(func(p []byte) (int, error) {
		if !yield(p) {
			return 0, io.ErrClosedPipe
		}
		return len(p), nil
	}))
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// decompress takes a compressed record.
func (f *feed) decompress(raw rawRecord) error {
	data := raw.data
	if raw.kind == typeCompressed2 {
		c := newCursor(data, f.r.big)
		size := c.Uint64(field)
		if c.Err != nil || size > uint64(c.Rest()) {
			return faultAt(raw.offset, fault.ErrCount, "a compressed record of %d bytes with %d bytes of data", recordHeader+len(data), size)
		}
		data = c.left()[:size]
	}
	if f.inflate == nil {
		f.inflate = newInflater()
	}
	f.inflate.take(data, raw.offset)
	return nil
}

// take takes the content of a compressed record.
func (f *inflater) take(data []byte, offset int64) {
	f.input, f.offset = append(f.input[:0], data...), offset
	f.unread = f.input
	f.in += uint64(len(data))
}

// more decompresses a piece. It is false if that needs more input.
func (f *inflater) more() (bool, error) {
	chunk, ok := f.resume()
	if !ok {
		return false, f.failure()
	}
	if f.got += uint64(len(chunk)); f.got > maxFree+maxRatio*f.in {
		return false, faultAt(f.offset, fault.ErrLimit, "%d compressed bytes give more than %d", f.in, f.got)
	}
	f.out = append(append(f.out[:0], f.out[f.start:]...), chunk...)
	f.start = 0
	return chunk != nil, nil
}

// failure returns the error of the decompressor.
func (f *inflater) failure() error {
	if errors.Is(f.err, zstd.ErrWindowSizeExceeded) {
		return faultAt(f.offset, fault.ErrLimit, "compressed at a level that takes more than %d MB of memory; record with -z and no level", maxWindow>>20)
	}
	return faultAt(f.offset, fault.ErrCompressed, "%v", f.err)
}

// next returns the next record of the decompressed data, if there is a whole one.
func (f *inflater) next(big bool) (rawRecord, bool, error) {
	for {
		raw, ok, err := f.buffered(big)
		if ok || err != nil {
			return raw, ok, err
		}
		if more, err := f.more(); !more {
			return rawRecord{}, false, err
		}
	}
}

// buffered returns the next record of what is decompressed already.
func (f *inflater) buffered(big bool) (rawRecord, bool, error) {
	left := f.out[f.start:]
	if len(left) < recordHeader {
		return rawRecord{}, false, nil
	}
	c := newCursor(left, big)
	kind, misc, size := c.Uint32(field), c.Uint16(field), int(c.Uint16(field))
	if size < recordHeader {
		return rawRecord{}, false, faultAt(f.offset, ErrRecord, "a record of %d bytes in compressed data, less than its header", size)
	}
	switch kind {
	case typeCompressed, typeCompressed2, typeAuxtrace, typeHeaderAttr, typeHeaderBuildID:
		return rawRecord{}, false, faultAt(f.offset, ErrRecord, "a record of type %d in compressed data", kind)
	}
	if len(left) < size {
		return rawRecord{}, false, nil
	}
	f.start += size
	return rawRecord{kind: kind, misc: misc, data: left[recordHeader:size], offset: f.offset}, true, nil
}

// finish returns io.EOF if the data may end here.
func (f *inflater) finish(at int64) error {
	if left := len(f.out) - f.start; left > 0 {
		return faultAt(at, fault.ErrTruncated, "compressed data ends within a record, after %d bytes", left)
	}
	return io.EOF
}
