// Package kind is the interface between the verbs of the command and the kinds of profile that they
// work on.
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

// A Kind implements the verbs for one kind of profile. A value is used for one run of the command,
// because it holds the values of flags.
type Kind interface {
	// Name is the noun for files of the kind in messages, such as "LLVM sample profile". Its plural
	// ends with "s".
	Name() string
	// Takes reports whether a format belongs to the kind.
	Takes(f anyprof.Format) bool
	// Formats are the formats that the kind can write, for --to.
	Formats() []Format
}

// A Format is a format that a kind can write.
type Format struct {
	Name       string   // such as "v4c"
	Aliases    []string // names of the compilers that read it, such as "gcc12"
	About      string   // description for the help
	Extensions []string // extensions of file names that select it, such as ".txt"
	Text       bool     // it is text and may be printed on a terminal
}

// HasFlags is a Kind with flags of its own.
type HasFlags interface {
	// AddFlags adds the kind's flags to a verb, which it recognises by the name of the command.
	// Verbs that write profiles have the flag "to" already.
	AddFlags(verb *cobra.Command)
	// CheckFlags returns a [cli.UsageError] for flags that have no effect on the output format,
	// which may belong to another kind. It is called before anything is read.
	CheckFlags(format string) error
}

// IndexedVersionFlag is the name of the flag for the version of LLVM's indexed files. These files
// contain instrumentation profiles and memory profiles. IndexedMemory is the first version among
// those that afdo writes that can contain memory profiles.
const (
	IndexedVersionFlag = "indexed-version"
	IndexedMemory      = 12
)

// MemoryVersion returns the version of the MemProf section in which a memory profile is written: 3,
// or 4 if version 3 cannot store all of it.
func MemoryVersion(p *memprof.Profile) int {
	if p.Losses(3) != (memprof.Losses{}) {
		return 4
	}
	return 3
}

// CanLoad is a Kind whose files can be loaded as a profile of package profile.
type CanLoad interface {
	Kind
	// Load reads a whole file.
	Load(f *input.File) (*Loaded, error)
}

// Loaded is a profile that was loaded into memory from a file, with facts about that file.
type Loaded struct {
	Profile *profile.Profile
	Format  string       // name of the file's format
	Size    int64        // size of the file in bytes
	Reader  *afdo.Reader // reader of a version 4 file, nil for other formats; closed with the file
	// Losses counts what the file contains and a profile.Profile cannot hold. It may take as long
	// as loading. It is nil if nothing of the file was lost.
	Losses func() ([]Loss, error)
	// Hint adds to an error of writing Profile the flag of afdo that avoids the error. It may be
	// nil.
	Hint func(error) error
	// NoUnits is set if the format does not contain the source files of functions.
	NoUnits bool
}

// CanEncode is a Kind that can write a profile of package profile in its formats.
type CanEncode interface {
	Kind
	// Encode writes a profile in a format of the kind. lost describes in words what the format
	// cannot hold. A value that does not fit is an error.
	Encode(w io.Writer, format string, p *profile.Profile) (lost string, err error)
}

// An Output is the path and format in which a profile is written.
type Output struct {
	Path   string
	Format Format
}

// CanConvert is a Kind that converts its profiles between its own formats itself. LLVM's
// instrumentation profiles are an example. The profiles of other kinds are converted through
// package profile.
type CanConvert interface {
	Kind
	// Convert converts a file to another format of the kind.
	Convert(e *cli.Env, f *input.File, out Output, t *trim.Flags) error
}

// TakesPart is a Kind that can also convert files of another kind, if these contain a profile of
// its kind. For example, an indexed instrumentation profile may contain a memory profile.
type TakesPart interface {
	CanConvert
	// TakesPart reports whether files of a format may contain such a profile.
	TakesPart(f anyprof.Format) bool
}

// CanShow is a Kind that supports the verb show.
type CanShow interface {
	Kind
	Show(e *cli.Env, f *input.File, asJSON bool) error
}

// CanLookup is a Kind that supports the verb lookup.
type CanLookup interface {
	Kind
	Lookup(e *cli.Env, f *input.File, o *LookupOptions) error
}

// LookupOptions are the flags of the verb lookup.
type LookupOptions struct {
	Unit, Symbol string
	HasUnit      bool // --unit was given; Unit may be empty
	HasSymbol    bool // --symbol was given
	JSON         bool
	Demangle     bool
	Number       table.Count // maximum number of functions listed in which a symbol is inlined, 0 for all
}

