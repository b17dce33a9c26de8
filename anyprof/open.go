package anyprof

import (
	"context"
	"errors"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/llvm/instrprof"
	"github.com/go-afdo/afdo/llvm/memprof"
	"github.com/go-afdo/afdo/llvm/sampleprof"
	"github.com/go-afdo/afdo/textfmt"
)

// An Option changes how a file is opened.
type Option func(*options)

type options struct {
	gcov     []afdo.Option
	mismatch func(error)
}

// V4Options are options for files of GCOV version 4, such as [afdo.TrustIndex].
func V4Options(opts ...afdo.Option) Option {
	return func(o *options) { o.gcov = append(o.gcov, opts...) }
}

// DropMismatches leaves out records of an instrumentation profile in text form that do not fit an
// earlier record of the same function, as LLVM does, and calls report for each. Without it they are
// an error.
func DropMismatches(report func(error)) Option {
	return func(o *options) { o.mismatch = report }
}

// Open opens a file by its path. It must be a regular file; for pipes and the like use [Read]. The
// caller closes the Profile.
//
// Errors are those of the packages that read the formats, one that matches [ErrUnknown], and that
// of the context.
func Open(ctx context.Context, path string, opts ...Option) (*Profile, error) {
	f, err := OpenFile(ctx, path)
	return decode(f, err, opts)
}

// OpenAt opens a file of size bytes that is read through src, which must allow reads from many
// goroutines. Close does not close src. See [Open].
func OpenAt(ctx context.Context, src io.ReaderAt, size int64, opts ...Option) (*Profile, error) {
	f, err := FileAt(ctx, src, size)
	return decode(f, err, opts)
}

// Read reads a file to its end, into memory. See [Open].
func Read(ctx context.Context, r io.Reader, opts ...Option) (*Profile, error) {
	f, err := ReadFile(ctx, r)
	return decode(f, err, opts)
}

// decode opens the profile of a file that nothing else is wanted of.
func decode(f *File, err error, opts []Option) (*Profile, error) {
	if err != nil {
		return nil, err
	}
	p, err := f.Profile(opts...)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	return p, nil
}

// formats open a file by its format.
var formats = [...]func(*File, *options) (*Profile, error){
	V4: openV4, V3: openOld, V2: openOld, Text: openText,
	ExtBinary: openSample, SampleText: openSampleText,
	ProfData: openIndexed, ProfRaw: openRaw, ProfText: openInstrText,
	MemProf: openIndexedMemory, MemProfRaw: openRawMemory, MemProfYAML: openYAML,
}

// lazily opens a file in pieces, if it can be, or else in memory.
func lazily[R any](f *File, at func(io.ReaderAt, int64) (R, error), memory func([]byte) (R, error)) (r R, err error) {
	if f.at != nil {
		return at(f.at, f.size)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return r, err
	}
	return memory(data)
}

func openV4(f *File, o *options) (*Profile, error) {
	bounded := func(size int64) []afdo.Option { return append([]afdo.Option{budget.Names(size)}, o.gcov...) }
	r, err := lazily(f,
		func(at io.ReaderAt, size int64) (*afdo.Reader, error) {
			if f.path != "" {
				return afdo.Open(f.path, bounded(size)...) // which maps it
			}
			return afdo.NewReader(at, size, bounded(size)...)
		},
		func(data []byte) (*afdo.Reader, error) { return afdo.OpenBytes(data, bounded(int64(len(data)))...) })
	if err != nil {
		return nil, err
	}
	format := V4
	if r.Header().Compact {
		format = V4Compact
	}
	return &Profile{format: format, size: r.Size(), reader: newV4(r), model: r, closer: r}, nil
}

func openOld(f *File, _ *options) (*Profile, error) {
	data, err := f.all()
	if err != nil {
		return nil, err
	}
	p, err := gcov.ParseBytes(data)
	if err != nil {
		return nil, err
	}
	return &Profile{size: f.read, reader: newInMemory(p), model: p}, nil
}

func openText(f *File, _ *options) (*Profile, error) {
	p, err := textfmt.Parse(f)
	if err != nil {
		return nil, err
	}
	return &Profile{size: f.read, reader: newInMemory(p), model: p}, nil
}

func openSample(f *File, _ *options) (*Profile, error) {
	r, err := lazily(f,
		func(at io.ReaderAt, size int64) (*sampleprof.Reader, error) { return sampleprof.NewReader(at, size) },
		func(data []byte) (*sampleprof.Reader, error) { return sampleprof.OpenBytes(data) })
	if err != nil {
		return nil, err
	}
	format := ExtBinary
	if r.Format() == sampleprof.Binary {
		format = Binary
	}
	return &Profile{format: format, size: r.Size(), reader: &sampleFile{r}, model: r, closer: r}, nil
}

func openSampleText(f *File, _ *options) (*Profile, error) {
	p, err := sampleprof.ParseText(f)
	if err != nil {
		return nil, err
	}
	return &Profile{size: f.read, reader: &sampleMemory{p}, model: p}, nil
}

func openIndexed(f *File, _ *options) (*Profile, error) {
	r, err := indexedReader(f)
	if err != nil {
		return nil, err
	}
	return &Profile{size: r.Size(), reader: &instrFile{r}, model: r, closer: r}, nil
}

func indexedReader(f *File) (*instrprof.Reader, error) {
	return lazily(f, instrprof.NewReader, instrprof.OpenBytes)
}

func openRaw(f *File, _ *options) (*Profile, error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	r, err := instrprof.OpenRawBytes(data)
	if err != nil {
		return nil, err
	}
	return &Profile{size: r.Size(), reader: &instrRaw{r}, model: r}, nil
}

func openInstrText(f *File, o *options) (*Profile, error) {
	p := new(instrprof.Profile)
	var contradiction error
	drop := o.mismatch
	if drop == nil {
		drop = func(err error) { contradiction = errors.Join(contradiction, err) }
	}
	if err := p.AddStream(f, 1, drop); err != nil {
		return nil, err
	}
	if contradiction != nil {
		return nil, contradiction
	}
	return &Profile{size: f.read, reader: &instrMemory{p}, model: p}, nil
}

func openIndexedMemory(f *File, _ *options) (*Profile, error) {
	r, err := indexedReader(f)
	if err != nil {
		return nil, err
	}
	m, err := Memory(r)
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &Profile{size: r.Size(), reader: &memory{m}, model: r, closer: r}, nil
}

// Memory returns the memory profile of an indexed file, afdo.ErrNotFound if it has none. It is of
// use for as long as r is open.
func Memory(r *instrprof.Reader) (*memprof.Reader, error) {
	section, offset, err := r.MemProf()
	if err != nil {
		return nil, err
	}
	return memprof.OpenBytes(section, offset)
}

func openRawMemory(f *File, _ *options) (*Profile, error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	r, err := memprof.OpenRawBytes(data)
	if err != nil {
		return nil, err
	}
	return &Profile{size: int64(len(data)), reader: addresses{}, model: r}, nil
}

func openYAML(f *File, _ *options) (*Profile, error) {
	p, err := memprof.ParseYAML(f)
	if err != nil {
		return nil, err
	}
	return &Profile{size: f.read, reader: &memory{p}, model: p}, nil
}
