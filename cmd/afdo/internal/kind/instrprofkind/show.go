package instrprofkind

import (
	"errors"
	"fmt"
	"io"

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

// ShowFacts is what show prints, in the form of its JSON.
type ShowFacts struct {
	File      string        `json:"file"`
	Format    string        `json:"format"`
	Version   uint32        `json:"version,omitempty"` // of indexed and raw files
	About     string        `json:"about"`             // what the file itself is
	Size      int64         `json:"size"`
	Level     string        `json:"level"` // "ir" or "frontend"
	Flags     string        `json:"flags"`
	Functions int           `json:"functions"` // records: names with a hash
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

// SummaryFacts is a summary. What is computed from counters leaves out functions with pseudo
// counts.
type SummaryFacts struct {
	NumFunctions     uint64            `json:"functions"`
	MaxFunctionCount uint64            `json:"max_function_count"`
	MaxInternalCount uint64            `json:"max_internal_count"`
	MaxCount         uint64            `json:"max_count"`
	NumCounts        uint64            `json:"counts"`
	TotalCount       uint64            `json:"total_count"`
	Entries          []kind.EntryFacts `json:"detailed_entries"`
}

// ValueFacts is what there is of a kind of values.
type ValueFacts struct {
	Kind   string `json:"kind"`
	Sites  uint64 `json:"sites"`
	Filled uint64 `json:"sites_with_values"`
	Values uint64 `json:"values"`
}

// Show prints what a profile is, as text or JSON.
func (k *Kind) Show(e *cli.Env, f *input.File, o *kind.ShowOptions) error {
	doing := progress.Start(e.Progress())
	doing.Say("reading %s", human.Name(f.Name))
	defer doing.Stop()
	facts := &ShowFacts{File: f.Name, Format: f.Format().String(), BinaryIDs: []string{}, Values: []ValueFacts{}}
	var err error
	if facts.Format == formatIndexed {
		err = facts.indexed(f)
	} else {
		err = facts.other(k, e, f)
	}
	if err != nil {
		return err
	}
	doing.Stop()
	if o.JSON {
		return output.JSON(e.Out, facts)
	}
	return output.Write(e.Out, cli.Stdio, facts.print)
}

// indexed fills in the facts of an indexed file: the summaries are its own unless it has none or
// they leave functions out; the rest is counted.
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
	s.addRest(ids, names, traces)
	memprof, _, err := r.MemProf()
	s.MemProf = len(memprof)
	if errors.Is(err, fault.ErrNotFound) {
		err = nil
	}
	return errors.Join(idsErr, namesErr, tracesErr, err)
}

// other sets the facts about a raw file or a text from its content.
func (s *ShowFacts) other(k *Kind, e *cli.Env, f *input.File) error {
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
	s.addRest(p.BinaryIDs, p.VTableNames, p.Traces)
	return nil
}

func (s *ShowFacts) setFlags(flags instrprof.Flags) {
	s.Level, s.Flags = "frontend", flags.String()
	if flags&instrprof.IRLevel != 0 {
		s.Level = "ir"
	}
}

// addRest adds what does not belong to a function.
func (s *ShowFacts) addRest(ids []instrprof.BinaryID, vtables []string, traces instrprof.Traces) {
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

// recordCount counts what records hold.
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
