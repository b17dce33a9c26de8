package instrprofkind

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/fault"
)

// ShowFacts is what the verb show prints about an instrumentation profile, in the form of its JSON.
type ShowFacts struct {
	File      string        `json:"file"`
	Format    string        `json:"format"`
	Version   uint32        `json:"version,omitempty"` // format version of indexed and raw files
	About     string        `json:"about"`             // the kind of file, in words
	Size      int64         `json:"size"`
	Level     string        `json:"level"` // where the compiler instrumented the program: "ir" or "frontend"
	Flags     string        `json:"flags"`
	Functions int           `json:"functions"` // number of records, each a function name with a hash
	Summary   *SummaryFacts `json:"summary"`
	CS        *SummaryFacts `json:"context_sensitive_summary,omitempty"`
	Values    []ValueFacts  `json:"values"`
	Bitmap    int           `json:"bitmap_bytes"`
	BinaryIDs []string      `json:"binary_ids"`
	VTables   int           `json:"vtable_names"`
	Traces    int           `json:"temporal_traces"`
	Seen      uint64        `json:"temporal_traces_seen"`
	MemProf   int           `json:"memprof_bytes"`

	records recordCount
}

// SummaryFacts is the summary of an instrumentation profile. If it is computed from the counters,
// it does not include functions with pseudo counts.
type SummaryFacts struct {
	NumFunctions     uint64            `json:"functions"`
	MaxFunctionCount uint64            `json:"max_function_count"`
	MaxInternalCount uint64            `json:"max_internal_count"`
	MaxCount         uint64            `json:"max_count"`
	NumCounts        uint64            `json:"counts"`
	TotalCount       uint64            `json:"total_count"`
	Entries          []kind.EntryFacts `json:"detailed_entries"`
}

// ValueFacts is what the verb show prints about the profiled values of one kind, such as the
// targets of indirect calls.
type ValueFacts struct {
	Kind   string `json:"kind"`
	Sites  uint64 `json:"sites"`
	Filled uint64 `json:"sites_with_values"`
	Values uint64 `json:"values"`
}

// Show prints the format, sizes and summaries of a profile, as text or JSON.
func (k *Kind) Show(e *cli.Env, f *input.File, asJSON bool) error {
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(f.Name))
	defer doing.Stop()
	facts := &ShowFacts{File: f.Name, Format: f.Format().String(), BinaryIDs: []string{}, Values: []ValueFacts{}}
	var err error
	if facts.Format == formatIndexed {
		err = facts.indexed(f)
	} else {
		err = facts.unindexed(k, e, f)
	}
	if err != nil {
		return err
	}
	doing.Stop()
	return output.Facts(e.Out, asJSON, facts, facts.print)
}

// indexed sets the facts about an indexed file. It uses the summaries in the file. If they are
// missing or do not include all functions, it computes them from the counters.
func (s *ShowFacts) indexed(f *input.File) error {
	r, err := openIndexed(f)
	if err != nil {
		return err
	}
	h := r.Header()
	s.Version, s.Size = h.Version, r.Size()
	s.About = fmt.Sprintf("indexed, version %d", h.Version)
	s.setFlags(h.Flags)
	summary, cs, leftOut := r.Summary(), r.CSSummary(), false
	for rec, err := range r.Records() {
		if err != nil {
			return err
		}
		s.records.add(rec)
		leftOut = leftOut || rec.ContextSensitive() && h.Flags&instrprof.ContextSensitive == 0
	}
	if summary == nil || leftOut {
		if summary, cs, err = r.Summarize(); err != nil {
			return err
		}
	}
	s.Summary, s.CS = newSummaryFacts(summary), newSummaryFacts(cs)
	ids, idsErr := r.BinaryIDs()
	names, namesErr := r.VTableNames()
	traces, tracesErr := r.Traces()
	s.addFileFacts(ids, names, traces)
	memprof, _, err := r.MemProf()
	s.MemProf = len(memprof)
	if errors.Is(err, fault.ErrNotFound) {
		err = nil
	}
	return errors.Join(idsErr, namesErr, tracesErr, err)
}

// unindexed sets the facts about a raw file or a text file. It reads the whole file.
func (s *ShowFacts) unindexed(k *Kind, e *cli.Env, f *input.File) error {
	p, err := k.load(e, f)
	if err != nil {
		return err
	}
	s.About, s.Size = "text", p.file.Size()
	if r, ok := p.file.Model().(*instrprof.RawReader); ok {
		s.Version, s.About = r.Header().Version, r.Header().String()
	}
	s.setFlags(p.Flags)
	s.Summary = newSummaryFacts(p.Summary())
	if p.Flags&instrprof.ContextSensitive != 0 {
		s.CS = newSummaryFacts(p.CSSummary())
	}
	for rec := range p.Records() {
		s.records.add(rec)
	}
	s.addFileFacts(p.BinaryIDs, p.VTableNames, p.Traces)
	return nil
}

