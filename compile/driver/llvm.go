package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/driver/command"
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

// planClang is plan for clang.
func (p *preparation) planClang() (*Plan, error) {
	c := p.command
	if c.Profile == "" && p.Profile == "" {
		return nil, ErrNoProfile
	}
	name, path := c.Profile, c.Path(c.Profile)
	if name == "" {
		var err error
		if name, path, err = p.given(); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() && c.Use == command.InstrUse {
		path = filepath.Join(path, "default.profdata")
	}
	format, err := llvmFormatOf(path)
	if err != nil && c.Profile == "" {
		return nil, err
	}
	gcov := format == noLLVM && isGCOV(path)
	if err != nil || format == noLLVM && !gcov {
		return p.asItIs(OwnProfile, "%s is no profile that clang takes", name)
	}
	if p.Bits != 0 && !gcov {
		return nil, errors.New("counts of profiles for clang cannot be rounded")
	}
	if p.compiler, err = FindCompiler(c, p.Cache); err != nil {
		if !errors.Is(err, ErrNotClang) {
			return nil, err
		}
		p.warnOf(OldClang, "%v: it runs without a slice", err)
		return p.asItIs(OldClang, "%v", err)
	}
	if p.profile, err = lookAtProfile(name, path); err != nil {
		return nil, err
	}
	p.profile.llvm = format
	if c.Use == "" {
		c.Use = command.SampleUse
		if format == instrumented {
			c.Use = command.InstrUse
		}
	}
	return p.slice()
}

// takeLLVM takes the slice of a profile for clang, and reports whether it has functions.
func (p *preparation) takeLLVM(text *slice.Text) (data []byte, samples bool, err error) {
	path := p.profile.path
	if p.profile.llvm == otherSample {
		if path, err = p.extBinaryCopy(); err != nil {
			return nil, false, err
		}
	}
	whole, err := OpenLLVMProfile(path)
	if err != nil {
		return nil, false, p.profile.wrap(err)
	}
	defer whole.Close()
	p.sayUniqueNames(whole)
	if p.steady() {
		if whole.summary, err = p.steadySummary(whole.samples.Summary); err != nil {
			return nil, false, err
		}
	}
	var file bytes.Buffer
	n, err := whole.WriteSlice(&file, text, p.command.Sources)
	return file.Bytes(), n > 0, p.profile.wrap(err)
}

// sayUniqueNames warns if only one of the two builds, the recorded one and this, had
// -funique-internal-linkage-names.
func (p *preparation) sayUniqueNames(whole *LLVMProfile) {
	if whole.samples == nil {
		return
	}
	const flag = "-funique-internal-linkage-names"
	given := p.command.Mentions(flag)
	switch whole.samples.HasUniqueNames() {
	case given:
	case true:
		p.warnOf("unique", "clang does not find static functions of the profile: compile with %s, as the recorded program was", flag)
	default:
		p.warnOf("unique", "clang does not find static functions of the profile: compile without %s, or record a program that was compiled with it", flag)
	}
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
func (p *preparation) wholeLLVM() (path string, n int64, err error) {
	path = p.profile.path
	if p.profile.llvm == otherSample || p.profile.llvm == noLLVM {
		if path, err = p.extBinaryCopy(); err != nil {
			return "", 0, err
		}
	}
	if p.profile.llvm == noLLVM || !p.steady() {
		return path, 0, nil
	}
	round := func(w io.Writer) error {
		whole, err := sampleprof.Open(path)
		if err != nil {
			return p.profile.wrap(err)
		}
		defer whole.Close()
		s, err := p.steadySummary(whole.Summary)
		if err != nil {
			return err
		}
		return p.profile.wrap(whole.WriteWithSummary(w, s))
	}
	rounded, err := p.Cache.files().Path(store.Profiles, p.extBinaryKey(p.summaryState()))
	if err == nil {
		return rounded, 0, p.makeOnce(rounded, round)
	}
	var data bytes.Buffer
	if err := round(&data); err != nil {
		return "", 0, err
	}
	path, _, err = p.keepSlice(data.Bytes())
	return path, int64(data.Len()), err
}

// extBinaryKey returns the name in the cache of an ExtBinary copy of the profile.
func (p *preparation) extBinaryKey(summary string) string {
	return fmt.Sprintf("%s\x00%d\x00extbinary\x00%s\x00%d", p.profile.path, p.profile.state, summary, p.Bits)
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
func (p *preparation) extBinaryCopy() (string, error) {
	file := p.profile
	summary := "exact"
	if file.llvm == noLLVM {
		summary = p.summaryState()
	}
	path, err := p.Cache.files().Path(store.Profiles, p.extBinaryKey(summary))
	if err != nil {
		return "", fmt.Errorf("a profile that is not ExtBinary needs a cache for slices, %w", err)
	}
	return path, p.makeOnce(path, func(w io.Writer) error {
		if file.llvm == noLLVM {
			return p.copyGCOV(w)
		}
		p.warn("converted a copy of %s to extbinary in the cache; \"afdo convert --to extbinary\" saves that", file.name)
		return file.wrap(copyExtBinary(w, file.path))
	})
}

// copyGCOV writes a whole GCOV profile as ExtBinary.
func (p *preparation) copyGCOV(w io.Writer) error {
	program, closeFile, err := p.openProgram()
	if err != nil {
		return err
	}
	defer closeFile()
	whole, err := program.Whole(p.Bits)
	if err != nil {
		return p.profile.wrap(err)
	}
	data, err := EncodeForClang(whole)
	if err != nil {
		return p.profile.wrap(err)
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
