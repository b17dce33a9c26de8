package gcovkind

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
	"github.com/go-afdo/afdo/textfmt"
	"github.com/spf13/cobra"
)

// Kind implements the verbs for GCOV profiles: versions 2 to 4 and the textual form.
type Kind struct {
	BigEndian  bool // --big-endian
	Index      bool // --index
	NoSources  bool // --no-sources
	NoEvidence bool // --no-evidence
}

// Name returns "GCOV profile".
func (k *Kind) Name() string { return "GCOV profile" }

// Takes reports whether a format is one of GCC's sample profiles.
func (k *Kind) Takes(f anyprof.Format) bool { return f.GCOV() }

// Formats returns v4, v4c, v3, v2 and text.
func (k *Kind) Formats() []kind.Format {
	return []kind.Format{
		{Name: "v4", About: "GCOV version 4", Extensions: []string{".v4"}},
		{Name: "v4c", About: "GCOV version 4 in compact encoding", Extensions: []string{".v4c"}},
		{Name: "v3", About: "GCOV version 3, for GCC 16", Aliases: []string{"gcc16"}, Extensions: []string{".v3"}},
		{Name: "v2", About: "GCOV version 2, for GCC 12 to 15", Aliases: []string{"gcc12", "gcc13", "gcc14", "gcc15"}, Extensions: []string{".v2"}},
		{Name: "text", About: "the textual form of version 4", Extensions: []string{".txt", ".text"}, Text: true},
	}
}

// AddFlags adds --big-endian, --index, --no-sources and --no-evidence to verbs that write profiles.
func (k *Kind) AddFlags(verb *cobra.Command) {
	f := verb.Flags()
	if f.Lookup("to") == nil {
		return
	}
	f.BoolVar(&k.BigEndian, "big-endian", false, "write v2 or v3 in big-endian byte order")
	f.BoolVar(&k.Index, "index", false, `write v4 or v4c with an index, see "afdo help index"`)
	f.BoolVar(&k.NoSources, "no-sources", false, "write v4 or v4c without what it remembers of the sources")
	f.BoolVar(&k.NoEvidence, "no-evidence", false, "write v4 or v4c without the counts of machine code")
}

// CheckFlags returns an error if a flag is given that has no effect on the format with the given
// name.
func (k *Kind) CheckFlags(name string) error {
	format := FormatNamed(name) // one of another kind has neither byte order nor index
	if k.BigEndian && !IsOld(format) {
		return cli.Usagef("--big-endian is for v2 and v3: %s has one byte order", name)
	}
	if k.Index && !IsV4(format) {
		return cli.Usagef("--index is for v4 and v4c: %s has no place for one", name)
	}
	return nil
}

// Encode writes a profile in the format of GCOV profiles with the given name. It returns a
// description of what the format cannot store, or "".
func (k *Kind) Encode(w io.Writer, name string, p *profile.Profile) (string, error) {
	losses, err := k.EncodeFormat(w, FormatNamed(name), p)
	return losses.String(), err
}

// EncodeFormat writes a profile in the given format. It returns how many values of each kind the
// format cannot store.
func (k *Kind) EncodeFormat(w io.Writer, format anyprof.Format, p *profile.Profile) (gcov.Losses, error) {
	old := gcov.WriteOptions{Version: 3, ByteOrder: binary.LittleEndian}
	if k.BigEndian {
		old.ByteOrder = binary.BigEndian
	}
	switch format {
	case anyprof.V4, anyprof.V4Compact:
		return gcov.Losses{}, k.encodeV4(w, format, p)
	case anyprof.V2:
		old.Version = 2
		return gcov.Write(w, p, old)
	case anyprof.V3:
		return gcov.Write(w, p, old)
	case anyprof.Text:
		return gcov.Losses{Sources: p.HasMarks(), Evidence: p.Evidence() != nil}, textfmt.PrintProfile(w, p)
	}
	return gcov.Losses{}, fmt.Errorf("GCOV profiles are not written as %q", format)
}

