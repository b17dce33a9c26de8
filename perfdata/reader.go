package perfdata

import (
	"io"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo"
)

const (
	recordHeader = 8
	unlimited    = math.MaxUint64 // records up to the end of the input
)

// Types of records, in linux/perf_event.h and in perf's event.h.
const (
	typeMmap          = 1
	typeComm          = 3
	typeExit          = 4
	typeFork          = 7
	typeSample        = 9
	typeMmap2         = 10
	typeHeaderAttr    = 64
	typeHeaderBuildID = 67
	typeFinishedRound = 68
	typeAuxtrace      = 71
	typeCompressed    = 81
	typeCompressed2   = 83
)

// A Reader yields the records of a perf.data. It must not be used by several goroutines at once.
type Reader struct {
	stream   *stream
	left     uint64 // bytes of records that stream still has
	big      bool
	table    eventTable
	buildIDs []BuildID

	inflate *inflater // of compressed records, from the first one on

	sample Sample // scratch: what is yielded
	mmap   Mmap
	comm   Comm
	fork   Fork
	exit   Exit
	intern map[string]string // paths and names, of which there are few
}

// NewReader opens a recording. It reads what comes before the records; in file mode it also reads
// the build IDs, which come after them. For that it seeks if src is an [io.ReaderAt] and
// [io.Seeker], such as a file. Other sources of a recording in file mode are read into memory; in
// pipe mode nothing is.
//
// Errors are those of src, and [FormatError].
func NewReader(src io.Reader) (*Reader, error) {
	r := &Reader{intern: make(map[string]string)}
	if err := r.open(src); err != nil {
		return nil, err
	}
	return r, nil
}

// Events returns the recorded events, in the order of the file. In pipe mode it is complete once
// all records have been read. The caller must not change it.
func (r *Reader) Events() []*Event { return r.table.events }

// BuildIDs returns the files of the recording whose build IDs perf has stored. In pipe mode it is
// complete once all records have been read.
func (r *Reader) BuildIDs() []BuildID { return slices.Clone(r.buildIDs) }

// Records yields the records in the order of the file, which is that of time only within one
// processor. It can be used once. An error is the last element. Nothing is allocated for a sample.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		defer r.stop()
		for {
			raw, err := r.next()
			if err == io.EOF {
				return
			}
			var record Record
			if err == nil {
				record, err = r.decode(raw)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if record != nil && !yield(record, nil) {
				return
			}
		}
	}
}

// A rawRecord is a record as it stands in the file.
type rawRecord struct {
	kind   uint32
	misc   uint16
	data   []byte // after the header
	offset int64
}

// next returns the next record, io.EOF at the end. Records that bring others are gone through.
func (r *Reader) next() (rawRecord, error) {
	for {
		if r.inflate != nil {
			if raw, ok, err := r.inflate.next(r.big); ok || err != nil {
				return raw, err
			}
		}
		raw, err := r.nextStored()
		if err != nil {
			return raw, err
		}
		switch raw.kind {
		case typeCompressed, typeCompressed2:
			err = r.decompress(raw)
		case typeAuxtrace:
			err = r.skipAuxtrace(raw)
		case typeHeaderAttr:
			err = r.addAttr(raw)
		case typeHeaderBuildID:
			err = r.addBuildID(raw.data, raw.misc, raw.offset)
		default:
			return raw, nil
		}
		if err != nil {
			return raw, err
		}
	}
}

// nextStored returns the next record as the file has it.
func (r *Reader) nextStored() (rawRecord, error) {
	s := r.stream
	at := s.offset
	if r.left == 0 {
		return rawRecord{}, r.finish(at)
	}
	head := s.peek(int(min(recordHeader, r.left)))
	if err := s.failure(); err != nil {
		return rawRecord{}, err
	}
	if len(head) == 0 && r.left == unlimited {
		return rawRecord{}, r.finish(at)
	}
	c := cursor{b: head, big: r.big}
	kind, misc, size := c.u32(), c.u16(), int(c.u16())
	if c.short {
		return rawRecord{}, fault(at, afdo.ErrTruncated, "a record of %d bytes, less than its header", len(head))
	}
	if size < recordHeader {
		return rawRecord{}, fault(at+6, ErrRecord, "a record of %d bytes, less than its header", size)
	}
	if uint64(size) > r.left {
		return rawRecord{}, fault(at+6, ErrRecord, "a record of %d bytes, where %d are left", size, r.left)
	}
	data := s.peek(size)
	if err := s.failure(); err != nil {
		return rawRecord{}, err
	}
	if len(data) < size {
		return rawRecord{}, fault(at, afdo.ErrTruncated, "a record of %d bytes, where %d are left", size, len(data))
	}
	s.consume(size)
	r.took(uint64(size))
	return rawRecord{kind, misc, data[recordHeader:], at}, nil
}

// took notes that n bytes of the records are gone.
func (r *Reader) took(n uint64) {
	if r.left != unlimited {
		r.left -= n
	}
}

// stop ends what runs beside the reader.
func (r *Reader) stop() {
	if r.inflate != nil {
		r.inflate.stop()
	}
}

// finish returns io.EOF if the records may end here.
func (r *Reader) finish(at int64) error {
	if len(r.table.events) == 0 {
		return fault(at, afdo.ErrTruncated, "the recording ends without having described an event")
	}
	if r.inflate != nil {
		return r.inflate.finish(at)
	}
	return io.EOF
}

// skipAuxtrace skips what follows a record of trace data.
func (r *Reader) skipAuxtrace(raw rawRecord) error {
	c := cursor{b: raw.data, big: r.big}
	size := c.u64()
	if c.short || size > r.left {
		return fault(raw.offset, ErrRecord, "trace data of %d bytes, where %d are left", size, r.left)
	}
	if got := r.stream.skip(size); got < size {
		if err := r.stream.failure(); err != nil {
			return err
		}
		return fault(raw.offset, afdo.ErrTruncated, "trace data of %d bytes, where %d are left", size, got)
	}
	r.took(size)
	return nil
}

// addAttr reads an event that pipe mode describes.
func (r *Reader) addAttr(raw rawRecord) error {
	c := cursor{b: raw.data, big: r.big}
	e := parseAttr(&c)
	if c.short || len(c.b)%8 != 0 {
		return fault(raw.offset, ErrRecord, "the description of an event does not fit its %d bytes", len(raw.data))
	}
	if len(r.table.events) == maxEvents {
		return fault(raw.offset, afdo.ErrLimit, "more than %d events", maxEvents)
	}
	e.IDs = readIDs(&c)
	r.table.add(e)
	return nil
}
