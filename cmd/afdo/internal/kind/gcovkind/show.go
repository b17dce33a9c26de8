package gcovkind

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// Show prints the format, sizes, summary and contents of a profile, as text or JSON.
func (k *Kind) Show(e *cli.Env, f *input.File, asJSON bool) error {
	in, err := Open(f)
	if err != nil {
		return err
	}
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(in.Name))
	defer doing.Stop()
	r, err := in.Reader()
	if err != nil {
		return err
	}
	return in.show(e, r, asJSON, func() (*tally, error) {
		defer doing.Stop()
		return takeTally(r)
	})
}

// Show prints the same as [Kind.Show] for a file on a server. It takes the figures from the
// overview in the file's index.
func (v *Overview) Show(e *cli.Env, f *input.File, asJSON bool) error {
	in, err := Open(f)
	if err != nil {
		return err
	}
	return in.show(e, in.reader, asJSON, func() (*tally, error) { return v.tally, nil })
}

// show prints the facts about a version 4 file, as text or JSON. It calls take for the numbers of
// the file's sections and records.
func (in *Input) show(e *cli.Env, r *afdo.Reader, asJSON bool, take func() (*tally, error)) error {
	summary, err := r.Summary()
	if err != nil {
		return err
	}
	t, err := take()
	if err != nil {
		return err
	}
	f := newShowFacts(in, r, summary, t)
	if t.sections[afdo.SectionSources].count > 0 {
		if f.Sources, err = newSourcesFacts(r); err != nil {
			return err
		}
	}
	if f.Index, err = newIndexFacts(r); err != nil {
		return err
	}
	return output.Facts(e.Out, asJSON, f, f.print)
}

// ShowFacts is what the verb show prints about a GCOV profile, in the form of its JSON.
type ShowFacts struct {
	File      string            `json:"file"`
	Format    string            `json:"format"`
	ByteOrder string            `json:"byte_order,omitempty"` // byte order of v2 and v3
	Size      int64             `json:"size"`                 // size of the file
	Compact   bool              `json:"compact_header"`       // v4: the header is in compact mode
	V4Size    int64             `json:"v4_size"`              // size of the profile as v4, which is Size for v4
	Sections  []SizeFacts       `json:"sections"`
	Summary   kind.SummaryFacts `json:"summary"`
	Units     uint64            `json:"units"`
	Symbols   uint64            `json:"symbols"`
	Functions uint64            `json:"functions"` // symbols with info
	Records   RecordFacts       `json:"records"`
	Index     *IndexFacts       `json:"index,omitempty"` // v4: the index, if there is one
	Sources   *SourcesFacts     `json:"sources,omitempty"`
}

// SizeFacts is the total size of all sections of one kind in a version 4 file, such as those with
// samples.
type SizeFacts struct {
	Kind    string  `json:"kind"`           // a section type, "header" or "gap"
	Type    *uint8  `json:"type,omitempty"` // number of the section type
	Known   bool    `json:"known"`          // the type is defined by the RFC or by an extension of this project
	Count   uint64  `json:"count"`
	Compact uint64  `json:"compact"` // number of parts in compact encoding
	Bytes   int64   `json:"bytes"`
	Share   float64 `json:"share"` // share of the file, 0 to 1
}

type RecordFacts struct {
	Zero        uint64 `json:"zero"`
	Normal      uint64 `json:"normal"`
	Wide        uint64 `json:"wide"`
	CalledFn    uint64 `json:"called_fn"`
	CalledFns   uint64 `json:"called_fns"`
	InlinedFn   uint64 `json:"inlined_fn"`
	Unknown     uint64 `json:"unknown"`      // records of types that the RFC does not define
	CallTargets uint64 `json:"call_targets"` // call targets in all called_fn and called_fns records
	MaxDepth    int    `json:"max_inline_depth"`
}

