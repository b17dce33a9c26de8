package instrprof

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-afdo/afdo/format/llvm/internal/hashtable"
	"github.com/go-afdo/afdo/format/llvm/internal/source"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A Reader reads an indexed file lazily. It reads the header, the summaries and the head of the
// hash table when opened, and the rest when needed. All methods may be called concurrently. Results
// stay valid after Close.
type Reader struct {
	src     *source.Source
	header  Header
	summary *Summary
	cs      *Summary
	table   hashtable.Table
}

// firstRead is the number of bytes read at once on opening. LLVM's header and summaries take at
// most 976 bytes. If the summaries need more, longRead bytes are read.
const (
	firstRead = 1024
	longRead  = 64 << 10
)

// Open opens a file with two short reads. Each lookup needs two or three more reads. If the file is
// truncated or modified while it is open, reads return an *afdo.ReadError that wraps
// afdo.ErrChanged. The caller must close the Reader.
//
// Errors are those of the system, *afdo.FormatError and *afdo.VersionError.
func Open(path string) (*Reader, error) {
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(src)
	if err != nil {
		_ = src.Close()
	}
	return r, err
}

// OpenBytes opens a file in memory without copying it. Records are views of data, which must not
// change while the Reader or its results are in use. Errors are *afdo.FormatError and
// *afdo.VersionError.
func OpenBytes(data []byte) (*Reader, error) {
	return newReader(source.OfBytes(data))
}

// NewReader opens a file of size bytes that it reads through src, which must allow concurrent reads
// if the Reader is used concurrently. Close does not close src.
func NewReader(src io.ReaderAt, size int64) (*Reader, error) {
	if size < 0 {
		return nil, fmt.Errorf("instrprof: size %d is negative", size)
	}
	if src == nil {
		return nil, errors.New("instrprof: no reader")
	}
	return newReader(source.Of(src, size))
}

func newReader(src *source.Source) (*Reader, error) {
	r := &Reader{src: src}
	payload, err := r.open(firstRead)
	if errors.Is(err, fault.ErrTruncated) || errors.Is(err, fault.ErrCount) {
		payload, err = r.open(longRead)
	}
	if err != nil {
		return nil, err
	}
	return r, r.openTable(payload)
}

// open reads the header and the summaries, which must lie within the first limit bytes of the file.
// It returns the file offset at which the summaries end.
func (r *Reader) open(limit int64) (end int64, err error) {
	head, err := r.src.View(0, int(min(r.src.Size(), limit)))
	if err != nil {
		return 0, err
	}
	f := &fields{Buffer: decode.Buffer{Data: head, Part: sectionHeader}}
	r.header = f.header(r.src.Size())
	if r.header.Version >= versionSummary && f.Err == nil {
		r.openSummaries(f)
	}
	return int64(f.Pos), f.err()
}

// openSummaries reads the summaries, which lie between the header and the chains of the hash table.
func (r *Reader) openSummaries(f *fields) {
	f.Data = f.Data[:max(min(r.header.HashTable, int64(len(f.Data))), int64(f.Pos))]
	f.Part = sectionSummary
	r.summary = f.summary()
	if r.header.Flags&ContextSensitive != 0 {
		f.Part = sectionCSSummary
		r.cs = f.summary()
	}
}

// Close releases the file without waiting for other calls. Later calls that need to read return
// afdo.ErrClosed, and so does a second Close.
func (r *Reader) Close() error { return r.src.Close() }

// Header returns the header.
func (r *Reader) Header() Header { return r.header }

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return r.src.Size() }

// Summary returns the stored summary of the records that are not context-sensitive, or nil before
// version 4. The caller must not change it.
func (r *Reader) Summary() *Summary { return r.summary }

// CSSummary returns the stored summary of the context-sensitive records, or nil if there is none.
// The caller must not change it.
func (r *Reader) CSSummary() *Summary { return r.cs }

// Summarize computes the summaries of the plain and of the context-sensitive records. cs is nil if
// the file lacks the flag [ContextSensitive]. Then plain, unlike LLVM's summary, includes functions
// whose hash happens to have the bit of context-sensitive records. Summarize reads the file twice
// for each summary.
func (r *Reader) Summarize() (plain, cs *Summary, err error) {
	flags := r.header.Flags
	plain = r.summarize(func(hash uint64) bool { return !flags.contextSensitive(hash) }, &err)
	if flags&ContextSensitive != 0 {
		cs = r.summarize(flags.contextSensitive, &err)
	}
	return plain, cs, err
}

// summarize computes the summary of those records for whose function hash in returns true. If the
// file cannot be read, it sets *fault to the error.
func (r *Reader) summarize(in func(hash uint64) bool, fault *error) *Summary {
	return summarize(func(count func(Counters)) {
		r.walk(true, part{}, func(rec Record, _ uint64, err error) bool {
			if err != nil {
				*fault = err
			} else if in(rec.hash) {
				count(rec.counters)
			}
			return true
		})
	})
}

// NumFunctions returns the number of distinct function names.
func (r *Reader) NumFunctions() int { return int(r.table.NumEntries) }

// Function returns all records with the given name, one for each hash. It reads one bucket of the
// hash table and its chain. If there are no records, it returns afdo.ErrNotFound.
func (r *Reader) Function(name string) ([]Record, error) {
	_, f, err := r.find(NameHash(name), []byte(name))
	if err != nil {
		return nil, err
	}
	var records []Record
	for f.Err == nil && f.Rest() > 0 {
		records = append(records, f.record(r.header.Version, []byte(name)))
	}
	if f.Err != nil {
		return nil, f.err()
	}
	return records, nil
}

// Record returns the record with the given name and hash, or afdo.ErrNotFound. It costs as much as
// [Reader.Function].
func (r *Reader) Record(name string, hash uint64) (Record, error) {
	records, err := r.Function(name)
	if err != nil {
		return Record{}, err
	}
	for _, rec := range records {
		if rec.hash == hash {
			return rec, nil
		}
	}
	return Record{}, fmt.Errorf("instrprof: %s has no record of hash %#x: %w", name, hash, fault.ErrNotFound)
}

// Name returns the name of the function with the given hash, or afdo.ErrNotFound. Value profiles
// and traces contain such hashes. Name costs as much as [Reader.Function].
func (r *Reader) Name(nameHash uint64) (string, error) {
	name, _, err := r.find(nameHash, nil)
	return string(name), err
}

// Records iterates over all records in file order. Records with the same name are adjacent. An
// error ends the iteration, which takes 1 MiB of memory, or none after OpenBytes.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r.walk(false, part{}, func(rec Record, _ uint64, err error) bool { return yield(rec, err) })
	}
}

// walk yields the records of the functions in the given part of the profile, with the hash of each
// function's name. If reuse is set, a record is valid only until the next one.
func (r *Reader) walk(reuse bool, of part, yield func(r Record, nameHash uint64, err error) bool) {
	if err := r.src.Ready(); err != nil {
		yield(Record{}, 0, err)
		return
	}
	var f fields // outside of the loop, to be allocated once
	for e, err := range r.table.Entries(reuse, func(hash uint64, _ []byte) bool { return of.has(hash) }) {
		if err != nil {
			yield(Record{}, 0, err)
			return
		}
		f.open(&e)
		for f.Err == nil && f.Rest() > 0 {
			rec := f.record(r.header.Version, e.Key)
			if f.Err == nil && !yield(rec, e.Hash, nil) {
				return
			}
		}
		if err := f.err(); err != nil {
			yield(Record{}, 0, err)
			return
		}
	}
}
