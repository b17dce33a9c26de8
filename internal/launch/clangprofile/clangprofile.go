// Package clangprofile extracts slices from profiles for clang: the part of a profile that one
// compile uses. It also converts profiles to ExtBinary, the format that clang reads fastest.
package clangprofile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/unpack"
	"github.com/go-afdo/afdo/profile"
)

// A Format is a kind of profile, of those that the launcher has to distinguish for clang.
type Format uint8

const (
	FormatNone         Format = iota // not LLVM's, such as GCOV: converted as far as LLVM's formats allow
	FormatExtBinary                  // uncompressed LLVM sample profile in ExtBinary
	FormatOtherSample                // LLVM sample profile that is not ExtBinary, or is compressed
	FormatInstrumented               // uncompressed indexed instrumentation profile
)

// FormatOf returns the format of the profile at a path.
func FormatOf(path string) (format Format, err error) {
	err = withStream(path, func(f *unpack.Stream, plain bool) error {
		switch sample := sampleprof.Detect(f.Head); {
		case instrprof.Detect(f.Head) == instrprof.FormatIndexed && plain:
			format = FormatInstrumented
		case sample == sampleprof.ExtBinary && plain:
			format = FormatExtBinary
		case sample != 0:
			format = FormatOtherSample
		}
		return nil
	})
	return format, err
}

// withStream opens a file and calls use with its decompressed content. plain is true if the file is
// a regular file and not compressed, so that its content can also be read by opening its path.
func withStream(path string, use func(f *unpack.Stream, plain bool) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := unpack.New(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	return use(f, info.Mode().IsRegular() && !f.Packed)
}

// A Profile is an open profile for clang, from which slices can be extracted. Its methods may be
// called concurrently, except SetSummary and Close.
type Profile struct {
	samples *sampleprof.Reader
	counts  *instrprof.Reader // set instead of samples for an instrumentation profile
	summary *afdo.Summary     // of slices of a sample profile; nil for the profile's own
}

// ErrNoSlice matches the errors for profiles from which slices cannot be extracted, such as a
// profile with hashes instead of function names.
var ErrNoSlice = errors.New("no slices of this profile")

// Open opens a sample profile in the ExtBinary format or an indexed instrumentation
// profile. The caller closes it.
func Open(path string) (p *Profile, err error) {
	format, err := FormatOf(path)
	if err != nil {
		return nil, err
	}
	p = new(Profile)
	switch format {
	case FormatExtBinary:
		p.samples, err = sampleprof.Open(path)
	case FormatInstrumented:
		p.counts, err = instrprof.Open(path)
	case FormatOtherSample:
		err = fmt.Errorf("%w: it is a sample profile that is not ExtBinary", ErrNoSlice)
	default:
		err = fmt.Errorf("%w: it is neither an ExtBinary sample profile nor an indexed instrumentation profile", ErrNoSlice)
	}
	return p, err
}

// Format returns the name of the format that the command afdo uses: "extbinary" or "profdata".
func (p *Profile) Format() string {
	if p.samples != nil {
		return "extbinary"
	}
	return "profdata"
}

// Close closes the file of the profile, after which no slices can be extracted.
func (p *Profile) Close() error {
	if p.samples != nil {
		return p.samples.Close()
	}
	return p.counts.Close()
}

// Summary returns the summary of a sample profile. It must not be called for an instrumentation
// profile.
func (p *Profile) Summary() (*afdo.Summary, error) { return p.samples.Summary() }

// SetSummary sets the summary that slices of a sample profile get instead of the profile's own.
// Slices of an instrumentation profile keep the profile's summary.
func (p *Profile) SetSummary(s *afdo.Summary) { p.summary = s }

// IsInstrumented reports whether the profile is an instrumentation profile and not a sample
// profile.
func (p *Profile) IsInstrumented() bool { return p.samples == nil }

// HasUniqueNames reports whether a sample profile is marked as one of a program that was compiled
// with -funique-internal-linkage-names.
func (p *Profile) HasUniqueNames() bool { return p.samples.HasUniqueNames() }

// WriteSlice writes the part of the profile that clang uses when it compiles sources, and returns
// its number of functions. text has the identifiers in these sources. A profile from which slices
// cannot be extracted gives an error that matches [ErrNoSlice].
func (p *Profile) WriteSlice(w io.Writer, text *slice.Text, sources []string) (functions int, err error) {
	wanted := func(name string) bool { return text.MayHave(name, sources) }
	if p.samples != nil {
		functions, err = p.writeSamples(w, wanted)
	} else {
		functions, err = p.writeCounts(w, wanted)
	}
	if errors.Is(err, sampleprof.ErrHashed) || errors.Is(err, afdo.ErrUnrepresentable) {
		err = fmt.Errorf("%w: %w", ErrNoSlice, err)
	}
	return functions, err
}

// writeSamples writes a slice of a sample profile: the functions for whose names wanted returns
// true. It returns their number.
func (p *Profile) writeSamples(w io.Writer, wanted func(string) bool) (int, error) {
	s, err := p.samples.Slice(wanted)
	if err != nil {
		return 0, err
	}
	if p.summary != nil {
		s.Summary = p.summary
	}
	return s.NumFunctions(), s.Write(w)
}

// writeCounts writes a slice of an instrumentation profile: the functions for whose names wanted
// returns true. It returns the number of its records.
func (p *Profile) writeCounts(w io.Writer, wanted func(string) bool) (int, error) {
	s, err := p.counts.Slice(func(name string) bool { return wanted(instrprof.Symbol(name)) })
	if err != nil {
		return 0, err
	}
	return s.NumRecords(), s.Write(w)
}

// Encode converts a profile with a summary from GCC's formats to ExtBinary. If the summary has no
// entry for cold counts, without which clang would crash, the error matches [ErrNoSlice].
func Encode(p *profile.Profile) ([]byte, error) {
	if n := len(p.Summary.Entries); n == 0 || p.Summary.Entries[n-1].Cutoff < coldCutoff {
		return nil, fmt.Errorf("%w: its summary has no threshold of cold counts", ErrNoSlice)
	}
	samples, _ := sampleprof.FromGCOV(p)
	var file bytes.Buffer
	err := sampleprof.NewSlice(samples, p.Summary).Write(&file)
	return file.Bytes(), err
}

// coldCutoff is the largest summary cutoff that clang looks up. clang crashes if a summary lacks
// it.
const coldCutoff = 999_999

// CopyExtBinary converts the sample profile at a path to ExtBinary and writes it to w. The summary
// is unchanged.
func CopyExtBinary(w io.Writer, path string) error {
	return withStream(path, func(f *unpack.Stream, _ bool) error {
		if sampleprof.Detect(f.Head) != sampleprof.Text {
			return copyBinary(w, f)
		}
		p, err := sampleprof.ParseText(f)
		if err != nil {
			return err
		}
		return sampleprof.WriteExtBinary(w, p, sampleprof.WriteOptions{})
	})
}

// copyBinary does the work of [CopyExtBinary] for a profile in one of LLVM's binary formats. It
// copies a profile that is ExtBinary already, and was only compressed, unchanged.
func copyBinary(w io.Writer, f io.Reader) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if sampleprof.Detect(data[:min(len(data), unpack.HeadLen)]) == sampleprof.ExtBinary {
		_, err := w.Write(data)
		return err
	}
	r, err := sampleprof.OpenBytes(data)
	if err != nil {
		return err
	}
	s, err := r.Slice(func(string) bool { return true })
	if err != nil {
		return err
	}
	return s.Write(w)
}
