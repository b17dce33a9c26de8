package driver

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
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/unpack"
	"github.com/go-afdo/afdo/profile"
)

// A llvmFormat is a format of profiles for clang.
type llvmFormat uint8

const (
	noLLVM llvmFormat = iota // one of GCOV, of which clang gets what LLVM's formats can hold
	extBinary
	otherSample // in another format than ExtBinary, or compressed
	instrumented
)

// llvmFormatOf returns the format of a profile for clang.
func llvmFormatOf(path string) (format llvmFormat, err error) {
	err = withStream(path, func(f *unpack.Stream, plain bool) error {
		switch sample := sampleprof.Detect(f.Head); {
		case instrprof.Detect(f.Head) == instrprof.FormatIndexed && plain:
			format = instrumented
		case sample == sampleprof.ExtBinary && plain:
			format = extBinary
		case sample != 0:
			format = otherSample
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

// An LLVMProfile is a profile for clang, from which slices are taken. Many goroutines may use it.
type LLVMProfile struct {
	samples *sampleprof.Reader
	counts  *instrprof.Reader // or this
	summary *afdo.Summary     // of slices of samples, nil for that of the file
}

// ErrNoSlice matches errors about profiles from which slices cannot be taken, such as a profile
// with hashes instead of the names of functions.
var ErrNoSlice = errors.New("no slices of this profile")

// OpenLLVMProfile opens a sample profile in the ExtBinary format or an indexed instrumentation
// profile. The caller closes it.
func OpenLLVMProfile(path string) (p *LLVMProfile, err error) {
	format, err := llvmFormatOf(path)
	if err != nil {
		return nil, err
	}
	p = new(LLVMProfile)
	switch format {
	case extBinary:
		p.samples, err = sampleprof.Open(path)
	case instrumented:
		p.counts, err = instrprof.Open(path)
	case otherSample:
		err = fmt.Errorf("%w: it is a sample profile that is not ExtBinary", ErrNoSlice)
	default:
		err = fmt.Errorf("%w: it is neither an ExtBinary sample profile nor an indexed instrumentation profile", ErrNoSlice)
	}
	return p, err
}

// Format returns the name of the format, as the command knows it.
func (p *LLVMProfile) Format() string {
	if p.samples != nil {
		return "extbinary"
	}
	return "profdata"
}

// Close releases the file.
func (p *LLVMProfile) Close() error {
	if p.samples != nil {
		return p.samples.Close()
	}
	return p.counts.Close()
}

// RoundSummary gives slices a rounded summary, see [slice.SteadyForClang]: of the profile at a
// path, or if that is empty, of this one. It is not for concurrent use. The slices of an
// instrumentation profile keep its exact summary.
func (p *LLVMProfile) RoundSummary(path string) error {
	if p.samples == nil {
		return nil
	}
	read := p.samples.Summary
	if path != "" {
		read = func() (*afdo.Summary, error) { return ReadSummary(path) }
	}
	s, err := read()
	if err == nil {
		p.summary = slice.SteadyForClang(s)
	}
	return err
}

// WriteSlice writes what clang reads of the profile for a compile of sources with a text, and
// returns the number of functions. A profile that cannot be sliced gives an error that matches
// [ErrNoSlice].
func (p *LLVMProfile) WriteSlice(w io.Writer, text *slice.Text, sources []string) (functions int, err error) {
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

func (p *LLVMProfile) writeSamples(w io.Writer, wanted func(string) bool) (int, error) {
	s, err := p.samples.Slice(wanted)
	if err != nil {
		return 0, err
	}
	if p.summary != nil {
		s.SetSummary(p.summary)
	}
	return s.NumFunctions(), s.Write(w)
}

func (p *LLVMProfile) writeCounts(w io.Writer, wanted func(string) bool) (int, error) {
	s, err := p.counts.Slice(func(name string) bool { return wanted(instrprof.Symbol(name)) })
	if err != nil {
		return 0, err
	}
	return s.NumRecords(), s.Write(w)
}

// wholeLLVM returns the path of the whole profile for clang. Its summary is that of slices, because
// a full LTO link refuses modules whose summaries differ.
func (s source) wholeLLVM() (path string, n int64, err error) {
	path = s.file.path
	if s.file.llvm == otherSample || s.file.llvm == noLLVM {
		if path, err = s.extBinaryCopy(); err != nil {
			return "", 0, err
		}
	}
	if s.file.llvm == noLLVM || !s.steady() {
		return path, 0, nil
	}
	round := func(w io.Writer) error {
		whole, err := sampleprof.Open(path)
		if err != nil {
			return s.file.wrap(err)
		}
		defer whole.Close()
		summary, err := s.steadySummary(whole.Summary)
		if err != nil {
			return err
		}
		return s.file.wrap(whole.WriteWithSummary(w, summary))
	}
	rounded, err := s.Cache.files().Path(store.Profiles, s.extBinaryKey(s.summaryState()))
	if err == nil {
		return rounded, 0, makeOnce(rounded, round)
	}
	var data bytes.Buffer
	if err := round(&data); err != nil {
		return "", 0, err
	}
	path, _, err = s.keepSlice(data.Bytes())
	return path, int64(data.Len()), err
}

// extBinaryKey returns the name in the cache of an ExtBinary copy of the profile.
func (s source) extBinaryKey(summary string) string {
	return fmt.Sprintf("%s\x00%d\x00extbinary\x00%s\x00%d", s.file.path, s.file.state, summary, s.Bits)
}

// EncodeForClang returns a profile of GCOV, which has a summary, as clang reads it. Without the
// threshold of cold counts the error matches [ErrNoSlice]: clang would crash.
func EncodeForClang(p *profile.Profile) ([]byte, error) {
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

// extBinaryCopy returns the path of a copy of a profile in ExtBinary, which clang reads fastest. Of
// several processes one makes it, and the others wait. The copy of a GCOV profile has the summary
// of its slices.
func (s source) extBinaryCopy() (string, error) {
	file := s.file
	summary := "exact"
	if file.llvm == noLLVM {
		summary = s.summaryState()
	}
	path, err := s.Cache.files().Path(store.Profiles, s.extBinaryKey(summary))
	if err != nil {
		return "", fmt.Errorf("a profile that is not ExtBinary needs a cache for slices, %w", err)
	}
	return path, makeOnce(path, func(w io.Writer) error {
		if file.llvm == noLLVM {
			return s.copyGCOV(w)
		}
		s.warn("converted a copy of %s to extbinary in the cache; \"afdo convert --to extbinary\" saves that", file.name)
		return file.wrap(copyExtBinary(w, file.path))
	})
}

// copyGCOV writes a whole GCOV profile as ExtBinary.
func (s source) copyGCOV(w io.Writer) error {
	program, closeFile, err := s.open()
	if err != nil {
		return err
	}
	defer closeFile()
	whole, err := program.Whole(s.Bits)
	if err != nil {
		return s.file.wrap(err)
	}
	data, err := EncodeForClang(whole)
	if err != nil {
		return s.file.wrap(err)
	}
	_, err = w.Write(data)
	return err
}

// copyExtBinary writes a sample profile as ExtBinary, with the summary that it has.
func copyExtBinary(w io.Writer, path string) error {
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

// copyBinary is copyExtBinary for the binary formats. ExtBinary among them may be compressed.
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