func (s *ShowFacts) setFlags(flags instrprof.Flags) {
	s.Level, s.Flags = "frontend", flags.String()
	if flags&instrprof.IRLevel != 0 {
		s.Level = "ir"
	}
}

// addFileFacts adds the facts that do not belong to one function: binary IDs, names of virtual
// tables, and temporal traces. It also copies the numbers of records and values that were counted.
func (s *ShowFacts) addFileFacts(ids []instrprof.BinaryID, vtables []string, traces instrprof.Traces) {
	for _, id := range ids {
		s.BinaryIDs = append(s.BinaryIDs, fmt.Sprintf("%x", []byte(id)))
	}
	s.VTables, s.Traces, s.Seen = len(vtables), len(traces.Traces), traces.Seen
	s.Functions, s.Bitmap = s.records.n, s.records.bitmap
	for k, v := range s.records.values {
		v.Kind = instrprof.ValueKind(k).String()
		s.Values = append(s.Values, v)
	}
}

// recordCount counts the records of a profile, the bytes of their bitmaps, and their profiled
// values.
type recordCount struct {
	n, bitmap int
	values    [3]ValueFacts
}

func (c *recordCount) add(r instrprof.Record) {
	c.n++
	c.bitmap += r.Bitmap().Len()
	if r.Values().Empty() {
		return
	}
	for k := range c.values {
		v := &c.values[k]
		for site := range r.Values().Sites(instrprof.ValueKind(k)) {
			v.Sites++
			v.Filled += uint64(min(1, site.Len()))
			v.Values += uint64(site.Len())
		}
	}
}

func newSummaryFacts(s *instrprof.Summary) *SummaryFacts {
	if s == nil {
		return nil
	}
	f := &SummaryFacts{
		NumFunctions: s.NumFunctions, MaxFunctionCount: s.MaxFunctionCount, MaxInternalCount: s.MaxInternalCount,
		MaxCount: s.MaxCount, NumCounts: s.NumCounts, TotalCount: s.TotalCount, Entries: []kind.EntryFacts{},
	}
	for _, e := range s.Entries {
		f.Entries = append(f.Entries, kind.EntryFacts(e))
	}
	return f
}

func (s *ShowFacts) print(w io.Writer) error {
	return table.WriteParts(w, s.head(),
		table.Part{Heading: "Summary", Table: s.Summary.table()},
		table.Part{Heading: "Detailed summary", Table: s.Summary.entryTable()},
		table.Part{Heading: "Context-sensitive summary", Table: s.CS.table()},
		table.Part{Heading: "Context-sensitive detailed summary", Table: s.CS.entryTable()},
		table.Part{Heading: "Contents", Table: s.contentTable()},
	)
}

func (s *ShowFacts) head() *table.Table {
	t := &table.Table{Columns: "ll"}
	t.Row("File", human.Name(s.File))
	t.Row("Format", s.Format+": LLVM instrumentation profile, "+s.About)
	t.Row("Size", human.Number(s.Size)+" bytes")
	t.Row("Level", s.Level)
	t.Row("Flags", s.Flags)
	return t
}

func (s *SummaryFacts) table() *table.Table {
	t := &table.Table{Columns: "lr"}
	if s == nil {
		return t
	}
	t.Row("Functions", human.Number(s.NumFunctions))
	t.Row("Largest function count", human.Number(s.MaxFunctionCount))
	t.Row("Largest internal count", human.Number(s.MaxInternalCount))
	t.Row("Counts", human.Number(s.NumCounts))
	t.Row("Total count", human.Number(s.TotalCount))
	return t
}

func (s *SummaryFacts) entryTable() *table.Table {
	if s == nil {
		return &table.Table{}
	}
	return kind.EntryTable(s.Entries)
}

func (s *ShowFacts) contentTable() *table.Table {
	t := &table.Table{Columns: "lr"}
	t.Row("Records (functions with a hash)", human.Number(s.Functions))
	for _, v := range s.Values {
		if v.Sites > 0 {
			t.Row(v.Kind+" sites", human.Number(v.Sites))
			t.Row(v.Kind+" sites with values", human.Number(v.Filled))
			t.Row(v.Kind+" values", human.Number(v.Values))
		}
	}
	t.Row("MC/DC bitmap bytes", human.Number(s.Bitmap))
	t.Row("Virtual table names", human.Number(s.VTables))
	t.Row("Temporal traces", human.Number(s.Traces))
	t.Row("MemProf section bytes", human.Number(s.MemProf))
	for _, id := range s.BinaryIDs {
		t.Row("Binary ID", id)
	}
	return t
}

// DiffFacts is what the verb diff prints, in the form of its JSON. Overlaps are from 0 to 1,
// computed as by llvm-profdata.
type DiffFacts struct {
	Overlap    float64        `json:"overlap"` // overlap of the counters
	Sums       [2]float64     `json:"sums"`    // sums of the counters of each profile
	Values     []OverlapFacts `json:"values"`
	Common     int            `json:"common_records"`
	Mismatched int            `json:"mismatched_records"`
	Lost       int            `json:"lost_records"`   // records that only the first profile has
	Gained     int            `json:"gained_records"` // records that only the second profile has
	Changed    int            `json:"changed_records"`
	Functions  []DeltaFacts   `json:"functions"` // the records that differ most
	LeftOut    int            `json:"left_out"`

	width int // width of the terminal in columns
}