// CanDiff is a Kind that compares two profiles itself, not as profiles of package profile.
type CanDiff interface {
	Kind
	// Diff prints the comparison of two files of the kind, and reports whether they differ.
	Diff(e *cli.Env, files [2]*input.File, o *DiffOptions) (differ bool, err error)
}

// DiffOptions are the flags of the verb diff.
type DiffOptions struct {
	Number   table.Count // how many lines of each list to print, 0 for all
	ByUnit   bool
	Width    int // columns of the terminal, 0 if the output is not a terminal
	JSON     bool
	Demangle bool
}

// CanTop is a Kind that lists the hottest functions itself, not those of a profile of package
// profile.
type CanTop interface {
	Kind
	Top(e *cli.Env, f *input.File, o *TopOptions) error
}

// TopOptions are the flags of the verb top.
type TopOptions struct {
	Number   table.Count // how many lines to print, 0 for all
	Unit     string
	HasUnit  bool // --unit was given; Unit may be empty
	Order    string
	Calls    bool
	Width    int // columns of the terminal, 0 if the output is not a terminal
	JSON     bool
	Demangle bool
}

// CanPprof is a Kind that writes pprof's format itself, not from a profile of package profile.
type CanPprof interface {
	Kind
	Pprof(e *cli.Env, f *input.File, o *PprofOptions) error
}

// PprofOptions are the flags of the verb pprof.
type PprofOptions struct {
	Path     string // path of the output
	Demangle bool
}

// CanReport is a Kind whose profiles count something else than samples, such as bytes. The verb
// report draws these counts as if they were samples.
type CanReport interface {
	Kind
	Drawing(e *cli.Env, f *input.File) (*Drawing, error)
}

// A Drawing is the profile that the verb report draws for a file, with facts about the file.
type Drawing struct {
	Profile *profile.Profile
	Format  string // name of the file's format
	Note    string // explains to readers what a sample of Profile is, if it does not come from a profiler
	Size    int64  // size of the file in bytes
}

// A Table lists the kinds that the command supports, in the order of the help. Each format of
// anyprof belongs to one of them.
type Table []Kind

// Of returns the kind of profiles to which a file format belongs, such as the one of LLVM's
// sample profiles for ExtBinary. It panics if no kind of the table has the format.
func (t Table) Of(f anyprof.Format) Kind {
	return t[slices.IndexFunc(t, func(k Kind) bool { return k.Takes(f) })]
}

// Format returns the format with a name in upper or lower case, and the kind of that format. The
// name may also be that of a compiler, such as gcc12. Then the result is the format that the
// compiler reads. The last result is false for an unknown name.
func (t Table) Format(name string) (Format, Kind, bool) {
	name = strings.ReplaceAll(name, "-", "") // gcc-12, as the command is called
	same := func(other string) bool { return strings.EqualFold(name, other) }
	return t.find(func(f Format) bool { return same(f.Name) || slices.ContainsFunc(f.Aliases, same) })
}

// FormatOfPath returns the format for which the extension of a path stands, and the kind of that
// format. For x.v3.afdo.zst the extension is .v3.
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

// FormatNames returns the names of the formats of all kinds.
func (t Table) FormatNames() []string {
	var names []string
	for _, k := range t {
		for _, f := range k.Formats() {
			names = append(names, f.Name)
		}
	}
	return names
}

// Refuse returns the error for a verb that does not support the kind k. The error lists the kinds
// that the verb does support, which are those for which able returns true.
func (t Table) Refuse(verb string, k Kind, able func(Kind) bool) error {
	var taken []string
	for _, other := range t {
		if able(other) {
			taken = append(taken, other.Name()+"s")
		}
	}
	return fmt.Errorf("afdo %s does not take %ss, only %s", verb, k.Name(), strings.Join(taken, ", "))
}

// CannotHold returns the error for an output format that cannot store profiles of the kind k. It
// names the formats that can.
func (o *Output) CannotHold(k Kind) error {
	var fit []string
	for _, f := range k.Formats() {
		fit = append(fit, f.Name)
	}
	return fmt.Errorf("%s cannot hold %ss: use --to with one of %s", o.Format.Name, k.Name(), strings.Join(fit, ", "))
}

// OnTerminal reports whether the output goes to a terminal.
func (o *Output) OnTerminal(e *cli.Env) bool { return o.Path == cli.Stdio && cli.IsTerminal(e.Out) }

// Progress starts to show the progress of a long-running verb on the terminal. It shows none if the
// output of the verb goes to a terminal.
func (o *Output) Progress(e *cli.Env) *progress.Line {
	if o.OnTerminal(e) {
		return nil
	}
	return progress.Start(e.Progress())
}
