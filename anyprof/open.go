package anyprof

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/internal/regular"
	"github.com/go-afdo/afdo/internal/unpack"
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
	file, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return open(ctx, &source{path: path, whole: file}, opts)
}

// readSize is how much of a file is read at a time where all of it is read through an io.ReaderAt.
const readSize = 4 << 20

// OpenAt opens a file of size bytes that is read through src, which must allow reads from many
// goroutines. Close does not close src. See [Open].
func OpenAt(ctx context.Context, src io.ReaderAt, size int64, opts ...Option) (*Profile, error) {
	head := min(HeadLen, size)
	rest := bufio.NewReaderSize(io.NewSectionReader(src, head, size-head), readSize)
	whole := io.MultiReader(io.NewSectionReader(src, 0, head), rest)
	return open(ctx, &source{at: src, size: size, whole: whole}, opts)
}

// Read reads a file to its end, into memory. See [Open].
func Read(ctx context.Context, r io.Reader, opts ...Option) (*Profile, error) {
	return open(ctx, &source{whole: r}, opts)
}

// A source is where a file comes from.
type source struct {
	path  string      // of a regular file, or empty
	at    io.ReaderAt // of a file that is read in pieces, or nil
	size  int64       // for at
	whole io.Reader
}

func open(ctx context.Context, src *source, opts []Option) (*Profile, error) {
	var o options
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	stream, err := unpack.New(&cancelable{ctx: ctx, r: src.whole})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	format, err := Detect(stream.Head)
	if err != nil {
		return nil, err
	}
	if stream.Packed {
		src.path, src.at = "", nil
	}
	src.whole = stream
	p, err := formats[format](src, &o)
	if err != nil {
		return nil, err
	}
	if p.format == 0 { // the head has told all
		p.format = format
	}
	p.concurrent = src.at != nil
	return p, nil
}

// formats open a file by its format.
var formats = [...]func(*source, *options) (*Profile, error){
	V4: openV4, V3: openOld, V2: openOld, Text: openText,
	ExtBinary: openSample, SampleText: openSampleText,
	ProfData: openIndexed, ProfRaw: openRaw, ProfText: openInstrText,
	MemProf: openIndexedMemory, MemProfRaw: openRawMemory, MemProfYAML: openYAML,
}

// lazily opens a file in the way that costs least: by its path, in pieces, or else in memory.
func lazily[R any](src *source, path func(string) (R, error), at func(io.ReaderAt, int64) (R, error), memory func([]byte) (R, error)) (r R, err error) {
	switch {
	case src.path != "":
		return path(src.path)
	case src.at != nil:
		return at(src.at, src.size)
	}
	data, err := io.ReadAll(src.whole)
	if err != nil {
		return r, err
	}
	return memory(data)
}

func openV4(src *source, o *options) (*Profile, error) {
	bounded := func(size int64) []afdo.Option { return append([]afdo.Option{budget.Names(size)}, o.gcov...) }
	r, err := lazily(src,
		func(path string) (*afdo.Reader, error) {
			info, err := os.Stat(path)
			if err != nil {
				return nil, err
			}
			return afdo.Open(path, bounded(info.Size())...)
		},
		func(at io.ReaderAt, size int64) (*afdo.Reader, error) {
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

func openOld(src *source, _ *options) (*Profile, error) {
	n := &counter{r: src.whole}
	p, err := gcov.Read(n)
	if err != nil {
		return nil, err
	}
	return &Profile{size: n.n, reader: newInMemory(p), model: p}, nil
}

func openText(src *source, _ *options) (*Profile, error) {
	n := &counter{r: src.whole}
	p, err := textfmt.Parse(n)
	if err != nil {
		return nil, err
	}
	return &Profile{size: n.n, reader: newInMemory(p), model: p}, nil
}

func openSample(src *source, _ *options) (*Profile, error) {
	r, err := lazily(src,
		func(path string) (*sampleprof.Reader, error) { return sampleprof.Open(path) },
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

func openSampleText(src *source, _ *options) (*Profile, error) {
	n := &counter{r: src.whole}
	p, err := sampleprof.ReadText(n)
	if err != nil {
		return nil, err
	}
	return &Profile{size: n.n, reader: &sampleMemory{p}, model: p}, nil
}

func openIndexed(src *source, _ *options) (*Profile, error) {
	r, err := indexedReader(src)
	if err != nil {
		return nil, err
	}
	return &Profile{size: r.Size(), reader: &instrFile{r}, model: r, closer: r}, nil
}

func indexedReader(src *source) (*instrprof.Reader, error) {
	return lazily(src, instrprof.Open, instrprof.NewReader, instrprof.OpenBytes)
}

func openRaw(src *source, _ *options) (*Profile, error) {
	data, err := io.ReadAll(src.whole)
	if err != nil {
		return nil, err
	}
	r, err := instrprof.OpenRawBytes(data)
	if err != nil {
		return nil, err
	}
	return &Profile{size: r.Size(), reader: &instrRaw{r}, model: r}, nil
}

func openInstrText(src *source, o *options) (*Profile, error) {
	n := &counter{r: src.whole}
	p := new(instrprof.Profile)
	var contradiction error
	drop := o.mismatch
	if drop == nil {
		drop = func(err error) { contradiction = errors.Join(contradiction, err) }
	}
	if err := p.AddStream(n, 1, drop); err != nil {
		return nil, err
	}
	if contradiction != nil {
		return nil, contradiction
	}
	return &Profile{size: n.n, reader: &instrMemory{p}, model: p}, nil
}

func openIndexedMemory(src *source, _ *options) (*Profile, error) {
	r, err := indexedReader(src)
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

func openRawMemory(src *source, _ *options) (*Profile, error) {
	data, err := io.ReadAll(src.whole)
	if err != nil {
		return nil, err
	}
	r, err := memprof.OpenRaw(data)
	if err != nil {
		return nil, err
	}
	return &Profile{size: int64(len(data)), reader: addresses{}, model: r}, nil
}

func openYAML(src *source, _ *options) (*Profile, error) {
	n := &counter{r: src.whole}
	p, err := memprof.ReadYAML(n)
	if err != nil {
		return nil, err
	}
	return &Profile{size: n.n, reader: &memory{p}, model: p}, nil
}

// cancelable is a reader that fails once a context is done.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// A counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
