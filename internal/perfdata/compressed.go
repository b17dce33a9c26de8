package perfdata

import (
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"github.com/go-afdo/afdo/internal/fault"
)

// Compressed records together hold one zstd stream. A record in the stream may begin in one
// compressed record and end in the next. Other records may come between compressed ones, and order
// matters, so each compressed record has to be decompressed as far as possible before the next
// record is read. Therefore the decompressor runs as a coroutine, which yields either data or a
// request for more input.

const (
	// Decompression fails if the output exceeds maxFree plus maxRatio times the input. Samples
	// typically compress to a tenth.
	maxRatio = 1 << 10
	maxFree  = 64 << 20

	maxWindow = 32 << 20 // window of zstd in bytes, enough for levels up to 20; perf uses level 1 by default
)

// An inflater decompresses the content of the compressed records of a perf.data file, which
// together are one zstd stream. The decompressed data are again records, which may begin in one
// compressed record and end in the next.
type inflater struct {
	resume func() (chunk []byte, ok bool) // returns the next data, or nil if more input is needed
	stop   func()
	input  []byte // content of the latest compressed record
	unread []byte // part of input that has not been decompressed
	err    error  // error of the decompressor

	out     []byte // decompressed data
	start   int    // start of the data in out that has not been consumed
	offset  int64  // offset of the latest compressed record
	in, got uint64 // total bytes of input and output so far
}

func newInflater() *inflater {
	f := new(inflater)
	f.resume, f.stop = iter.Pull(f.run)
	return f
}

// run decompresses the stream until its end. It calls yield with each chunk of decompressed data.
// It calls yield with nil if it needs the content of the next compressed record to continue.
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

// decompress gives the content of a compressed record to the decompressor of the file.
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

// take gives the inflater the content of the next compressed record, which is at an offset of the
// file.
func (f *inflater) take(data []byte, offset int64) {
	f.input, f.offset = append(f.input[:0], data...), offset
	f.unread = f.input
	f.in += uint64(len(data))
}

// inflateChunk decompresses the next chunk of data and adds it to f.out. It returns false if the
// inflater first needs the content of the next compressed record.
func (f *inflater) inflateChunk() (bool, error) {
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

// failure converts the error of the decompressor to an afdo.FormatError.
func (f *inflater) failure() error {
	if errors.Is(f.err, zstd.ErrWindowSizeExceeded) {
		return faultAt(f.offset, fault.ErrLimit, "compressed at a level that takes more than %d MB of memory; record with -z and no level", maxWindow>>20)
	}
	return faultAt(f.offset, fault.ErrCompressed, "%v", f.err)
}

// next returns the next record in the decompressed data. It returns false if the inflater first
// needs the content of the next compressed record.
func (f *inflater) next(big bool) (rawRecord, bool, error) {
	for {
		raw, ok, err := f.buffered(big)
		if ok || err != nil {
			return raw, ok, err
		}
		if more, err := f.inflateChunk(); !more {
			return rawRecord{}, false, err
		}
	}
}

// buffered returns the next record in f.out, the data that were already decompressed. It returns
// false if they do not contain a whole record.
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

// finish checks at the end of the recording that the decompressed data do not end within a record.
// It returns io.EOF if they do not, and otherwise an error at the offset at, where the recording
// ends.
func (f *inflater) finish(at int64) error {
	if left := len(f.out) - f.start; left > 0 {
		return faultAt(at, fault.ErrTruncated, "compressed data ends within a record, after %d bytes", left)
	}
	return io.EOF
}