func (k *Kind) encodeV4(w io.Writer, format anyprof.Format, p *profile.Profile) error {
	options := builder.Options{Compact: format == anyprof.V4Compact, NoSources: k.NoSources, NoEvidence: k.NoEvidence}
	if k.Index {
		options.Index = NewIndexOptions(slice.FromProfile(p))
	}
	return builder.Write(w, p, options)
}

// Load reads a GCOV profile in any of its formats into memory.
func (k *Kind) Load(f *input.File) (*kind.Loaded, error) {
	in, err := Open(f)
	if err != nil {
		return nil, err
	}
	p, err := in.Profile()
	if err != nil {
		return nil, err
	}
	l := &kind.Loaded{Profile: p, Format: in.Format.String(), Size: in.Size(), Reader: in.reader, NoUnits: in.Format == anyprof.V2}
	if IsV4(in.Format) {
		l.Losses = in.losses
	}
	return l, nil
}

// Convert converts between formats. To write a version 4 file as text, it reads one unit at a time.
// Other conversions load the whole profile.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	if !IsV4(f.Format()) || out.Format.Name != anyprof.Text.String() || t.Any() {
		return kind.Convert(e, k, f, k, out, t)
	}
	in, err := Open(f)
	if err != nil {
		return err
	}
	tellLosses := kind.StartCount(in.losses)
	if err := output.Write(e.Out, out.Path, func(w io.Writer) error { return textfmt.Print(w, in.reader) }); err != nil {
		return err
	}
	tellLosses(e)
	_, noSources := profile.ReadSources(in.reader)
	_, noEvidence := profile.ReadEvidence(in.reader)
	if lost := (gcov.Losses{Sources: noSources == nil, Evidence: noEvidence == nil}).String(); lost != "" {
		e.Warnf("%s does not store everything: %s", out.Format.Name, lost)
	}
	return nil
}

// FormatNamed returns the format of GCOV profiles with a name such as "v4c". It returns 0 if the
// name is that of another kind's format.
func FormatNamed(name string) anyprof.Format {
	for f := anyprof.V4; f.GCOV(); f++ {
		if f.String() == name {
			return f
		}
	}
	return 0
}

// IsOld reports whether a format is version 2 or 3, which package gcov reads and writes.
func IsOld(f anyprof.Format) bool { return f == anyprof.V2 || f == anyprof.V3 }

// IsV4 reports whether a format is version 4, in normal or compact mode.
func IsV4(f anyprof.Format) bool { return f == anyprof.V4 || f == anyprof.V4Compact }

// An Input is a GCOV profile that a verb reads. A version 4 file is read lazily.
type Input struct {
	*input.File
	Format anyprof.Format
	Order  string // byte order of v2 and v3: "little-endian" or "big-endian"

	size    int64
	reader  *afdo.Reader // set for v4, and for other formats after Reader was called
	profile *profile.Profile
	unknown uint64 // number of records of unknown types, if counted is set
	counted bool
	trusts  bool // the reader trusts the index of the file
}

// Open opens a file as a GCOV profile. Closing the file closes the profile as well. The reader
// trusts the index only if the file is on a server.
func Open(f *input.File) (*Input, error) { return open(f, f.Remote()) }

func open(f *input.File, trusts bool) (*Input, error) {
	var opts []afdo.Option
	if trusts {
		opts = append(opts, afdo.TrustIndex())
	}
	p, err := f.Profile(anyprof.V4Options(opts...))
	if err != nil {
		return nil, err
	}
	in := &Input{File: f, Format: p.Format(), size: p.Size(), trusts: trusts}
	if IsOld(in.Format) {
		in.Order = "little-endian"
		if bytes.HasPrefix(f.Head(), []byte("gcda")) {
			in.Order = "big-endian"
		}
	}
	if IsV4(in.Format) {
		in.reader = p.Model().(*afdo.Reader)
		return in, nil
	}
	in.profile, err = p.GCOV()
	return in, err
}

