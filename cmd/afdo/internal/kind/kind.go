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
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
	"github.com/spf13/cobra"
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

// A Loss is a kind of item that was left out, with the number of items.
type Loss struct {
	What string // such as "sections of unknown types"
	N    uint64
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

// CanMerge is a Kind that adds up profiles itself.
type CanMerge interface {
	Kind
	// Merge writes the sum of files of the kind.
	Merge(e *cli.Env, m *Merge) error
}

// A Merge is what the verb merge is asked for.
type Merge struct {
	Weights []profile.Ratio                  // one for each input
	Open    func(i int) (*input.File, error) // opens an input of the kind; the caller closes it; concurrent calls are allowed
	Say     func(format string, args ...any) // tells what is being done
	Out     Output
	Trim    *trim.Flags

	// Skip reports whether to leave out an input that cannot be read, and notes that it was left
	// out. Calls come one after the other.
	Skip func(i int, err error) bool

	// Nothing notes that an input was read and has no counts. Calls come one after the other.
	Nothing func(i int)

	// KeepGoing is set if Skip also leaves out inputs whose damage is found late.
	KeepGoing bool

	// Limit is called before anything is written. It returns an error if too much of the inputs was
	// lost. kept and dropped count what was kept and lost of the inputs that were not left out.
	Limit func(kept, dropped uint64) error
}

// EachInput calls add for each input with the number of times that it counts, and leaves out inputs
// that cannot be added if [Merge.Skip] says so. Then it asks [Merge.Limit].
func (m *Merge) EachInput(k Kind, add func(i int, times uint64) error) error {
	for i, weight := range m.Weights {
		times, err := Times(k, weight)
		if err != nil {
			return err
		}
		m.Say("merging %d profiles, %d read", len(m.Weights), i)
		if err := add(i, times); err != nil && !m.Skip(i, err) {
			return err
		}
	}
	return m.Limit(0, 0)
}

// Times returns how many times an input counts in a merge of a kind that adds up whole profiles.
func Times(k Kind, weight profile.Ratio) (uint64, error) {
	if weight.Den == 0 || weight.Num%weight.Den != 0 || weight.Num == 0 {
		return 0, cli.Usagef("%ss have whole weights of at least 1, not %d/%d", k.Name(), weight.Num, weight.Den)
	}
	return weight.Num / weight.Den, nil
}

// CanShow is a Kind that the verb show takes.
type CanShow interface {
	Kind
	Show(e *cli.Env, f *input.File, o *ShowOptions) error
}

// ShowOptions is what the verb show is asked for.
type ShowOptions struct {
	JSON bool
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
	Number       uint // how many of the functions in which a symbol is inlined are listed, 0 for all
}

// CanDiff is a Kind that compares two profiles itself.
type CanDiff interface {
	Kind
	// Diff prints the comparison of two files of the kind, and reports whether they differ.
	Diff(e *cli.Env, files [2]*input.File, o *DiffOptions) (differ bool, err error)
}

// DiffOptions is what the verb diff is asked for.
type DiffOptions struct {
	Number   uint // how many lines of each list to print, 0 for all
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
	Number   uint // how many lines to print, 0 for all
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

// Convert writes a file of one kind in a format of another or the same, through memory.
func Convert(e *cli.Env, from CanLoad, f *input.File, to CanEncode, out Output, t *trim.Flags) error {
	doing := out.Progress(e)
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	defer doing.Stop()
	l, err := from.Load(f)
	if err != nil {
		return err
	}
	losses := StartCount(l.Losses)
	p, notes := t.Apply(l.Profile)
	if err := Write(e, to, out, p); err != nil {
		if l.Hint != nil {
			err = l.Hint(err)
		}
		return err
	}
	doing.Stop()
	Note(e, notes)
	losses.Tell(e)
	return nil
}

// Write writes a profile and says on standard error what the format could not hold.
func Write(e *cli.Env, to CanEncode, out Output, p *profile.Profile) error {
	return WriteWith(e, out, func(w io.Writer) (string, error) { return to.Encode(w, out.Format.Name, p) })
}

// WriteWith is Write with a function that encodes, and says what the format cannot hold.
func WriteWith(e *cli.Env, out Output, encode func(io.Writer) (lost string, err error)) error {
	var lost string
	err := output.Write(e.Out, out.Path, func(w io.Writer) (err error) {
		lost, err = encode(w)
		return err
	})
	if err == nil && lost != "" {
		e.Warnf("%s does not store everything: %s", out.Format.Name, lost)
	}
	return err
}

// Note prints on standard error what was trimmed.
func Note(e *cli.Env, notes []string) {
	for _, n := range notes {
		e.Warnf("%s", n)
	}
}

// Losses adds up what is lost when several files become profiles in memory.
type Losses struct {
	all []Loss
	err error // of one file that could not be counted
}

// Add adds what one file has.
func (l *Losses) Add(losses []Loss, err error) {
	if err != nil {
		l.err = err
	}
	for _, loss := range losses {
		l.add(loss)
	}
}

// Merge adds the counts of other losses.
func (l *Losses) Merge(other Losses) { l.Add(other.all, other.err) }

func (l *Losses) add(loss Loss) {
	for i := range l.all {
		if l.all[i].What == loss.What {
			l.all[i].N += loss.N
			return
		}
	}
	l.all = append(l.all, loss)
}

// Tell prints on standard error what was left out, if anything.
func (l *Losses) Tell(e *cli.Env) {
	if l.err != nil {
		e.Warnf("unknown what was left out: %s", cli.Message(l.err))
	}
	for _, loss := range l.all {
		if loss.N > 0 {
			e.Warnf("%s that were left out: %d", loss.What, loss.N)
		}
	}
}

// A Count is going on while the caller does something else with a file.
type Count <-chan Losses

// StartCount begins to count what [Loaded.Losses] does; nil counts nothing.
func StartCount(losses func() ([]Loss, error)) Count {
	counted := make(chan Losses, 1)
	if losses == nil {
		counted <- Losses{}
		return counted
	}
	go func() {
		var l Losses
		l.Add(losses())
		counted <- l
	}()
	return counted
}

// Tell waits for the count and prints on standard error what was left out.
func (c Count) Tell(e *cli.Env) {
	l := <-c
	l.Tell(e)
}

// A Once is the value of a flag that is given at most once, such as the one program that a
// profile is of.
type Once string

// Set takes the value. A second one is an error: the first would have no effect.
func (o *Once) Set(value string) error {
	if *o != "" && string(*o) != value {
		return errors.New("the flag is given twice, and one program is read: run the command for each program, and merge the results")
	}
	*o = Once(value)
	return nil
}

func (o *Once) String() string { return string(*o) }

// Type names the kind of value in help texts.
func (*Once) Type() string { return "string" }

// A BinaryFlag is the flag --binary of a kind, on each verb that has it. Where another kind or the
// verb itself has the flag already, it is shared.
type BinaryFlag struct {
	own    Once
	shared []func() string
}

// AddTo adds the flag to a verb, except to create, which has a --binary of its own.
func (b *BinaryFlag) AddTo(verb *cobra.Command, usage string) {
	f := verb.Flags()
	if flag := f.Lookup("binary"); flag != nil {
		b.shared = append(b.shared, flag.Value.String)
	} else if verb.Name() != "create" {
		f.Var(&b.own, "binary", usage)
	}
}

// Path returns the path of the program, or "".
func (b *BinaryFlag) Path() string {
	path := string(b.own)
	for _, value := range b.shared {
		path = cmp.Or(path, value())
	}
	return path
}

// CanRebase is a Kind that moves profiles to edited sources itself.
type CanRebase interface {
	Kind
	// Rebase moves a profile from one state of the sources to another and writes it. The report is
	// returned with [rebase.ErrNothing], too.
	Rebase(e *cli.Env, f *input.File, r *Rebase) (*rebase.Report, error)
}

// A Rebase is what the verb rebase is asked for.
type Rebase struct {
	Old, New *rebase.Sources // Old is nil if the profile has to remember them

	// Output says what to write and which kind its format is of, for a profile that has a format.
	// It is nil if nothing is to be written.
	Output func(format string) (Output, Kind, error)
}

// RebaseModel moves a profile by way of package profile.
func RebaseModel(e *cli.Env, from CanLoad, f *input.File, r *Rebase) (*rebase.Report, error) {
	l, err := from.Load(f)
	if err != nil {
		return nil, err
	}
	p, report, err := rebase.Profile(l.Profile, r.Old, r.New)
	if err != nil || r.Output == nil {
		return report, err
	}
	out, of, err := r.Output(l.Format)
	if err != nil {
		return nil, err
	}
	to, ok := of.(CanEncode)
	if !ok {
		return nil, fmt.Errorf("%s cannot hold %ss", out.Format.Name, from.Name())
	}
	losses := StartCount(l.Losses)
	if err := Write(e, to, out, p); err != nil {
		return nil, err
	}
	losses.Tell(e)
	return report, nil
}

// SummaryFacts is the JSON form of the summary of a sample profile, as show prints it.
type SummaryFacts struct {
	TotalCount       uint64       `json:"total_count"`
	MaxCount         uint64       `json:"max_count"`
	MaxFunctionCount uint64       `json:"max_fn_count"`
	NumCounts        uint64       `json:"num_counts"`
	NumFunctions     uint64       `json:"num_functions"`
	Entries          []EntryFacts `json:"detailed_entries"`
}

// EntryFacts is one share of the total.
type EntryFacts struct {
	Cutoff    uint64 `json:"cutoff"` // parts per million
	MinCount  uint64 `json:"min_count"`
	NumCounts uint64 `json:"num_counts"`
}

// NewSummaryFacts returns the facts of a summary.
func NewSummaryFacts(s *afdo.Summary) SummaryFacts {
	f := SummaryFacts{
		TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFunctionCount: s.MaxFunctionCount,
		NumCounts: s.NumCounts, NumFunctions: s.NumFunctions, Entries: []EntryFacts{},
	}
	for _, e := range s.Entries {
		f.Entries = append(f.Entries, EntryFacts{uint64(e.Cutoff), e.MinCount, e.NumCounts})
	}
	return f
}

// Table has a row a figure.
func (s *SummaryFacts) Table() *table.Table {
	t := &table.Table{Columns: "lr"}
	t.Row("Total count", human.Number(s.TotalCount))
	t.Row("Largest count", human.Number(s.MaxCount))
	t.Row("Largest head count", human.Number(s.MaxFunctionCount))
	t.Row("Counts", human.Number(s.NumCounts))
	t.Row("Functions", human.Number(s.NumFunctions))
	return t
}

// EntryTable has a row a share of the total.
func EntryTable(entries []EntryFacts) *table.Table {
	t := &table.Table{Columns: "rrr"}
	for i, e := range entries {
		if i == 0 {
			t.Row("Share of total", "Least count", "Counts")
		}
		share := strconv.FormatFloat(float64(e.Cutoff)/1e4, 'f', -1, 64) + "%"
		t.Row(share, human.Number(e.MinCount), human.Number(e.NumCounts))
	}
	return t
}
