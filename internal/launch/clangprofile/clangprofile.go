// Package clangprofile takes the slice of a compile out of a profile that clang reads. It also
// converts profiles to the format that clang reads fastest.
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

// A Format is a format of profiles for clang.
type Format uint8

const (
	FormatNone Format = iota // one of GCOV, of which clang gets what LLVM's formats can hold
	FormatExtBinary
	FormatOtherSample // in another format than ExtBinary, or compressed
	FormatInstrumented
)

// FormatOf returns in which of these formats the profile at a path is.
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

// withStream calls use with what a file holds. It is plain if it can be opened by its path to read
// the same: a regular file that is not compressed.
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

// A Profile is a profile for clang, from which slices are taken. Many goroutines may use it.
type Profile struct {
	samples *sampleprof.Reader
	counts  *instrprof.Reader // or this
	summary *afdo.Summary     // of slices of samples, nil for that of the file
}

// ErrNoSlice matches errors about profiles from which slices cannot be taken, such as a profile
// with hashes instead of the names of functions.
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

// Format returns the name of the format, as the command knows it.
func (p *Profile) Format() string {
	if p.samples != nil {
		return "extbinary"
	}
	return "profdata"
}

// Close releases the file.
func (p *Profile) Close() error {
	if p.samples != nil {
		return p.samples.Close()
	}
	return p.counts.Close()
}

// Summary returns the summary of a sample profile.
func (p *Profile) Summary() (*afdo.Summary, error) { return p.samples.Summary() }

// SetSummary sets the summary that slices of a sample profile get in place of that of the profile.
// Slices of an instrumentation profile keep the summary of the profile.
func (p *Profile) SetSummary(s *afdo.Summary) { p.summary = s }

// IsInstrumented reports whether it is an instrumentation profile.
func (p *Profile) IsInstrumented() bool { return p.samples == nil }

// HasUniqueNames reports whether a sample profile is marked as one of a program that was compiled
// with -funique-internal-linkage-names.
func (p *Profile) HasUniqueNames() bool { return p.samples.HasUniqueNames() }

// WriteSlice writes what clang reads of the profile for a compile of sources with a text, and
// returns the number of functions. A profile that cannot be sliced gives an error that matches
// [ErrNoSlice].
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

func (p *Profile) writeCounts(w io.Writer, wanted func(string) bool) (int, error) {
	s, err := p.counts.Slice(func(name string) bool { return wanted(instrprof.Symbol(name)) })
	if err != nil {
		return 0, err
	}
	return s.NumRecords(), s.Write(w)
}

// Encode returns a profile of GCC's formats in the format that clang reads. The profile has a
// summary. If that has no entry for cold counts, without which clang would crash, the error matches
// [ErrNoSlice].
func Encode(p *profile.Profile) ([]byte, error) {
	if n := len(p.Summary.Entries); n == 0 || p.Summary.Entries[n-1].Cutoff < coldCutoff {
		return nil, fmt.Errorf("%w: its summary has no threshold of cold counts", ErrNoSlice)
	}
	samples, _ := sampleprof.FromGCOV(p)
	var file bytes.Buffer
	err := sampleprof.NewSlice(samples, p.Summary).Write(&file)
	return file.Bytes(), err
}

// coldCutoff is the last cutoff of a summary that clang asks for, and crashes without.
const coldCutoff = 999_999

// CopyExtBinary writes a sample profile as ExtBinary, with the summary that it has.
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

// copyBinary is [CopyExtBinary] for a profile in a binary format. If the profile is ExtBinary
// already, it was in a compressed file, and is copied as it is.
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
