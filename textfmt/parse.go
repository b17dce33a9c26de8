package textfmt

import (
	"fmt"
	"io"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// Widths in bits of the binary fields that store the numbers.
const (
	widthSymbolID      = 32
	widthCount         = 64
	widthLine          = 24
	widthDiscriminator = 16
	widthCutoff        = 32
)

// Parse reads a profile in the text form (RFC 5.2) to the end of r.
//
// White space has no meaning. Sections with an unknown keyword are skipped, at top level and in
// function bodies (RFC 6.2). Several sections of the same kind in a body are combined, and so are
// records of the same location (format note 13). Where the grammar leaves details open:
//   - The list of file names and the sections of a body may be empty. A file name may occur in the
//     list only once. The empty file name means the same as file ID -1.
//   - A symbol ID is a label (format note 20). It may be used before the header that defines it.
//     All headers with the same ID must agree, and only one may be at top level. An ID without a
//     header is an error. Several IDs may name the same symbol; its samples are then summed.
//   - num_detailed_entries must be the number of entries.
//   - Numbers must fit the fields of the binary format.
//
// Parse buffers r itself. It takes memory for the profile and, temporarily, 24 bytes for each
// record of a function that calls an ID not yet defined. Nesting takes no further memory. Errors
// are [*afdo.FormatError], or those of r.
func Parse(r io.Reader) (*profile.Profile, error) {
	p := parser{
		lexer:   lexer{src: r, buf: make([]byte, bufferSize), line: 1},
		profile: profile.New(),
	}
	p.parse()
	if p.err != nil {
		return nil, p.err
	}
	return p.profile, nil
}

type parser struct {
	lexer
	profile *profile.Profile
	files   []profile.UnitRef // by file ID

	slots   wire.IDTable // indexes in labels by symbol ID
	labels  []label
	symbols []profile.SymbolRef // by index in labels; 0 until a header has defined it
	unknown int                 // number of labels that no header has defined yet

	body     profile.Body      // the current function; callees are indexes in labels
	waits    bool              // the current function calls a label that is not defined yet
	deferred []waitingFunction // functions that wait for labels
	numbered profile.Body      // of add
}

// A label is a symbol ID in the text. Headers define which symbol has this ID.
type label struct {
	id    uint32
	file  profile.UnitRef // file of the symbol
	name  string          // name of the symbol
	known bool            // a header has defined the symbol
	top   bool            // there is a symbol with this label at top level
	use   position        // where the ID occurs first
}

// A waitingFunction is a parsed function that cannot be added to the profile yet, because no header
// has defined some symbol IDs in it. Its callees are indexes in parser.labels.
type waitingFunction struct {
	symbol profile.SymbolRef
	profile.Function
}

func (p *parser) parse() {
	p.skipTo("filenames")
	p.filenames()
	p.skipTo("summary")
	p.summary()
	for {
		switch c, _ := p.peek(); c {
		case eof:
			p.finish()
			return
		case '"':
			p.symbol()
		default:
			const want = "a symbol"
			found, at := p.keyword(want)
			p.skipIfUnknown(found, at, want)
		}
	}
}

// skipTo skips unknown sections and consumes the keyword of the section that must come next.
func (p *parser) skipTo(section string) {
	want := `"` + section + `"`
	for p.err == nil {
		found, at := p.keyword(want)
		if string(found) == section {
			return
		}
		p.skipIfUnknown(found, at, want)
	}
}

// skipIfUnknown skips a section whose keyword the RFC does not define. A known section in the wrong
// place is an error.
func (p *parser) skipIfUnknown(keyword []byte, at position, want string) {
	switch string(keyword) {
	case "filenames", "summary", "locations", "callsites", "inlined":
		p.fail(at, fault.ErrSyntax, "expected %s, found %q", want, keyword)
	default:
		p.skipSection()
	}
}

func (p *parser) filenames() {
	seen := make(map[profile.UnitRef]bool)
	p.list(func() {
		_, at := p.peek()
		file := p.profile.AddUnit(string(p.quoted("file name")))
		if seen[file] {
			p.fail(at, fault.ErrSyntax, "file name %.80q is a duplicate", p.text)
		}
		seen[file] = true
		p.files = append(p.files, file)
	})
}

func (p *parser) summary() {
	var s afdo.Summary
	p.expect("={")
	for _, f := range []struct {
		name  string
		value *uint64
	}{
		{"total_count", &s.TotalCount}, {"max_count", &s.MaxCount}, {"max_fn_count", &s.MaxFunctionCount},
		{"num_counts", &s.NumCounts}, {"num_functions", &s.NumFunctions},
	} {
		*f.value = p.field(f.name, widthCount)
		p.expect(",")
	}
	_, at := p.peek()
	entries := p.field("num_detailed_entries", widthCount)
	p.expect(",")
	p.expectWord("detailed_entries")
	p.list(func() {
		var e afdo.SummaryEntry
		p.expect("{")
		e.Cutoff = uint32(p.field("cutoff", widthCutoff))
		p.expect(",")
		e.MinCount = p.field("min_count", widthCount)
		p.expect(",")
		e.NumCounts = p.field("num_counts", widthCount)
		p.expect("}")
		s.Entries = append(s.Entries, e)
	})
	if p.expect("}") && entries != uint64(len(s.Entries)) {
		p.fail(at, fault.ErrSyntax, "num_detailed_entries is %d, but there are %d entries", entries, len(s.Entries))
	}
	p.profile.Summary = &s
}

func (p *parser) field(name string, width uint) uint64 {
	p.expectWord(name)
	p.expect("=")
	return p.number(width, name)
}

// symbol parses a symbol at top level, with its header and its function body.
func (p *parser) symbol() {
	file, name := p.symbolName()
	id, at := p.symbolID()
	slot := p.define(id, at, file, name)
	p.expect(":")
	headCount := p.number(widthCount, "head count")
	p.expect(":")
	timestamp := p.number(widthCount, "timestamp")
	p.expect(")={")
	if p.err != nil {
		return
	}
	l := &p.labels[slot]
	if l.top {
		p.fail(at, fault.ErrSyntax, "duplicate symbol ID %d", id)
		return
	}
	l.top = true

	p.body.Reset()
	p.functionBody()
	if p.err != nil {
		return
	}
	f := waitingFunction{p.symbols[slot], profile.Function{HeadCount: headCount, Timestamp: timestamp, Records: p.body.Records()}}
	if p.waits {
		p.waits = false
		f.Records = slices.Clone(f.Records)
		p.deferred = append(p.deferred, f)
		return
	}
	p.add(f)
}

// symbolName parses the beginning of a header: the file ID and the name, up to the opening
// parenthesis. The name is valid until the next keyword or name.
func (p *parser) symbolName() (profile.UnitRef, []byte) {
	name := p.quoted("symbol name")
	p.expect(":")
	file := p.fileID()
	p.expect("(")
	return file, name
}

func (p *parser) fileID() profile.UnitRef {
	const want = "file ID"
	c, at := p.peek()
	if c == '-' {
		p.pos++
		if c, _ := p.raw(); c != '1' {
			p.fail(at, fault.ErrSyntax, "expected %s, found \"-\" without \"1\"", want)
		}
		if id := p.number(widthCount, want); id != 1 {
			p.fail(at, fault.ErrSyntax, "file ID -%d is neither -1 nor an index of filenames", id)
		}
		return profile.UnknownUnit
	}
	id := p.number(widthCount, want)
	if p.err != nil {
		return profile.UnknownUnit
	}
	if id >= uint64(len(p.files)) {
		p.fail(at, fault.ErrSyntax, "file ID %d, but there are %d file names", id, len(p.files))
		return profile.UnknownUnit
	}
	return p.files[id]
}

func (p *parser) symbolID() (uint32, position) {
	_, at := p.peek()
	return uint32(p.number(widthSymbolID, "symbol ID")), at
}

// label returns the index in p.labels of a symbol ID. It adds the ID if it is new.
func (p *parser) label(id uint32, at position) uint32 {
	slot, ok := p.slots.Find(id)
	if !ok {
		slot = uint32(len(p.labels))
		p.slots.Add(id, slot)
		p.labels = append(p.labels, label{id: id, use: at})
		p.symbols = append(p.symbols, 0)
		p.unknown++
	}
	return slot
}

// define records that a header of the text gives the symbol ID id to the function name of a source
// file. It returns the index of the ID in p.labels. It is an error if an earlier header gave the ID
// to another function.
func (p *parser) define(id uint32, at position, file profile.UnitRef, name []byte) (slot uint32) {
	if p.err != nil {
		return 0
	}
	slot = p.label(id, at)
	l := &p.labels[slot]
	switch {
	case !l.known:
		p.symbols[slot] = p.profile.AddSymbol(file, string(name))
		l.file, l.name = file, p.profile.SymbolName(p.symbols[slot])
		l.known = true
		p.unknown--
	case file != l.file || string(name) != l.name:
		p.fail(at, fault.ErrSyntax, "symbol ID %d is both %.80q and %.80q of another name or file", id, l.name, name)
	}
	return slot
}

// add adds a parsed function to the profile. Headers must have defined all symbol IDs in it.
func (p *parser) add(f waitingFunction) {
	f.Records = p.numbered.Renumber(f.Records, p.symbols)
	p.profile.AddFunction(f.symbol, f.Function)
}

// finish adds the functions to the profile that call symbol IDs which had no header yet when the
// functions were parsed. It fails if an ID still has no header.
func (p *parser) finish() {
	if p.err != nil {
		return
	}
	if p.unknown > 0 {
		p.failUnknown()
		return
	}
	for i, f := range p.deferred {
		p.add(f)
		p.deferred[i].Records = nil
	}
}

// failUnknown fails at the first use of a symbol ID that no header defines.
func (p *parser) failUnknown() {
	first := slices.IndexFunc(p.labels, func(l label) bool { return !l.known }) // labels are in the order of their first use
	p.fail(p.labels[first].use, fault.ErrSyntax, "no symbol has the ID %d", p.labels[first].id)
}

// errQuote is returned when a name to be printed contains a double quote, for which the text form
// has no escape (format note 22). It matches afdo.ErrUnrepresentable.
var errQuote = decode.Reworded(fault.ErrUnrepresentable, "the text form cannot express a name with a double quote")

// faultAt returns an error about a position in a text. Its class is afdo.ErrSyntax,
// afdo.ErrOverflow or afdo.ErrTruncated.
func faultAt(at position, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "textfmt", Section: fault.HeaderSection, Offset: -1, Line: at.line, Column: at.column,
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
