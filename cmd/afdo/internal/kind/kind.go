// Package kind is the interface between the verbs of the command and the kinds of profile.
//
// A kind is a family of formats with one model: GCOV profiles, LLVM sample profiles and so on.
// Package anyprof opens the FILE of a verb and recognises its format. A [Table] returns the kind of
// that format, and the verb calls the kind. A kind supports a verb if it implements the verb's
// interface, such as CanShow for show. A kind whose profiles fit the model of package profile
// implements [CanLoad] and [CanEncode] instead, and supports top, diff, merge, pprof, report and
// convert with them. For a verb that the kind does not support, [Table.Refuse] returns the error.
//
// To add a kind:
//
//  1. Make a folder <name>kind beside this file with a type Kind that implements [Kind]. It only
//     translates between options and the package of the format, which knows nothing of verbs.
//  2. Add the methods of the verbs, one file per verb. Flags of its own come from [HasFlags].
//  3. Add a line to newKinds in cmd/afdo/main.go.
package kind

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/profile"
)

// A Kind is a kind of profile. One value serves one run of the command: it keeps the values of
// flags.
type Kind interface {
	// Name is what a file of the kind is called, such as "LLVM sample profile". A plural is made of
	// it with an "s".
	Name() string
	// Takes reports whether files of a format are of the kind.
	Takes(f anyprof.Format) bool
	// Formats are the formats that can be written, for --to.
	Formats() []Format
}

// A Format is one that can be written.
type Format struct {
	Name       string   // such as "v4c"
	Aliases    []string // names of the compilers that read it, such as "gcc12"
	About      string   // what it is, for the help
	Extensions []string // of file names that mean it, such as ".txt"
	Text       bool     // it may be printed on a terminal
}

// HasFlags is a Kind with flags of its own.
type HasFlags interface {
	// AddFlags adds flags to a verb, which it recognises by the name of the command. Verbs that
	// write profiles have the flag "to" already.
	AddFlags(verb *cobra.Command)
	// CheckFlags refuses flags that make no sense for a format to write, which may be one of
	// another kind, by a [cli.UsageError], before anything is read.
	CheckFlags(format string) error
}

// IndexedVersionFlag is the flag for the version of LLVM's indexed files, which hold
// instrumentation profiles and memory profiles. IndexedMemory is the first version that can hold
// memory profiles, among the versions that afdo writes.
const (
	IndexedVersionFlag = "indexed-version"
	IndexedMemory      = 12
)

// MemoryVersion returns the version of MemProf section to write: 3, unless only 4 can hold all.
func MemoryVersion(p *memprof.Profile) int {
	if p.Losses(3) != (memprof.Losses{}) {
		return 4
	}
	return 3
}

// CanLoad is a Kind whose profiles package profile can hold.
type CanLoad interface {
	Kind
	// Load reads a whole file.
	Load(f *input.File) (*Loaded, error)
}

// Loaded is a profile in memory.
type Loaded struct {
	Profile *profile.Profile
	Format  string       // its name
	Size    int64        // of the file in bytes
	Reader  *afdo.Reader // of the file if it is of version 4 already, nil if not; closed with the file
	// Losses says what the file has and Profile has not. It may take as long as loading; nil if
	// there can be none.
	Losses func() ([]Loss, error)
	// Hint, unless nil, adds to the error of writing Profile which flag helps.
	Hint func(error) error
	// NoUnits is set if the format does not contain the source files of functions.
	NoUnits bool
}

// CanEncode is a Kind whose formats can hold much of what package profile does.
type CanEncode interface {
	Kind
	// Encode writes a profile in a format of the kind. lost describes in words what the format
	// cannot hold. A value that does not fit is an error.
	Encode(w io.Writer, format string, p *profile.Profile) (lost string, err error)
}

// An Output is what a profile is written to.
type Output struct {
	Path   string
	Format Format
}

// CanConvert is a Kind that converts between its own formats itself.
type CanConvert interface {
	Kind
	// Convert writes a file in a format of the kind.
	Convert(e *cli.Env, f *input.File, out Output, t *trim.Flags) error
}

// TakesPart is a Kind whose profiles may be a part of files of another kind, which it can convert.
type TakesPart interface {
	CanConvert
	// TakesPart reports whether files of a format may have such a part.
	TakesPart(f anyprof.Format) bool
}

// CanShow is a Kind that the verb show takes.
type CanShow interface {
	Kind
	Show(e *cli.Env, f *input.File, asJSON bool) error
}

// CanLookup is a Kind that the verb lookup takes.
type CanLookup interface {
	Kind
	Lookup(e *cli.Env, f *input.File, o *LookupOptions) error
}

