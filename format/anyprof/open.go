package anyprof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/summary"
	storage "github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// A Profile is an open profile of any format.
type Profile struct {
	format Format
	size   int64
	model  any
	file   *File
}

// Format returns the format.
func (p *Profile) Format() Format { return p.format }

// Size returns the uncompressed size of the file in bytes.
func (p *Profile) Size() int64 { return p.size }

// Model returns the value in which the package of the format represents the file. It is one of
// these types, as a pointer:
//   - [afdo.Reader] for version 4,
//   - [profile.Profile] for the other GCOV formats,
//   - [sampleprof.Reader] or, for text, [sampleprof.Profile],
//   - [instrprof.Reader], [instrprof.RawReader] or [instrprof.Profile],
//   - [instrprof.Reader] for an indexed memory profile (see [Memory]), [memprof.Raw], or
//     [memprof.Profile] for YAML,
//   - [gcda.Counters] for the counters of an instrumented program of GCC.
//
// The Profile owns this value, and Close closes it.
//
// [sampleprof.Reader]: https://pkg.go.dev/github.com/go-afdo/afdo/format/llvm/sampleprof#Reader
// [sampleprof.Profile]: https://pkg.go.dev/github.com/go-afdo/afdo/format/llvm/sampleprof#Profile
// [instrprof.Reader]: https://pkg.go.dev/github.com/go-afdo/afdo/format/llvm/instrprof#Reader
// [instrprof.RawReader]: https://pkg.go.dev/github.com/go-afdo/afdo/format/llvm/instrprof#RawReader
// [instrprof.Profile]: https://pkg.go.dev/github.com/go-afdo/afdo/format/llvm/instrprof#Profile
// [memprof.Raw]: https://pkg.go.dev/github.com/go-afdo/afdo/format/llvm/memprof#Raw
// [gcda.Counters]: https://pkg.go.dev/github.com/go-afdo/afdo/format/gcda#Counters
// [memprof.Profile]: https://pkg.go.dev/github.com/go-afdo/afdo/format/llvm/memprof#Profile
func (p *Profile) Model() any { return p.model }

// GCOV returns a GCOV profile as a whole, in memory. For a profile in another format, the error
// matches [afdo.ErrMagic].
func (p *Profile) GCOV() (*profile.Profile, error) {
	switch m := p.model.(type) {
	case *afdo.Reader:
		return profile.Read(m)
	case *profile.Profile:
		return m, nil
	}
	return nil, fmt.Errorf("anyprof: %w but of format %s", afdo.ErrMagic, p.format)
}

// Close closes the file and its model.
func (p *Profile) Close() error {
	if model, ok := p.model.(io.Closer); ok {
		if err := model.Close(); err != nil {
			return err
		}
	}
	p.file.release()
	return nil
}

// An Option configures the opening of a file.
type Option func(*options)

type options struct {
	gcov     []afdo.Option
	mismatch func(error)
}

// V4Options sets options for files of GCOV version 4, such as [afdo.TrustIndex].
func V4Options(opts ...afdo.Option) Option {
	return func(o *options) { o.gcov = append(o.gcov, opts...) }
}

// DropMismatches makes an instrumentation profile in text form drop records that do not match an
// earlier record of the same function, as LLVM does. It calls report for each. Without this option,
// such records are an error.
func DropMismatches(report func(error)) Option {
	return func(o *options) { o.mismatch = report }
}

// Open opens the profile in a regular file. Use [Read] for pipes and other files. The caller must
// close the Profile.
//
// Errors are those of the packages of the formats, an error that matches [ErrUnknown], and the
// error of the context.
func Open(ctx context.Context, path string, opts ...Option) (*Profile, error) {
	f, err := OpenFile(ctx, path)
	return decode(f, err, opts)
}

// OpenAt is like [Open] for a file of size bytes behind src, which must allow concurrent reads.
// Close does not close src.
func OpenAt(ctx context.Context, src io.ReaderAt, size int64, opts ...Option) (*Profile, error) {
	f, err := FileAt(ctx, src, size)
	return decode(f, err, opts)
}

// Read is like [Open] for a file that can only be read sequentially. It reads all of r into memory.
func Read(ctx context.Context, r io.Reader, opts ...Option) (*Profile, error) {
	f, err := ReadFile(ctx, r)
	return decode(f, err, opts)
}

// decode opens the profile in the file f. err is the error of opening the file, which decode
// returns if it is not nil. If the profile cannot be opened, decode closes the file.
func decode(f *File, err error, opts []Option) (*Profile, error) {
	if err != nil {
		return nil, err
	}
	p, err := f.Profile(opts...)
	if err != nil {
		_ = f.Close() // nothing has been written
		return nil, err
	}
	return p, nil
}

