package perfdata

import (
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
	unlimited    = math.MaxUint64 // records up to the end of the input
)

// Types of records, in linux/perf_event.h and in perf's event.h.
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
	typeCompressed    = 81
	typeCompressed2   = 83
	typeSimpleperf    = 32768 // and above: Android's simpleperf
)

// A Reader yields the records of a perf.data. It must not be used by several goroutines at once.
type Reader struct {
	big      bool
	table    eventTable
	buildIDs []BuildID
	feeds    []*feed // files that have records: one, but for a folder
	merge    merge   // of several feeds
	layout   uint64  // what the header says of the folder that the file is in
	closes   []io.Closer
	watches  []files.Watch // all files

	sample Sample // scratch: what is yielded
	mmap   Mmap
	comm   Comm
	fork   Fork
	exit   Exit
	trace  Trace
	lost   Lost
	slow   Throttle
	intern map[string]string // paths and names, of which there are few
}

// NewReader opens a recording. It reads what comes before the records; in file mode it also reads
// the build IDs, which come after them. For that it seeks if src is an [io.ReaderAt] and
// [io.Seeker], such as a file. Other sources of a recording in file mode are read into memory; in
// pipe mode nothing is.
//
// Errors are those of src, afdo.FormatError, and afdo.ErrChanged if src is a file that was
// written to since.
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

// Close closes the files that [OpenFolder] has opened. What [NewReader] was given stays open.
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

// Events returns the recorded events, in the order of the file. In pipe mode it is complete once
// all records have been read. The caller must not change it.
func (r *Reader) Events() []*Event { return r.table.events }

// BuildIDs returns the files of the recording whose build IDs perf has stored. In pipe mode it is
// complete once all records have been read.
func (r *Reader) BuildIDs() []BuildID { return slices.Clone(r.buildIDs) }

// Records yields the records in the order of the file, which is that of time only within one
// processor. From a folder it takes the oldest of what comes next in each file. It can be used
// once. An error is the last element. Nothing is allocated for a sample.
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

// unlessChanged returns an error, that of a file that was written to if one was.
func (r *Reader) unlessChanged(err error) error {
	for _, w := range r.watches {
		if w.Changed() {
			return fmt.Errorf("perfdata: %w", fault.ErrChanged)
		}
	}
	return err
}

// next returns the next record of all files, io.EOF at the end.
func (r *Reader) next() (rawRecord, error) {
	if len(r.feeds) == 1 {
		return r.feeds[0].next()
	}
	return r.merge.next(r.feeds)
}

// stop ends what runs beside the reader.
func (r *Reader) stop() {
	for _, f := range r.feeds {
		f.stop()
	}
}

// addAttr reads an event that pipe mode describes.
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
