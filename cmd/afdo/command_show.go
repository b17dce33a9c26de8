package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
)

const showHelp = `Print what FILE is: its format and size, the sizes of its sections by kind, its
summary, and how many units, symbols, functions and location records it has.

The sections are those of version 4. For a file of another format they are what
"afdo convert --to v4" would make of it.`

func newShowCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print header, sizes, summary and counts of a profile",
		Long:  showHelp,
		Args:  wantArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInput(args[0], func(in *input) error { return e.show(in, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (e *env) show(in *input, asJSON bool) error {
	progress := e.startProgress()
	progress.say("reading %s", printable(in.name))
	defer progress.stop()
	r, err := in.openReader()
	if err != nil {
		return err
	}
	summary, err := r.Summary()
	if err != nil {
		return err
	}
	t, err := takeTally(r)
	if err != nil {
		return err
	}
	progress.stop()
	facts := newShowFacts(in, r, summary, t)
	if facts.Index, err = newIndexFacts(r); err != nil {
		return err
	}
	if asJSON {
		return e.printJSON(facts)
	}
	return e.withOutput(stdio, facts.print)
}

// showFacts is what show prints, in the form of its JSON.
type showFacts struct {
	File      string       `json:"file"`
	Format    string       `json:"format"`
	ByteOrder string       `json:"byte_order,omitempty"` // of v2 and v3
	Size      int64        `json:"size"`                 // of the file
	Compact   bool         `json:"compact_header"`       // of v4
	V4Size    int64        `json:"v4_size"`              // Size, or what the file would have as v4
	Sections  []sizeFacts  `json:"sections"`
	Summary   summaryFacts `json:"summary"`
	Units     uint64       `json:"units"`
	Symbols   uint64       `json:"symbols"`
	Functions uint64       `json:"functions"` // symbols with info
	Records   recordFacts  `json:"records"`
	Index     *indexFacts  `json:"index,omitempty"` // of v4, if it has one
}

// sizeFacts is how many bytes of a v4 file are of a kind.
type sizeFacts struct {
	Kind    string  `json:"kind"`           // a section type, "header" or "gap"
	Type    *uint8  `json:"type,omitempty"` // of sections
	Known   bool    `json:"known"`          // the type is of the RFC, or the section an index
	Count   uint64  `json:"count"`
	Compact uint64  `json:"compact"` // how many of them are in compact encoding
	Bytes   int64   `json:"bytes"`
	Percent float64 `json:"percent"`
}

type summaryFacts struct {
	TotalCount       uint64       `json:"total_count"`
	MaxCount         uint64       `json:"max_count"`
	MaxFunctionCount uint64       `json:"max_fn_count"`
	NumCounts        uint64       `json:"num_counts"`
	NumFunctions     uint64       `json:"num_functions"`
	Entries          []entryFacts `json:"detailed_entries"`
}

type entryFacts struct {
	Cutoff    uint32 `json:"cutoff"` // parts per million
	MinCount  uint64 `json:"min_count"`
	NumCounts uint64 `json:"num_counts"`
}

type recordFacts struct {
	Zero        uint64 `json:"zero"`
	Normal      uint64 `json:"normal"`
	Wide        uint64 `json:"wide"`
	CalledFn    uint64 `json:"called_fn"`
	CalledFns   uint64 `json:"called_fns"`
	InlinedFn   uint64 `json:"inlined_fn"`
	Unknown     uint64 `json:"unknown"`      // of types that are not of the RFC
	CallTargets uint64 `json:"call_targets"` // of called_fn and called_fns
	MaxDepth    int    `json:"max_inline_depth"`
}

func newShowFacts(in *input, r *afdo.Reader, s *afdo.Summary, t *tally) *showFacts {
	f := &showFacts{
		File: in.name, Format: formatNames[in.format], ByteOrder: in.order, Size: in.size,
		Compact: r.Header().Compact, V4Size: r.Size(), Sections: t.sizes(r.Size()),
		Units: t.units, Symbols: t.symbols, Functions: t.functions,
		Summary: summaryFacts{
			TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFunctionCount: s.MaxFunctionCount,
			NumCounts: s.NumCounts, NumFunctions: s.NumFunctions, Entries: []entryFacts{},
		},
		Records: recordFacts{
			Zero:        t.records[afdo.LocationZero],
			Normal:      t.records[afdo.LocationNormal],
			Wide:        t.records[afdo.LocationWide],
			CalledFn:    t.records[afdo.LocationCalledFn],
			CalledFns:   t.records[afdo.LocationCalledFns],
			InlinedFn:   t.records[afdo.LocationInlinedFn],
			Unknown:     t.unknown,
			CallTargets: t.targets,
			MaxDepth:    t.depth,
		},
	}
	for _, e := range s.Entries {
		f.Summary.Entries = append(f.Summary.Entries, entryFacts(e))
	}
	return f
}

// sizes lists what the bytes of a file of some size are.
func (t *tally) sizes(size int64) []sizeFacts {
	percent := func(bytes int64) float64 {
		return math.Round(1e4*float64(bytes)/float64(size)) / 1e2
	}
	list := []sizeFacts{{Kind: "header", Known: true, Count: 1, Bytes: t.header, Percent: percent(t.header)}}
	for typ, s := range t.sections {
		if s.count == 0 {
			continue
		}
		number := uint8(typ)
		list = append(list, sizeFacts{
			Kind: afdo.SectionType(typ).String(), Type: &number, Known: t.knownSection(afdo.SectionType(typ)),
			Count: s.count, Compact: s.compact, Bytes: s.bytes, Percent: percent(s.bytes),
		})
	}
	if t.gaps.count > 0 {
		list = append(list, sizeFacts{Kind: "gap", Count: t.gaps.count, Bytes: t.gaps.bytes, Percent: percent(t.gaps.bytes)})
	}
	return list
}

func (f *showFacts) print(w io.Writer) error {
	if err := f.head().write(w, 0); err != nil {
		return err
	}
	heading := "Sections"
	if f.ByteOrder != "" || f.Format == formatNames[formatText] {
		heading = fmt.Sprintf("Sections as v4 (%s bytes)", grouped(f.V4Size))
	}
	for _, part := range []struct {
		heading string
		table   *table
	}{
		{heading, f.sectionTable()},
		{"Summary", f.Summary.table()},
		{"Detailed summary", f.Summary.entryTable()},
		{"Contents", f.contentTable()},
		{"Index", f.Index.table()},
	} {
		if len(part.table.rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", part.heading); err != nil {
			return err
		}
		if err := part.table.write(w, 2); err != nil {
			return err
		}
	}
	return nil
}

// head says what the file itself is, whatever format its contents are shown in.
func (f *showFacts) head() *table {
	t := &table{columns: "ll"}
	t.row("File", printable(f.File))
	switch {
	case f.ByteOrder != "":
		t.row("Format", fmt.Sprintf("%s: GCOV version %s, %s", f.Format, f.Format[1:], f.ByteOrder))
	case f.Format == formatNames[formatText]:
		t.row("Format", "text: the textual form of GCOV version 4")
	case f.Compact:
		t.row("Format", "v4c: GCOV version 4, compact header")
	default:
		t.row("Format", "v4: GCOV version 4, normal header")
	}
	t.row("Size", grouped(f.Size)+" bytes")
	return t
}

func (f *showFacts) sectionTable() *table {
	t := &table{columns: "lrlrr"}
	t.row("Kind", "Count", "Encoding", "Bytes", "Share")
	for _, s := range f.Sections {
		kind := s.Kind
		if s.Type != nil && !s.Known {
			kind += " (unknown)"
		}
		t.row(kind, grouped(s.Count), s.encoding(f.Compact), grouped(s.Bytes), fmt.Sprintf("%.2f%%", s.Percent))
	}
	return t
}

// encoding says in which encoding the sections are.
func (s *sizeFacts) encoding(compactHeader bool) string {
	switch {
	case s.Kind == "gap":
		return ""
	case s.Compact == s.Count, s.Type == nil && compactHeader:
		return "compact"
	case s.Compact == 0:
		return "normal"
	}
	return grouped(s.Compact) + " compact"
}

func (s *summaryFacts) table() *table {
	t := &table{columns: "lr"}
	t.row("Total count", grouped(s.TotalCount))
	t.row("Largest count", grouped(s.MaxCount))
	t.row("Largest head count", grouped(s.MaxFunctionCount))
	t.row("Counts", grouped(s.NumCounts))
	t.row("Functions", grouped(s.NumFunctions))
	return t
}

func (s *summaryFacts) entryTable() *table {
	t := &table{columns: "rrr"}
	for i, e := range s.Entries {
		if i == 0 {
			t.row("Share of total", "Least count", "Counts")
		}
		share := strconv.FormatFloat(float64(e.Cutoff)/1e4, 'f', -1, 64) + "%"
		t.row(share, grouped(e.MinCount), grouped(e.NumCounts))
	}
	return t
}

func (f *showFacts) contentTable() *table {
	t := &table{columns: "lr"}
	t.row("Units", grouped(f.Units))
	t.row("Symbols", grouped(f.Symbols))
	t.row("Functions (symbols with info)", grouped(f.Functions))
	for _, r := range []struct {
		typ   afdo.LocationType
		count uint64
	}{
		{afdo.LocationZero, f.Records.Zero},
		{afdo.LocationNormal, f.Records.Normal},
		{afdo.LocationWide, f.Records.Wide},
		{afdo.LocationCalledFn, f.Records.CalledFn},
		{afdo.LocationCalledFns, f.Records.CalledFns},
		{afdo.LocationInlinedFn, f.Records.InlinedFn},
	} {
		t.row("Records: "+r.typ.String(), grouped(r.count))
	}
	t.row("Records of unknown types", grouped(f.Records.Unknown))
	t.row("Call targets", grouped(f.Records.CallTargets))
	t.row("Deepest inlining", grouped(f.Records.MaxDepth))
	return t
}
