package perfdata

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/files"
)

const (
	recordHeader = 8
	unlimited    = math.MaxUint64 // records extend to the end of the input
)

// Types of records, from linux/perf_event.h and perf's event.h.
const (
	typeMmap          = 1
	typeLost          = 2
	typeComm          = 3
	typeExit          = 4
	typeThrottle      = 5
	typeFork          = 7
	typeSample        = 9
	typeMmap2         = 10
	typeLostSamples   = 13
	typeHeaderAttr    = 64
	typeHeaderBuildID = 67
	typeFinishedRound = 68
	typeAuxtraceInfo  = 70
	typeAuxtrace      = 71
	typeEventUpdate   = 78
	typeHeaderFeature = 80
	typeCompressed    = 81
	typeCompressed2   = 83
	typeSimpleperf    = 32768 // types from here on belong to Android's simpleperf
)

// A Reader yields the records of a perf.data file. It is not safe for concurrent use.
type Reader struct {
	big      bool
	table    eventTable
	buildIDs []BuildID
	feeds    []*feed // files with records; one unless the recording is a folder
	merge    *merge  // used if there are several feeds
	layout   uint64  // layout of the folder that contains the file
	closes   []io.Closer
	watches  []files.Watch // all files, to detect changes

	sample Sample // the yielded records, reused
	mmap   Mmap
	comm   Comm
	fork   Fork
	exit   Exit
	trace  Trace
	lost   Lost
	slow   Throttle
	intern map[string]string // interned paths and names
}

// NewReader opens a recording. It reads everything before the records and, in file mode, the build
// IDs after them. In file mode, src should be an [io.ReaderAt] and [io.Seeker], such as a file;
// otherwise NewReader reads all of src into memory. In pipe mode it never does.
//
// Errors are those of src, afdo.FormatError, and afdo.ErrChanged if src is a file that is modified
// while it is read.
func NewReader(src io.Reader) (*Reader, error) {
	r := &Reader{intern: make(map[string]string)}
	r.watches = append(r.watches, files.Watching(src))
	if err := r.unlessChanged(r.open(src)); err != nil {
		return nil, err
	}
	if r.layout != layoutOneFile {
		return nil, faultAt(0, fault.ErrHeader, "this is one file of a folder, which has its samples in others: open the folder")
	}
	return r, nil
}

// Close closes the files that [OpenFolder] opened. It does not close the source of [NewReader].
func (r *Reader) Close() error {
	var first error
	for _, c := range r.closes {
		if err := c.Close(); first == nil {
			first = err
		}
	}
	r.closes = nil
	return first
}

// Events returns the recorded events in file order. In pipe mode the list is complete once all
// records have been read. The caller must not change it.
func (r *Reader) Events() []*Event { return r.table.events }

// BuildIDs returns the files whose build IDs perf stored in the recording. In pipe mode the list is
// complete once all records have been read.
func (r *Reader) BuildIDs() []BuildID { return slices.Clone(r.buildIDs) }

// Records iterates over the records in file order, which is chronological only within a processor.
// For a folder, it always takes the oldest of the files' next records. Records can be used once. An
// error is the last element. It allocates nothing per sample.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		defer r.stop()
		for {
			raw, err := r.next()
			var record Record
			if err == nil {
				record, err = r.decode(raw)
			}
			if err != nil {
				if err = r.unlessChanged(err); err != io.EOF {
					yield(nil, err)
				}
				return
			}
			if record != nil && !yield(record, nil) {
				return
			}
		}
	}
}

// unlessChanged returns an error that matches afdo.ErrChanged if a file of the recording has been
// modified since it was opened. Otherwise it returns err, which may be nil.
func (r *Reader) unlessChanged(err error) error {
	for _, w := range r.watches {
		if w.Changed() {
			return fmt.Errorf("perfdata: %w", fault.ErrChanged)
		}
	}
	return err
}

// next returns the next record of the recording, whose files it merges if there are several. At the
// end it returns io.EOF.
func (r *Reader) next() (rawRecord, error) {
	if len(r.feeds) == 1 {
		return r.feeds[0].next()
	}
	if r.merge == nil {
		r.merge = &merge{taken: r.feeds}
	}
	return r.merge.next()
}

// stop ends the decompression of compressed records in all files of the recording.
func (r *Reader) stop() {
	for _, f := range r.feeds {
		f.stop()
	}
}

// addAttr adds an event that a record of pipe mode describes.
func (r *Reader) addAttr(raw rawRecord) error {
	c := newCursor(raw.data, r.big)
	e := parseAttr(&c)
	if c.Err != nil || c.Rest()%8 != 0 {
		return faultAt(raw.offset, ErrRecord, "the description of an event does not fit its %d bytes", len(raw.data))
	}
	if len(r.table.events) == maxEvents {
		return faultAt(raw.offset, fault.ErrLimit, "more than %d events", maxEvents)
	}
	e.IDs = readIDs(c)
	r.table.add(e)
	return nil
}

// Sizes of read buffers. They must be at least the maximum size of a record, 64 KiB.
const (
	bufferSize = 256 << 10
	partBuffer = 64 << 10 // for each file of a folder, of which there is one per processor
)

// A stream reads the bytes of a recording sequentially.
type stream struct {
	*bufio.Reader
	offset int64 // offset in the recording of the next byte
	err    error // error of the input; io.EOF at the end
}

func newStream(r io.Reader, offset int64, size int) *stream {
	return &stream{Reader: bufio.NewReaderSize(r, size), offset: offset}
}

// peek returns the next n bytes without consuming or copying them. It returns fewer bytes at the
// end of the input. The bytes are valid until the next call.
func (s *stream) peek(n int) (b []byte) {
	b, s.err = s.Peek(n)
	return b
}

// skip consumes n bytes. It returns the number of bytes that there were.
func (s *stream) skip(n uint64) uint64 {
	left := n
	for s.err = nil; left > 0 && s.err == nil; {
		var got int
		got, s.err = s.Discard(int(min(left, math.MaxInt32)))
		s.offset += int64(got)
		left -= uint64(got)
	}
	return n - left
}

// failure returns the error of the input, or nil at the end of the input.
func (s *stream) failure() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}