// mayBeHidden reports whether a lookup that found nothing should search the whole file. That is so
// if the lookup has used an index, which may be incorrect, and the file is on this machine, where
// it is cheap to read.
func (in *Input) mayBeHidden() bool {
	if !in.trusts || in.Remote() || !IsV4(in.Format) {
		return false
	}
	_, err := index.Read(in.reader)
	return err == nil
}

// Size returns how many bytes the file has.
func (in *Input) Size() int64 { return in.size }

// Profile returns the whole GCOV profile in memory.
func (in *Input) Profile() (*profile.Profile, error) {
	if in.profile != nil {
		return in.profile, nil
	}
	p, unknown, err := profile.ReadCounting(in.reader)
	if err == nil {
		err = countNames(p, in.size)
	}
	if err != nil {
		return nil, err
	}
	in.profile, in.unknown, in.counted = p, unknown, true
	return p, nil
}

// Reader returns a reader of the GCOV profile. It converts a profile that is not in version 4 to
// version 4, in memory.
func (in *Input) Reader() (*afdo.Reader, error) {
	if in.reader != nil {
		return in.reader, nil
	}
	p, err := in.Profile()
	if err != nil {
		return nil, err
	}
	in.profile = nil
	in.reader, err = readerOf(p)
	return in.reader, err
}

// readerOf encodes a profile as version 4 in memory, and returns a reader of it.
func readerOf(p *profile.Profile) (*afdo.Reader, error) {
	var file bytes.Buffer
	if err := builder.Write(&file, p, builder.Options{}); err != nil {
		return nil, err
	}
	return afdo.OpenBytes(file.Bytes())
}

// IndexOptionsOf returns the options with which afdo makes the index of the version 4 file that r
// reads.
func IndexOptionsOf(r *afdo.Reader) (*index.Options, error) {
	p, err := slice.FromReader(r)
	if err != nil {
		return nil, err
	}
	return NewIndexOptions(p), nil
}

// NewIndexOptions returns the options of every index that afdo writes, for the profile p. The
// fingerprint of a unit is the key that "afdo fingerprint" prints. All fingerprints are computed
// when the first one is needed.
func NewIndexOptions(p *slice.Program) *index.Options {
	keysOf := sync.OnceValues(func() (map[string]uint64, error) { return p.Fingerprints(slice.FingerprintTarget, 0) })
	return &index.Options{
		Producer: "afdo " + cli.ProgramVersion(), Unqualified: p.Names(), FingerprintScheme: slice.FingerprintScheme,
		Fingerprint: func(u *afdo.Unit) (uint64, error) {
			keys, err := keysOf()
			key, ok := keys[u.Path()]
			if err == nil && !ok {
				err = fmt.Errorf("unit %q: %w", u.Path(), afdo.ErrNotFound)
			}
			return key, err
		},
		OverviewScheme: OverviewScheme, Overview: NewOverview,
	}
}

// Limits on the total length of the names in all profiles that the process loads: a multiple of the
// size of their files, and some bytes for any file. Names of real files take a few times the file
// size. Each file has a limit of its own, but there may be thousands of files, and a merged profile
// keeps the names of all.
const (
	spelledPerByte = 16
	freeSpelled    = 64 << 20
)

// spelled is the length in bytes of the names in all profiles that were loaded. It counts only what
// exceeds spelledPerByte bytes for each byte of the profile's file.
var spelled atomic.Int64

// countNames adds the names of a profile to spelled. size is the size of its file. It returns an
// error if the names of all profiles are too long.
func countNames(p *profile.Profile, size int64) error {
	n := -spelledPerByte * size
	for s := range p.NumSymbols() {
		n += int64(len(p.SymbolName(profile.SymbolRef(s))))
	}
	if n > 0 && spelled.Add(n) > freeSpelled {
		return fmt.Errorf("its names and those of the files before it take more than %d times the files, spelled out: %w", spelledPerByte, afdo.ErrLimit)
	}
	return nil
}