// LookupOptions is what the verb lookup is asked for.
type LookupOptions struct {
	Unit, Symbol string
	HasUnit      bool // Unit counts, and may be empty
	HasSymbol    bool // Symbol counts
	JSON         bool
	Demangle     bool
	Number       table.Count // how many of the functions in which a symbol is inlined are listed, 0 for all
}

// CanDiff is a Kind that compares two profiles itself.
type CanDiff interface {
	Kind
	// Diff prints the comparison of two files of the kind, and reports whether they differ.
	Diff(e *cli.Env, files [2]*input.File, o *DiffOptions) (differ bool, err error)
}

// DiffOptions is what the verb diff is asked for.
type DiffOptions struct {
	Number   table.Count // how many lines of each list to print, 0 for all
	ByUnit   bool
	Width    int // columns of the terminal that is written to, 0 if it is none
	JSON     bool
	Demangle bool
}

// CanTop is a Kind that finds the hottest functions itself.
type CanTop interface {
	Kind
	Top(e *cli.Env, f *input.File, o *TopOptions) error
}

// TopOptions is what the verb top is asked for.
type TopOptions struct {
	Number   table.Count // how many lines to print, 0 for all
	Unit     string
	HasUnit  bool // Unit counts, and may be empty
	Order    string
	Calls    bool
	Width    int // columns of the terminal that is written to, 0 if it is none
	JSON     bool
	Demangle bool
}

// CanPprof is a Kind that writes pprof's format itself.
type CanPprof interface {
	Kind
	Pprof(e *cli.Env, f *input.File, o *PprofOptions) error
}

// PprofOptions is what the verb pprof is asked for.
type PprofOptions struct {
	Path     string // of the output
	Demangle bool
}

// CanReport is a Kind whose profiles the verb report can draw. It draws their counts as if they
// were samples.
type CanReport interface {
	Kind
	Drawing(e *cli.Env, f *input.File) (*Drawing, error)
}

// A Drawing is what the verb report draws of a file.
type Drawing struct {
	Profile *profile.Profile
	Format  string // its name
	Note    string // what a sample is, if it is none of a profiler's
	Size    int64  // of the file in bytes
}

// A Table is the kinds that the command knows, in the order of the help. Each format of anyprof is
// of one of them.
type Table []Kind

// Of returns the kind of a format.
func (t Table) Of(f anyprof.Format) Kind {
	return t[slices.IndexFunc(t, func(k Kind) bool { return k.Takes(f) })]
}

// Format returns the format of a name, in upper or lower case, or of a compiler, and its kind.
func (t Table) Format(name string) (Format, Kind, bool) {
	name = strings.ReplaceAll(name, "-", "") // gcc-12, as the command is called
	same := func(other string) bool { return strings.EqualFold(name, other) }
	return t.find(func(f Format) bool { return same(f.Name) || slices.ContainsFunc(f.Aliases, same) })
}

// FormatOfPath returns the format that the extension of a path means. The one of x.v3.afdo.zst is
// .v3.
func (t Table) FormatOfPath(path string) (Format, Kind, bool) {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".afdo")
	return t.find(func(f Format) bool {
		return slices.ContainsFunc(f.Extensions, func(e string) bool { return strings.HasSuffix(path, e) })
	})
}

func (t Table) find(fits func(Format) bool) (Format, Kind, bool) {
	for _, k := range t {
		for _, f := range k.Formats() {
			if fits(f) {
				return f, k, true
			}
		}
	}
	return Format{}, nil, false
}

// FormatNames returns the names of all formats.
func (t Table) FormatNames() []string {
	var names []string
	for _, k := range t {
		for _, f := range k.Formats() {
			names = append(names, f.Name)
		}
	}
	return names
}

// Refuse returns the error of a verb for a kind that it does not support. able reports whether it
// supports a kind.
func (t Table) Refuse(verb string, k Kind, able func(Kind) bool) error {
	var taken []string
	for _, other := range t {
		if able(other) {
			taken = append(taken, other.Name()+"s")
		}
	}
	return fmt.Errorf("afdo %s does not take %ss, only %s", verb, k.Name(), strings.Join(taken, ", "))
}

// OnTerminal reports whether the output appears on a terminal.
func (o *Output) OnTerminal(e *cli.Env) bool { return o.Path == cli.Stdio && cli.IsTerminal(e.Out) }

// Progress starts a line of progress, unless the output itself is on a terminal.
func (o *Output) Progress(e *cli.Env) *progress.Line {
	if o.OnTerminal(e) {
		return nil
	}
	return progress.Start(e.Progress())
}