// OverlapFacts is the overlap of the values of one kind, such as the targets of indirect calls.
type OverlapFacts struct {
	Kind    string     `json:"kind"`
	Overlap float64    `json:"overlap"`
	Sums    [2]float64 `json:"sums"`
}

// DeltaFacts describes a record that differs between two profiles, or that only one of them has.
type DeltaFacts struct {
	Name      string      `json:"name"`
	Demangled string      `json:"demangled,omitempty"`
	Hash      string      `json:"hash"`
	Sums      [2]*float64 `json:"sums"` // sums of the counters in each profile; null if it lacks the record
}

// Diff prints how much two instrumentation profiles overlap, and which records differ most. differ
// reports whether any record differs.
func (k *Kind) Diff(e *cli.Env, files [2]*input.File, o *kind.DiffOptions) (differ bool, err error) {
	if o.ByUnit {
		return false, cli.Usagef("an instrumentation profile has no units")
	}
	doing := progress.Begin(e.Progress(), "comparing %s and %s", human.Name(files[0].Name), human.Name(files[1].Name))
	defer doing.Stop()
	var profiles [2]*instrprof.Profile
	for i, f := range files {
		l, err := k.load(e, f)
		if err != nil {
			return false, f.Wrap(err)
		}
		profiles[i] = l.Profile
	}
	c := instrprof.Compare(profiles[0], profiles[1])
	facts := newDiffFacts(c, o)
	doing.Stop()
	if o.JSON {
		return !c.Equal, output.JSON(e.Out, facts)
	}
	return !c.Equal, output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return facts.print(w, c.Equal) })
}

func newDiffFacts(c *instrprof.Comparison, o *kind.DiffOptions) *DiffFacts {
	f := &DiffFacts{
		Overlap: c.Counters.Value, Sums: c.Counters.Sums, Common: c.Common, Mismatched: c.Mismatched,
		Values: []OverlapFacts{}, Functions: []DeltaFacts{}, width: o.Width,
	}
	for i, v := range c.Values {
		f.Values = append(f.Values, OverlapFacts{instrprof.ValueKind(i).String(), v.Value, v.Sums})
	}
	for _, d := range c.Functions {
		switch {
		case !d.Has[1]:
			f.Lost++
		case !d.Has[0]:
			f.Gained++
		default:
			f.Changed++
		}
	}
	shown, leftOut := table.First(c.Functions, o.Number)
	f.LeftOut = leftOut
	for _, d := range shown {
		f.Functions = append(f.Functions, newDelta(d, o.Demangle))
	}
	return f
}

func newDelta(d instrprof.FunctionDelta, demangle bool) DeltaFacts {
	f := DeltaFacts{Name: d.Name, Hash: fmt.Sprintf("%#x", d.Hash)}
	if demangle {
		f.Demangled = demangled.Name(d.Name)
	}
	for i, sum := range d.Sums {
		if d.Has[i] {
			f.Sums[i] = &sum
		}
	}
	return f
}

func (f *DiffFacts) print(w io.Writer, equal bool) error {
	if equal {
		_, err := fmt.Fprintln(w, "The profiles say the same.")
		return err
	}
	t := &table.Table{Columns: "lrrr"}
	t.Row("", "Overlap", "First", "Second")
	t.Row("Counters", human.Overlap(f.Overlap), count(f.Sums[0]), count(f.Sums[1]))
	for _, v := range f.Values {
		if v.Sums[0] > 0 || v.Sums[1] > 0 {
			t.Row(v.Kind, human.Overlap(v.Overlap), count(v.Sums[0]), count(v.Sums[1]))
		}
	}
	_, err := fmt.Fprintf(w, "%s\nRecords: %s in both, %s of them with other numbers of counters or sites\n         %s lost, %s gained, %s changed\n\n", t.Text(0),
		human.Number(f.Common+f.Mismatched), human.Number(f.Mismatched), human.Number(f.Lost), human.Number(f.Gained), human.Number(f.Changed))
	if err != nil {
		return err
	}
	l := &table.List{Numbers: table.Table{Columns: "rr"}, Heading: "Function", LeftOut: f.LeftOut, Width: f.width}
	l.Numbers.Row("First", "Second")
	for _, d := range f.Functions {
		l.Numbers.Row(side(d.Sums[0]), side(d.Sums[1]))
	}
	l.About = func(i int) (iter.Seq[string], string) {
		return demangled.Forms(f.Functions[i].Name, f.Functions[i].Demangled != ""), ""
	}
	return l.Write(w, 0)
}

func side(sum *float64) string {
	if sum == nil {
		return "-"
	}
	return count(*sum)
}

func count(sum float64) string {
	if sum >= 1<<63 {
		return fmt.Sprintf("%.6g", sum)
	}
	return human.Number(uint64(sum))
}