// formats maps each format to the function that opens it.
var formats = [...]func(*File, *options) (*Profile, error){
	V4: openV4, V3: wholly(complete("gcov", gcov.ParseBytes)), V2: wholly(gcov.ParseBytes), Text: streamed(complete("textfmt", textfmt.Parse)),
	ExtBinary: openSample, SampleText: streamed(sampleprof.ParseText),
	ProfData: openIndexed, ProfRaw: wholly(instrprof.OpenRawBytes), ProfText: openInstrText,
	MemProf: openIndexedMemory, MemProfRaw: wholly(memprof.OpenRawBytes), MemProfYAML: streamed(memprof.ParseYAML),
	GCDA: wholly(gcda.ReadCounters),
}

// wholly returns a function for [formats] that opens a profile in two steps: it reads the whole
// file into memory, and then calls parse.
func wholly[M any](parse func(data []byte) (M, error)) func(*File, *options) (*Profile, error) {
	return func(f *File, _ *options) (*Profile, error) {
		data, err := f.ReadAll()
		if err != nil {
			return nil, err
		}
		model, err := parse(data)
		return &Profile{size: f.read, model: model}, err
	}
}

// streamed returns a function for [formats] that opens a profile by calling parse, which reads the
// file as a stream.
func streamed[M any](parse func(io.Reader) (M, error)) func(*File, *options) (*Profile, error) {
	return func(f *File, _ *options) (*Profile, error) {
		model, err := parse(f)
		return &Profile{size: f.read, model: model}, err
	}
}

// complete returns a parser of GCOV profiles that calls parse. It then returns an error if the file
// has lost its functions, for example if a text was cut off after its summary. format is the name
// of the format in the error.
func complete[In any](format string, parse func(In) (*profile.Profile, error)) func(In) (*profile.Profile, error) {
	return func(in In) (*profile.Profile, error) {
		p, err := parse(in)
		if err == nil && p.NumFunctions() == 0 && summary.Lost(p.Summary) {
			return nil, &afdo.FormatError{Format: format, Section: afdo.HeaderSection, Offset: -1, Err: afdo.ErrSummary, Detail: summary.LostDetail}
		}
		return p, err
	}
}

// lazily opens a file with the function at if parts of the file can be read without the others.
// Otherwise it reads the whole file and opens it with the function memory.
func lazily[R any](f *File, at func(io.ReaderAt, int64) (R, error), memory func([]byte) (R, error)) (r R, err error) {
	if f.at != nil {
		return at(f.at, f.size)
	}
	data, err := f.ReadAll()
	if err != nil {
		return r, err
	}
	return memory(data)
}

func openV4(f *File, o *options) (*Profile, error) {
	bounded := func(size int64) []afdo.Option {
		return append([]afdo.Option{afdo.MaxNameBytes(storage.MaxUnitNames(size, afdo.DefaultMaxNameBytes))}, o.gcov...)
	}
	r, err := lazily(f,
		func(at io.ReaderAt, size int64) (*afdo.Reader, error) {
			if f.path != "" {
				return afdo.Open(f.path, bounded(size)...) // Open maps the file
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
	return &Profile{format: format, size: r.Size(), model: r}, nil
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
	return &Profile{format: format, size: r.Size(), model: r}, nil
}

func openIndexed(f *File, _ *options) (*Profile, error) {
	r, err := lazily(f, instrprof.NewReader, instrprof.OpenBytes)
	if err != nil {
		return nil, err
	}
	return &Profile{size: r.Size(), model: r}, nil
}

func openInstrText(f *File, o *options) (*Profile, error) {
	p := new(instrprof.Profile)
	var contradiction error
	drop := o.mismatch
	if drop == nil {
		drop = func(err error) { contradiction = errors.Join(contradiction, err) }
	}
	err := p.AddStream(f, 1, drop)
	if err = cmp.Or(err, contradiction); err != nil {
		return nil, err
	}
	return &Profile{size: f.read, model: p}, nil
}

func openIndexedMemory(f *File, o *options) (*Profile, error) {
	p, err := openIndexed(f, o)
	if err != nil {
		return nil, err
	}
	r := p.model.(*instrprof.Reader)
	if _, err := Memory(r); err != nil {
		_ = r.Close()
		return nil, err
	}
	return p, nil
}

// Memory returns the memory profile in an indexed file, or afdo.ErrNotFound. It is valid while r is
// open.
func Memory(r *instrprof.Reader) (*memprof.Reader, error) {
	section, offset, err := r.MemProf()
	if err != nil {
		return nil, err
	}
	return memprof.OpenBytes(section, offset)
}
