package samplekind

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// Show prints the format, sections, summary and contents of a sample profile, as text or JSON.
func (k *Kind) Show(e *cli.Env, f *input.File, asJSON bool) error {
	facts, err := newFacts(f)
	if err != nil {
		return err
	}
	return output.Facts(e.Out, asJSON, facts, facts.print)
}

// Facts is what the verb show prints about a sample profile, in the form of its JSON.
type Facts struct {
	File     string            `json:"file"`
	Format   string            `json:"format"`
	Size     int64             `json:"size"`
	Kinds    []string          `json:"kinds"` // properties of the profile, such as "context-sensitive"
	Sections []SectionFacts    `json:"sections"`
	Summary  kind.SummaryFacts `json:"summary"`

	Functions  int    `json:"functions"`
	Names      int    `json:"names"`
	MD5s       int    `json:"md5s"` // names that are known by their MD5 only
	SymbolList int    `json:"symbol_list"`
	Counts     uint64 `json:"counts"`
	Targets    uint64 `json:"call_targets"`
	Inlined    uint64 `json:"inlined"`
	VTables    uint64 `json:"vtable_types"`
	MaxDepth   int    `json:"max_inline_depth"`
}

// SectionFacts describes a section of an extbinary file, in the form of its JSON.
type SectionFacts struct {
	Type   string   `json:"type"`
	Flags  []string `json:"flags"`
	Offset int64    `json:"offset"`
	Bytes  int64    `json:"bytes"`
}

func newFacts(f *input.File) (*Facts, error) {
	o, err := open(f)
	if err != nil {
		return nil, err
	}
	facts := &Facts{File: f.Name, Format: o.format, Size: o.size, Kinds: []string{}, Sections: []SectionFacts{}}
	var summary *afdo.Summary
	if o.reader != nil {
		facts.addSections(o.reader)
		if summary, err = o.reader.Summary(); err != nil && !errors.Is(err, afdo.ErrNotFound) {
			return nil, err
		}
	}
	p, err := o.whole()
	if err != nil {
		return nil, err
	}
	if summary == nil {
		summary = p.Summarize()
	}
	facts.Summary = kind.NewSummaryFacts(summary)
	facts.addProfile(p)
	return facts, nil
}

func (f *Facts) addSections(r *sampleprof.Reader) {
	for _, s := range r.Sections() {
		flags := s.FlagNames()
		if flags == nil {
			flags = []string{}
		}
		f.Sections = append(f.Sections, SectionFacts{s.Type.String(), flags, s.Offset, s.Size})
	}
}

func (f *Facts) addProfile(p *sampleprof.Profile) {
	for _, k := range []struct {
		is   bool
		name string
	}{
		{p.ContextSensitive, "context-sensitive"},
		{p.Probes, "probe-based"},
		{p.FS, "flow-sensitive discriminators"},
		{p.PreInlined, "pre-inlined"},
		{p.Partial, "partial"},
	} {
		if k.is {
			f.Kinds = append(f.Kinds, k.name)
		}
	}
	f.Functions, f.Names, f.MD5s, f.SymbolList = p.NumFunctions(), p.NumNames(), p.NumHashed(), len(p.SymbolList)
	var ends []int
	for fn := range p.Functions() {
		ends = ends[:0]
		for i := range fn.Records {
			for len(ends) > 0 && ends[len(ends)-1] <= i {
				ends = ends[:len(ends)-1]
			}
			switch r := &fn.Records[i]; r.Kind {
			case sampleprof.KindCount:
				f.Counts++
			case sampleprof.KindTarget:
				f.Targets++
			case sampleprof.KindVTable:
				f.VTables++
			case sampleprof.KindInlined:
				f.Inlined++
				ends = append(ends, i+1+int(r.Span))
				f.MaxDepth = max(f.MaxDepth, len(ends))
			}
		}
	}
}

func (f *Facts) print(w io.Writer) error {
	return table.WriteParts(w, f.head(),
		table.Part{Heading: "Sections", Table: f.sectionTable()},
		table.Part{Heading: "Summary", Table: f.Summary.Table()},
		table.Part{Heading: "Detailed summary", Table: kind.EntryTable(f.Summary.Entries)},
		table.Part{Heading: "Contents", Table: f.contentTable()},
	)
}

func (f *Facts) head() *table.Table {
	t := &table.Table{Columns: "ll"}
	t.Row("File", human.Name(f.File))
	about := map[string]string{
		extBinary:  "ExtBinary, version 103",
		binary:     "the older binary format, version 103",
		sampleText: "text",
	}[f.Format]
	t.Row("Format", fmt.Sprintf("%s: LLVM sample profile, %s", f.Format, about))
	if len(f.Kinds) > 0 {
		t.Row("Kind", strings.Join(f.Kinds, ", "))
	}
	t.Row("Size", human.Number(f.Size)+" bytes")
	return t
}

func (f *Facts) sectionTable() *table.Table {
	t := &table.Table{Columns: "lrrrl"}
	for i, s := range f.Sections {
		if i == 0 {
			t.Row("Section", "Offset", "Bytes", "Share", "Flags")
		}
		share := human.Percent(float64(s.Bytes) / float64(max(f.Size, 1)))
		t.Row(s.Type, human.Number(s.Offset), human.Number(s.Bytes), share, strings.Join(s.Flags, ", "))
	}
	return t
}

func (f *Facts) contentTable() *table.Table {
	t := &table.Table{Columns: "lr"}
	t.Row("Functions", human.Number(f.Functions))
	t.Row("Names", human.Number(f.Names))
	t.Row("Names known by MD5 only", human.Number(f.MD5s))
	t.Row("Counts", human.Number(f.Counts))
	t.Row("Call targets", human.Number(f.Targets))
	t.Row("Inlined functions", human.Number(f.Inlined))
	t.Row("Types of vtables", human.Number(f.VTables))
	t.Row("Deepest inlining", human.Number(f.MaxDepth))
	t.Row("Symbol list", human.Number(f.SymbolList))
	return t
}
