package perfdata

import (
	"io"

	"github.com/go-afdo/afdo/internal/fault"
)

// A rawRecord is a record of perf.data of which only the header has been decoded: its type, the
// field misc and the size.
type rawRecord struct {
	kind   uint32
	misc   uint16
	feed   uint16 // index of the file that contains the record
	data   []byte // contents after the header
	offset int64
}

// A feed reads the records of one file of a recording. A recording that is a folder has several
// feeds: one for the file "data", and one for each processor.
type feed struct {
	r       *Reader
	index   uint16
	name    string // file name in the folder; "" if there is no folder
	stream  *stream
	left    uint64    // bytes of records left in stream
	inflate *inflater // decompressor; nil before the first compressed record

	ahead rawRecord // the next record, which merge has read and not returned yet
	time  uint64    // time of ahead, 0 if it has none
}

// addFeed adds a feed for a file of the recording. s reads the file, and size is the number of
// bytes of its records.
func (r *Reader) addFeed(name string, s *stream, size uint64) {
	r.feeds = append(r.feeds, &feed{r: r, index: uint16(len(r.feeds)), name: name, stream: s, left: size})
}

// next returns the next record of the file that is meant for users of this package, or io.EOF at
// the end. It handles all other records itself: it decompresses compressed records, skips the data
// of processor traces, and stores the descriptions of events.
func (f *feed) next() (rawRecord, error) {
	for {
		if f.inflate != nil {
			if raw, ok, err := f.inflate.next(f.r.big); ok || err != nil {
				raw.feed = f.index
				return raw, err
			}
		}
		raw, err := f.nextStored()
		if err != nil {
			return raw, err
		}
		switch raw.kind {
		case typeCompressed, typeCompressed2:
			err = f.decompress(raw)
		case typeAuxtraceInfo:
			f.r.noteTrace(raw)
		case typeAuxtrace:
			if f.r.trace == NoTrace {
				f.r.trace = OtherTrace
			}
			err = f.skipAuxtrace(raw)
		case typeHeaderAttr:
			err = f.r.addAttr(raw)
		case typeHeaderBuildID:
			err = f.r.addBuildID(raw.data, raw.misc, raw.offset)
		case typeEventUpdate:
			f.r.updateEvent(raw)
		case typeHeaderFeature:
			f.r.addFeature(raw)
		default:
			return raw, nil
		}
		if err != nil {
			return raw, err
		}
	}
}

// nextStored returns the next record in the form that it has in the file, without decompressing it.
// It may be a compressed record.
func (f *feed) nextStored() (rawRecord, error) {
	s := f.stream
	at := s.offset
	if f.left == 0 {
		return rawRecord{}, f.finish(at)
	}
	head := s.peek(int(min(recordHeader, f.left)))
	if err := s.failure(); err != nil {
		return rawRecord{}, err
	}
	if len(head) == 0 && f.left == unlimited {
		return rawRecord{}, f.finish(at)
	}
	if f.left == unlimited && IsMagic(head) {
		return rawRecord{}, secondRecording(at)
	}
	c := newCursor(head, f.r.big)
	kind, misc, size := c.Uint32(field), c.Uint16(field), int(c.Uint16(field))
	if c.Err != nil {
		return rawRecord{}, faultAt(at, fault.ErrTruncated, "a record of %d bytes, less than its header", len(head))
	}
	if size < recordHeader {
		return rawRecord{}, faultAt(at+6, ErrRecord, "a record of %d bytes, less than its header", size)
	}
	if kind >= typeSimpleperf {
		size |= int(misc) << 16
	}
	if uint64(size) > f.left {
		return rawRecord{}, faultAt(at+6, ErrRecord, "a record of %d bytes, where %d are left", size, f.left)
	}
	if kind >= typeSimpleperf {
		return rawRecord{kind: kind, feed: f.index, offset: at}, f.skip(at, uint64(size), "a record")
	}
	data := s.peek(size)
	if err := s.failure(); err != nil {
		return rawRecord{}, err
	}
	if len(data) < size {
		return rawRecord{}, faultAt(at, fault.ErrTruncated, "a record of %d bytes, where %d are left", size, len(data))
	}
	f.took(s.skip(uint64(size)))
	return rawRecord{kind, misc, f.index, data[recordHeader:], at}, nil
}

// skip skips size bytes of the file, such as the data of a processor trace, which may be longer
// than any record. If the file ends before, the error says that what, a text, is incomplete, and
// has the offset at.
func (f *feed) skip(at int64, size uint64, what string) error {
	got := f.stream.skip(size)
	f.took(got)
	if got == size {
		return nil
	}
	if err := f.stream.failure(); err != nil {
		return err
	}
	return faultAt(at, fault.ErrTruncated, "%s of %d bytes, where %d are left", what, size, got)
}

// took subtracts n from the number of bytes of records that are left in the file, after these bytes
// have been read.
func (f *feed) took(n uint64) {
	if f.left != unlimited {
		f.left -= n
	}
}

// finish is called when all records of the file have been read. It returns io.EOF, or an error at
// the offset at if the recording is incomplete: it has described no event, or its compressed data
// end within a record.
func (f *feed) finish(at int64) error {
	if len(f.r.table.events) == 0 {
		return faultAt(at, fault.ErrTruncated, "the recording ends without having described an event")
	}
	if f.inflate != nil {
		return f.inflate.finish(at)
	}
	return io.EOF
}

// stop ends the decompression of the file's compressed records and frees its memory.
func (f *feed) stop() {
	if f.inflate != nil {
		f.inflate.stop()
	}
}

// skipAuxtrace skips the data of a processor trace, which follows the record raw.
func (f *feed) skipAuxtrace(raw rawRecord) error {
	c := newCursor(raw.data, f.r.big)
	size := c.Uint64(field)
	if c.Err != nil || size > f.left {
		return faultAt(raw.offset, ErrRecord, "trace data of %d bytes, where %d are left", size, f.left)
	}
	return f.skip(raw.offset, size, "trace data")
}
