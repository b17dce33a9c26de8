package anyprof

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A Profile is an open profile of any format.
type Profile struct {
	format Format
	size   int64
	reader reader
	model  any
	closer io.Closer // closes the model; nil if that is not necessary
	file   *File
}

// A reader is the interface that a format implements for [Profile].
type reader interface {
	// units iterates over the units. A format without source files has a single unit without a
	// path.
	units() iter.Seq2[Unit, error]
	// unit returns the unit whose path is path or ends with it.
	unit(path string) (Unit, error)
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

// Close closes the file. Functions stay valid, but their records do not.
func (p *Profile) Close() error {
	if p.closer != nil {
		if err := p.closer.Close(); err != nil {
			return err
		}
	}
	p.file.release()
	return nil
}

// Units iterates over the source files in file order. Functions of unknown files are in a unit with
// an empty path. In all formats except GCOV versions 3 and 4 and their text form, this is the only
// unit. An error ends the iteration.
func (p *Profile) Units(ctx context.Context) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		for u, err := range p.reader.units() {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Unit{}, err)
				return
			}
			if !yield(u, nil) {
				return
			}
		}
	}
}

// Unit returns the unit whose path is path or, if only one does, ends with "/" + path. The error
// matches [afdo.ErrNotFound] or [afdo.ErrAmbiguous].
func (p *Profile) Unit(ctx context.Context, path string) (Unit, error) {
	if err := ctx.Err(); err != nil {
		return Unit{}, err
	}
	return p.reader.unit(path)
}

// Functions iterates over the functions of all units. An error ends the iteration.
func (p *Profile) Functions(ctx context.Context) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		for u, err := range p.Units(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for f, err := range u.Functions(ctx) {
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
}

// A Unit is a source file in a profile.
type Unit struct {
	Path string // empty for functions whose file is unknown

	functions iter.Seq2[*Function, error]
}

// Functions iterates over the functions of the unit in file order. An error ends the iteration.
func (u Unit) Functions(ctx context.Context) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		for f, err := range u.functions {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}
