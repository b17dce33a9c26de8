// Package samplekind implements the verbs for LLVM's sample profiles, which package sampleprof
// reads and writes.
package samplekind

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
)

// Kind implements the verbs for LLVM's sample profiles: ExtBinary, text, and the older Binary.
type Kind struct {
	layout     sampleprof.WriteOptions // --md5, --compress, --split-layout
	symbolList string                  // --prof-sym-list
	names      []string                // --names
	base       bool                    // --base-discriminators
	program    kind.BinaryFlag

	// FlowSensitive marks profiles that are encoded as having discriminators of Clang's
	// flow-sensitive profiles.
	FlowSensitive bool
}

// The names of the formats.
const (
	extBinary  = "extbinary"
	sampleText = "sampletext"
	binary     = "binary"
)

// Name returns "LLVM sample profile".
func (k *Kind) Name() string { return "LLVM sample profile" }

// Takes reports whether a format is one of LLVM's sample profiles.
func (k *Kind) Takes(f anyprof.Format) bool { return f.Sample() }

// Formats returns extbinary, sampletext and binary.
func (k *Kind) Formats() []kind.Format {
	return []kind.Format{
		{Name: extBinary, About: "LLVM sample profile, what clang reads fastest", Aliases: []string{"clang"}, Extensions: []string{".extbinary"}},
		{Name: sampleText, About: "LLVM sample profile as text", Extensions: []string{".sampletext"}, Text: true},
		{Name: binary, About: "LLVM sample profile in the older binary format"},
	}
}

// AddFlags adds the flags about names and discriminators to all verbs, and the flags about the
// layout of ExtBinary to verbs that write profiles.
func (k *Kind) AddFlags(verb *cobra.Command) {
	f := verb.Flags()
	f.StringArrayVar(&k.names, "names", nil, "names for the MD5s of an LLVM sample profile: a list, one a line, or a binary with symbols")
	f.BoolVar(&k.base, "base-discriminators", false, "of an LLVM sample profile, cut flow-sensitive discriminators to those of the front end")
	k.program.AddTo(verb, "the program, for the source files of functions of an LLVM sample profile, and for raw memory profiles")
	if f.Lookup("to") == nil {
		return
	}
	f.BoolVar(&k.layout.MD5, "md5", false, "write extbinary with MD5s instead of names")
	f.BoolVar(&k.layout.Compress, "compress", false, "write extbinary with compressed sections")
	f.BoolVar(&k.layout.SplitLayout, "split-layout", false, "write extbinary with functions without inlining in a section of their own")
	f.StringVar(&k.symbolList, "prof-sym-list", "", "write extbinary with a symbol list: the names in this file, one a line")
}

// CheckFlags returns an error if a flag about the layout of ExtBinary is given for another format.
func (k *Kind) CheckFlags(format string) error {
	if format == extBinary {
		return nil
	}
	for _, f := range []struct {
		set  bool
		name string
	}{
		{k.layout.MD5, "md5"}, {k.layout.Compress, "compress"}, {k.layout.SplitLayout, "split-layout"}, {k.symbolList != "", "prof-sym-list"},
	} {
		if f.set {
			return cli.Usagef("--%s is for extbinary: %s has no place for it", f.name, format)
		}
	}
	return nil
}

// An opened is a sample profile from a file. A [sampleprof.Reader] reads parts of it when they are
// needed. A text file was read as a whole.
type opened struct {
	sampleprof.Source
	reader *sampleprof.Reader // nil for text
	format string
	size   int64
}

func open(f *input.File) (*opened, error) {
	p, err := f.Profile()
	if err != nil {
		return nil, err
	}
	o := &opened{Source: p.Model().(sampleprof.Source), format: p.Format().String(), size: p.Size()}
	o.reader, _ = o.Source.(*sampleprof.Reader)
	return o, nil
}

// whole returns the whole profile of the file in memory.
func (o *opened) whole() (*sampleprof.Profile, error) {
	if o.reader == nil {
		return o.Source.(*sampleprof.Profile), nil
	}
	return sampleprof.Read(o.reader)
}

// account checks the sections of the file that [opened.whole] does not read.
func (o *opened) account() error {
	if o.reader == nil {
		return nil
	}
	return o.reader.Account()
}