func newShowFacts(in *Input, r *afdo.Reader, s *afdo.Summary, t *tally) *ShowFacts {
	f := &ShowFacts{
		File: in.Name, Format: in.Format.String(), ByteOrder: in.Order, Size: in.Size(),
		Compact: r.Header().Compact, V4Size: r.Size(), Sections: t.sizes(r.Size()),
		Units: t.units, Symbols: t.symbols, Functions: t.functions,
		Summary: kind.NewSummaryFacts(s),
		Records: RecordFacts{
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
	return f
}

// sizes returns how many bytes of a file the sections of each kind take. size is the size of the
// file.
func (t *tally) sizes(size int64) []SizeFacts {
	share := func(bytes int64) float64 { return float64(bytes) / float64(size) }
	list := []SizeFacts{{Kind: "header", Known: true, Count: 1, Bytes: t.header, Share: share(t.header)}}
	for typ, s := range t.sections {
		if s.count == 0 {
			continue
		}
		number := uint8(typ)
		list = append(list, SizeFacts{
			Kind: afdo.SectionType(typ).String(), Type: &number, Known: t.knownSection(afdo.SectionType(typ)),
			Count: s.count, Compact: s.compact, Bytes: s.bytes, Share: share(s.bytes),
		})
	}
	if t.gaps.count > 0 {
		list = append(list, SizeFacts{Kind: "gap", Count: t.gaps.count, Bytes: t.gaps.bytes, Share: share(t.gaps.bytes)})
	}
	return list
}

func (f *ShowFacts) print(w io.Writer) error {
	heading := "Sections"
	if f.ByteOrder != "" || f.Format == anyprof.Text.String() {
		heading = fmt.Sprintf("Sections as v4 (%s bytes)", human.Number(f.V4Size))
	}
	return table.WriteParts(w, f.head(),
		table.Part{Heading: heading, Table: f.sectionTable()},
		table.Part{Heading: "Summary", Table: f.Summary.Table()},
		table.Part{Heading: "Detailed summary", Table: kind.EntryTable(f.Summary.Entries)},
		table.Part{Heading: "Contents", Table: f.contentTable()},
		table.Part{Heading: "Remembered of the sources", Table: f.Sources.table()},
		table.Part{Heading: "Index", Table: f.Index.table()},
	)
}

// head returns the table with the facts that every format has, such as the name and the size of the
// file.
func (f *ShowFacts) head() *table.Table {
	t := &table.Table{Columns: "ll"}
	t.Row("File", human.Name(f.File))
	switch {
	case f.ByteOrder != "":
		t.Row("Format", fmt.Sprintf("%s: GCOV version %s, %s", f.Format, f.Format[1:], f.ByteOrder))
	case f.Format == anyprof.Text.String():
		t.Row("Format", "text: the textual form of GCOV version 4")
	case f.Compact:
		t.Row("Format", "v4c: GCOV version 4, compact header")
	default:
		t.Row("Format", "v4: GCOV version 4, normal header")
	}
	t.Row("Size", human.Number(f.Size)+" bytes")
	return t
}

func (f *ShowFacts) sectionTable() *table.Table {
	t := &table.Table{Columns: "lrlrr"}
	t.Row("Kind", "Count", "Encoding", "Bytes", "Share")
	for _, s := range f.Sections {
		kind := s.Kind
		if s.Type != nil && !s.Known {
			kind += " (unknown)"
		}
		t.Row(kind, human.Number(s.Count), s.encoding(f.Compact), human.Number(s.Bytes), human.Percent(s.Share))
	}
	return t
}

// encoding returns the encoding of the sections of this kind in words: compact, normal or both.
func (s *SizeFacts) encoding(compactHeader bool) string {
	switch {
	case s.Kind == "gap":
		return ""
	case s.Compact == s.Count, s.Type == nil && compactHeader:
		return "compact"
	case s.Compact == 0:
		return "normal"
	}
	return human.Number(s.Compact) + " compact"
}

func (f *ShowFacts) contentTable() *table.Table {
	t := &table.Table{Columns: "lr"}
	t.Row("Units", human.Number(f.Units))
	t.Row("Symbols", human.Number(f.Symbols))
	t.Row("Functions (symbols with info)", human.Number(f.Functions))
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
		t.Row("Records: "+r.typ.String(), human.Number(r.count))
	}
	t.Row("Records of unknown types", human.Number(f.Records.Unknown))
	t.Row("Call targets", human.Number(f.Records.CallTargets))
	t.Row("Deepest inlining", human.Number(f.Records.MaxDepth))
	return t
}

// IndexFacts describes the index of a file.
type IndexFacts struct {
	Problem      string       `json:"problem,omitempty"` // why the index cannot be used; then all other fields are empty
	Producer     string       `json:"producer,omitempty"`
	BuildID      string       `json:"build_id,omitempty"` // build ID of the program in hexadecimal digits
	Unqualified  string       `json:"unqualified_scheme,omitempty"`
	Fingerprints string       `json:"fingerprint_scheme,omitempty"`
	Blocks       []BlockFacts `json:"blocks,omitempty"`
}

// BlockFacts describes a block of an index, such as the one of names.
type BlockFacts struct {
	Kind  string `json:"kind"`
	Bytes int64  `json:"bytes"`
}

// newIndexFacts returns the facts about the index of a file, or nil if it has none.
func newIndexFacts(r *afdo.Reader) (*IndexFacts, error) {
	x, err := index.Read(r)
	var info *index.Info
	if err == nil {
		info, err = x.Info()
	}
	switch {
	case errors.Is(err, afdo.ErrNotFound):
		return nil, nil
	case errors.Is(err, afdo.ErrMalformed):
		return &IndexFacts{Problem: strings.TrimPrefix(err.Error(), "afdo: ")}, nil
	case err != nil:
		return nil, err
	}
	f := &IndexFacts{
		Producer: info.Producer, BuildID: hex.EncodeToString(info.BuildID),
		Unqualified: info.Unqualified, Fingerprints: info.Fingerprints,
	}
	for _, b := range info.Blocks {
		f.Blocks = append(f.Blocks, BlockFacts{b.Kind, b.Size})
	}
	return f, nil
}

func (f *IndexFacts) table() *table.Table {
	t := &table.Table{Columns: "ll"}
	if f == nil {
		return t
	}
	for _, fact := range [][2]string{
		{"Not used", f.Problem},
		{"Producer", f.Producer},
		{"Build ID", f.BuildID},
		{"Unqualified names", f.Unqualified},
		{"Fingerprints", f.Fingerprints},
	} {
		if fact[1] != "" {
			t.Row(fact[0], human.Name(fact[1]))
		}
	}
	for _, b := range f.Blocks {
		t.Row("Bytes of "+b.Kind, human.Number(b.Bytes))
	}
	return t
}

// SourcesFacts describes the section of a file with hashes of source lines. With these hashes,
// counts can be moved to the right lines after the source was edited.
type SourcesFacts struct {
	Problem   string `json:"problem,omitempty"` // why it is not used; nothing else is known then
	Functions int    `json:"functions"`         // functions with hashes of their source lines
	Several   int    `json:"several_states"`    // functions whose samples come from several versions of the source
	Lines     int    `json:"lines"`
}

// newSourcesFacts returns facts about the sources section of a file, or nil if it has none.
func newSourcesFacts(r *afdo.Reader) (*SourcesFacts, error) {
	f := new(SourcesFacts)
	err := f.read(r)
	switch {
	case errors.Is(err, afdo.ErrNotFound):
		return nil, nil
	case errors.Is(err, afdo.ErrMalformed):
		return &SourcesFacts{Problem: strings.TrimPrefix(err.Error(), "afdo: ")}, nil
	}
	return f, err
}

func (f *SourcesFacts) read(r *afdo.Reader) error {
	s, err := profile.ReadSources(r)
	if err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		if _, err := s.Unit(u, f.add); err != nil {
			return err
		}
	}
	return nil
}

func (f *SourcesFacts) add(_ afdo.SymbolID, m profile.Marks) {
	f.Functions++
	f.Lines += len(m)
	if len(m) == 0 {
		f.Several++
	}
}

func (f *SourcesFacts) table() *table.Table {
	t := &table.Table{Columns: "lr"}
	switch {
	case f == nil:
	case f.Problem != "":
		t.Row("Not used", f.Problem)
	default:
		t.Row("Functions", human.Number(f.Functions))
		t.Row("Functions of several states", human.Number(f.Several))
		t.Row("Lines", human.Number(f.Lines))
	}
	return t
}
