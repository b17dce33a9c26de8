package gcovkind

import (
	"encoding/binary"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// Kind is GCOV profiles: versions 2 to 4 and the textual form.
type Kind struct {
	BigEndian bool // --big-endian
	Index     bool // --index
	NoSources bool // --no-sources
}

// Name is "GCOV profile".
func (k *Kind) Name() string { return "GCOV profile" }

// Takes takes the formats of GCC's sample profiles.
func (k *Kind) Takes(f anyprof.Format) bool { return f.GCOV() }

// Formats are v4, v4c, v3, v2 and text.
func (k *Kind) Formats() []kind.Format {
	return []kind.Format{
		{Name: "v4", About: "GCOV version 4", Extensions: []string{".v4"}},
		{Name: "v4c", About: "GCOV version 4 in compact encoding", Extensions: []string{".v4c"}},
		{Name: "v3", About: "GCOV version 3, for GCC 16", Aliases: []string{"gcc16"}, Extensions: []string{".v3"}},
		{Name: "v2", About: "GCOV version 2, for GCC 12 to 15", Aliases: []string{"gcc12", "gcc13", "gcc14", "gcc15"}, Extensions: []string{".v2"}},
		{Name: "text", About: "the textual form of version 4", Extensions: []string{".txt", ".text"}, Text: true},
	}
}

// AddFlags adds --big-endian, --index and --no-sources to verbs that write profiles.
func (k *Kind) AddFlags(verb *cobra.Command) {
	f := verb.Flags()
	if f.Lookup("to") == nil {
		return
	}
	f.BoolVar(&k.BigEndian, "big-endian", false, "write v2 or v3 in big-endian byte order")
	f.BoolVar(&k.Index, "index", false, `write v4 or v4c with an index, see "afdo help index"`)
	f.BoolVar(&k.NoSources, "no-sources", false, "write v4 or v4c without what it remembers of the sources")
}

// CheckFlags refuses flags that a format has no use for.
func (k *Kind) CheckFlags(name string) error {
	format := FormatNamed(name) // one of another kind has neither byte order nor index
	if k.BigEndian && !format.Old() {
		return cli.Usagef("--big-endian is for v2 and v3: %s has one byte order", name)
	}
	if k.Index && !format.V4() {
		return cli.Usagef("--index is for v4 and v4c: %s has no place for one", name)
	}
	return nil
}

// Encode writes a profile in one of the formats.
func (k *Kind) Encode(w io.Writer, name string, p *profile.Profile) (string, error) {
	losses, err := k.EncodeFormat(w, FormatNamed(name), p)
	return losses.String(), err
}

// EncodeFormat is [Kind.Encode] with losses that can be counted.
func (k *Kind) EncodeFormat(w io.Writer, format Format, p *profile.Profile) (gcov.Losses, error) {
	old := gcov.WriteOptions{Version: 3, ByteOrder: binary.LittleEndian}
	if k.BigEndian {
		old.ByteOrder = binary.BigEndian
	}
	switch format {
	case V4, V4Compact:
		return gcov.Losses{}, k.encodeV4(w, format, p)
	case V2:
		old.Version = 2
		return gcov.Write(w, p, old)
	case V3:
		return gcov.Write(w, p, old)
	default:
		return gcov.Losses{Sources: p.HasMarks()}, textfmt.PrintProfile(w, p)
	}
}

func (k *Kind) encodeV4(w io.Writer, format Format, p *profile.Profile) (err error) {
	options := builder.Options{Compact: format == V4Compact, NoSources: k.NoSources}
	if k.Index {
		options.Index = NewIndexOptions()
		if err = AddFingerprints(options.Index, p); err != nil {
			return err
		}
	}
	return builder.Write(w, p, options)
}

// Load reads a file of any of the formats.
func (k *Kind) Load(f *input.File) (*kind.Loaded, error) {
	in, err := Open(f)
	if err != nil {
		return nil, err
	}
	p, err := in.Profile()
	if err != nil {
		return nil, err
	}
	l := &kind.Loaded{Profile: p, Format: in.Format.String(), Size: in.Size(), Reader: in.reader, NoUnits: in.Format == V2}
	if in.Format.V4() {
		l.Losses = in.losses
	}
	return l, nil
}

// Convert writes a version 4 file as text without reading more than a unit at a time. All else goes
// through memory.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	if !Format(f.Format()).V4() || out.Format.Name != Text.String() || t.Any() {
		return kind.Convert(e, k, f, k, out, t)
	}
	in, err := Open(f)
	if err != nil {
		return err
	}
	losses := kind.StartCount(in.losses)
	if err := output.Write(e.Out, out.Path, func(w io.Writer) error { return textfmt.Print(w, in.reader) }); err != nil {
		return err
	}
	losses.Tell(e)
	if _, err := profile.ReadSources(in.reader); err == nil {
		e.Warnf("%s cannot hold everything: %s", out.Format.Name, gcov.Losses{Sources: true})
	}
	return nil
}
