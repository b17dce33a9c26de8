package anyprof

import (
	"fmt"
	"io"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
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