// read loads a whole file, and replaces MD5s by the names in the file of --names.
func (k *Kind) read(f *input.File) (*sampleprof.Profile, *opened, error) {
	o, err := open(f)
	if err != nil {
		return nil, nil, err
	}
	if err := o.account(); err != nil {
		return nil, nil, err
	}
	p, err := o.whole()
	if err == nil {
		err = k.resolve(p)
	}
	return p, o, err
}

// Load reads a sample profile of LLVM and converts it to a profile of package profile.
func (k *Kind) Load(f *input.File) (*kind.Loaded, error) {
	p, o, err := k.read(f)
	if err != nil {
		return nil, err
	}
	files, err := k.files(p)
	if err != nil {
		return nil, err
	}
	q, losses, err := p.ToGCOV(k.base, files)
	if err != nil {
		return nil, hint(err, p)
	}
	l := &kind.Loaded{Profile: q, Format: o.format, Size: o.size, NoUnits: files == nil}
	if !k.base && hasFlowSensitive(p) {
		l.Hint = func(err error) error {
			if errors.Is(err, afdo.ErrUnrepresentable) {
				return fmt.Errorf("%w; --base-discriminators cuts flow-sensitive ones to those of the front end", err)
			}
			return err
		}
	}
	l.Losses = func() ([]kind.Loss, error) { return lossList(losses), nil }
	return l, nil
}

// hint adds to an error of converting the profile p the flag of afdo with which the user can avoid
// it.
func hint(err error, p *sampleprof.Profile) error {
	if p.NumHashed() > 0 {
		return fmt.Errorf("%w; --names FILE tells the names", err)
	}
	return err
}

// hasFlowSensitive reports whether the discriminators of a profile have bits that only Clang's
// flow-sensitive profiles use. GCC's formats cannot hold them.
func hasFlowSensitive(p *sampleprof.Profile) bool {
	for f := range p.Functions() {
		for i := range f.Records {
			if f.Records[i].Discriminator > math.MaxUint16 {
				return true
			}
		}
	}
	return false
}

// lossList converts the losses of a conversion to a list, in which each has a description in words.
func lossList(l sampleprof.Losses) []kind.Loss {
	var list []kind.Loss
	for _, c := range []struct {
		what string
		n    int
	}{
		{"totals other than the sums of counts", l.Totals},
		{"head counts of calling contexts", l.Contexts},
		{"high bits of flow-sensitive discriminators", l.Discriminators},
		{"attributes of functions", l.Attributes},
		{"types of vtables", l.VTables},
		{"names of the symbol list", l.SymbolList},
		{"marks of flow-sensitive discriminators", count(l.FS)},
		{"marks of a partial profile", count(l.Partial)},
		{"marks of the pre-inliner", count(l.PreInlined)},
	} {
		if c.n > 0 {
			list = append(list, kind.Loss{What: c.what, N: uint64(c.n)})
		}
	}
	return list
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Encode writes a profile of package profile in the format of LLVM's sample profiles with the given
// name. It returns a description of what the format cannot store, or "".
func (k *Kind) Encode(w io.Writer, format string, p *profile.Profile) (string, error) {
	q, losses := sampleprof.FromGCOV(p)
	q.FS = k.FlowSensitive
	more, err := k.EncodeSamples(w, format, q)
	return join(losses.String(), more), err
}

// EncodeSamples writes a sample profile in the format of the given name. It returns a description
// of what the format cannot store, or "".
func (k *Kind) EncodeSamples(w io.Writer, format string, p *sampleprof.Profile) (string, error) {
	if err := k.addSymbolList(p); err != nil {
		return "", err
	}
	losses, err := k.encode(w, format, p)
	return losses.String(), err
}

func join(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "; ")
}

// encode writes a sample profile in the format of the given name. It returns what the format cannot
// store.
func (k *Kind) encode(w io.Writer, format string, p *sampleprof.Profile) (sampleprof.Losses, error) {
	switch format {
	case extBinary:
		return sampleprof.Losses{}, sampleprof.WriteExtBinary(w, p, k.layout)
	case binary:
		return sampleprof.WriteBinary(w, p)
	}
	return sampleprof.WriteText(w, p)
}
