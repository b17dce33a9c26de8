package instrprof

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/llvm/internal/source"
)

// A Reader reads an indexed file lazily: header, summaries and the head of the hash table when it
// is opened, the rest as it is asked for. All methods may be called from many goroutines. What they
// return stays valid after Close.
type Reader struct {
	src     *source.Source
	header  Header
	summary *Summary
	cs      *Summary
	table   hashTable
	sound   soundness
}

// firstRead is how much of a file is read at once when it is opened: header and summaries of LLVM
// take 976 bytes at most.
const firstRead = 1024

// Open opens a file. It costs two short reads; each lookup costs two or three more. A file that is
// truncated or written to while it is open gives a afdo.ReadError of afdo.ErrChanged. The
// caller closes the Reader.
//
// Errors are those of the system, a afdo.FormatError or a afdo.VersionError.
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

// OpenBytes reads a file that is in memory, without a copy: records are views of data, which must
// not change as long as anything returned is in use.
func OpenBytes(data []byte) (*Reader, error) {
	return newReader(source.OfBytes(data))
}

// NewReader reads a file of size bytes through src, which must allow reads from many goroutines if
// the Reader is used so. Close does not close src.
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
	head, err := src.View(0, int(min(src.Size(), firstRead)))
	if err != nil {
		return nil, err
	}
	if err := r.open(head); err != nil {
		return nil, err
	}
	return r, r.openTable()
}

// open reads header and summaries, which head begins with if it is not too short.
func (r *Reader) open(head []byte) error {
	f := &fields{Buffer: decode.Buffer{Data: head, Part: sectionHeader}}
	r.header = f.header(r.src.Size())
	if r.header.Version >= versionSummary && f.Err == nil {
		if err := r.openSummaries(f); err != nil {
			return err
		}
	}
	r.table.payload = int64(f.Pos)
	return f.err()
}

// openSummaries reads the summaries, which stand between header and payload.
func (r *Reader) openSummaries(f *fields) error {
	if r.header.HashTable > int64(len(f.Data)) {
		head, err := r.longerHead(f)
		if err != nil {
			return err
		}
		f.Data = head
	} else {
		f.Data = f.Data[:max(r.header.HashTable, int64(f.Pos))]
	}
	f.Part = sectionSummary
	r.summary = f.summary()
	if r.header.Flags&ContextSensitive != 0 {
		f.Part = sectionCSSummary
		r.cs = f.summary()
	}
	return nil
}

// longerHead returns as much of the file as the summaries take according to the numbers that they
// begin with.
func (r *Reader) longerHead(f *fields) ([]byte, error) {
	end := r.header.HashTable
	need := uint64(f.Pos)
	for range 2 {
		if need+16 > uint64(end) {
			break
		}
		counts := f.Data[min(need, uint64(len(f.Data))):]
		if len(counts) < 16 {
			var err error
			if counts, err = r.src.View(int64(need), 16); err != nil {
				return nil, err
			}
		}
		left := (uint64(end) - need) / 8
		numFields, numEntries := get64(counts, false), get64(counts[8:], false)
		if numFields > left || numEntries > left {
			break // summary says so
		}
		need += 16 + 8*numFields + summaryEntrySize*numEntries
		if r.header.Flags&ContextSensitive == 0 {
			break
		}
	}
	if need <= uint64(len(f.Data)) {
		return f.Data, nil
	}
	return r.src.View(0, int(min(need, uint64(end))))
}

// Close releases the file. It waits for no other call; calls that read and come later return
// afdo.ErrClosed, a second Close among them.
func (r *Reader) Close() error { return r.src.Close() }

// Header returns the header.
func (r *Reader) Header() Header { return r.header }

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return r.src.Size() }

// Summary returns the summary of the records that are not context-sensitive as the file has it, or
// nil before version 4. It must not be changed.
func (r *Reader) Summary() *Summary { return r.summary }

// CSSummary returns the summary of the context-sensitive records, or nil if the file has none. It
// must not be changed.
func (r *Reader) CSSummary() *Summary { return r.cs }

// Summarize adds up the counters of all records, for a summary of those that are not
// context-sensitive and for one of the others, nil if the file has none. Other than the summary
// that LLVM writes, it counts the functions of front ends whose hash has the bit by which
// context-sensitive records are told. It takes one pass over the file, or two if there are many
// counters.
func (r *Reader) Summarize() (plain, cs *Summary, err error) {
	flags := r.header.Flags
	plain = r.summarize(func(hash uint64) bool { return !flags.contextSensitive(hash) }, &err)
	if flags&ContextSensitive != 0 {
		cs = r.summarize(flags.contextSensitive, &err)
	}
	return plain, cs, err
}

// summarize adds up the counters of the records whose hashes are in a summary.
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

// NumFunctions returns the number of function names.
func (r *Reader) NumFunctions() int { return int(r.table.Entries) }

// Function returns all records of a name, as many as it has hashes. It reads a bucket of the hash
// table and its chain. Without any the error is afdo.ErrNotFound.
func (r *Reader) Function(name string) ([]Record, error) {
	f, err := r.lookup(name)
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

// Record returns the record of a name and a hash. See [Reader.Function].
func (r *Reader) Record(name string, hash uint64) (Record, error) {
	f, err := r.lookup(name)
	if err != nil {
		return Record{}, err
	}
	for f.Err == nil && f.Rest() > 0 {
		if rec := f.record(r.header.Version, []byte(name)); f.Err == nil && rec.hash == hash {
			return rec, nil
		}
	}
	if f.Err != nil {
		return Record{}, f.err()
	}
	return Record{}, fmt.Errorf("instrprof: %s has no record of hash %#x: %w", name, hash, fault.ErrNotFound)
}

// Name returns the name of a function by its hash, as value profiles and traces have it, or
// afdo.ErrNotFound. It costs what [Reader.Function] costs.
func (r *Reader) Name(nameHash uint64) (string, error) {
	_, name, err := r.find(nameHash, nil)
	return string(name), err
}

// Records returns all records in the order of the file. Names come together with all their hashes.
// An error ends the sequence. It takes a megabyte of memory, of OpenBytes none, beside what the
// caller keeps.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r.walk(false, part{}, func(rec Record, _ uint64, err error) bool { return yield(rec, err) })
	}
}

// walk is Records for the functions of a part, with the hash of the name. With reuse, a record is
// valid only until the next one is asked for.
func (r *Reader) walk(reuse bool, of part, yield func(r Record, nameHash uint64, err error) bool) {
	if err := r.src.Ready(); err != nil {
		yield(Record{}, 0, err)
		return
	}
	w := r.table.walk(r.src, reuse, of)
	for w.next() {
		f := &w.f
		for f.Err == nil && f.Rest() > 0 {
			rec := f.record(r.header.Version, w.key)
			if f.Err == nil && !yield(rec, w.hash, nil) {
				return
			}
		}
		if w.err = f.err(); w.err != nil {
			break
		}
	}
	if w.err != nil {
		yield(Record{}, 0, w.err)
	}
}
