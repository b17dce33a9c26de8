package sampleprof

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/go-afdo/afdo/internal/fault"
)

// WriteText writes a profile as text, byte for byte like `llvm-profdata merge --sample --text`,
// with one exception: LLVM writes the vtables of a location twice if it has both a count and an
// inlined function, and readers add them up. WriteText leaves out and counts in Losses what the
// text form cannot hold. Like LLVM, it writes MD5s in decimal. A reader takes the digits for the
// name of another function.
//
// A name that [ParseText] would not return gives an error that matches afdo.ErrUnrepresentable, and
// so does a profile without functions, whose text would be empty. Lines are indented by their
// depth. If the indentation would take more than 64 MiB plus 64 bytes per record, the error matches
// afdo.ErrLimit. In all of these cases nothing is written.
func WriteText(w io.Writer, p *Profile) (Losses, error) {
	if len(p.functions) == 0 {
		return Losses{}, unrepresentable("a profile without functions in a text, which would be empty")
	}
	if err := cmp.Or(checkTextNames(p), checkIndentation(p)); err != nil {
		return Losses{}, err
	}
	t := textWriter{w: w, p: p}
	for _, f := range p.sorted() {
		t.function(f)
	}
	t.flush()
	t.losses.addFlags(p)
	t.losses.SymbolList = len(p.SymbolList)
	t.losses.MD5s = p.names.hashed
	return t.losses, t.err
}

// checkIndentation returns an error if the indentation of the text would be far larger than that of
// any real profile. Each line is indented by its depth, so deep nesting takes quadratic space. The
// limit is 64 MiB plus 64 bytes per record.
func checkIndentation(p *Profile) error {
	const (
		free      = 64 << 20
		perRecord = 64
	)
	blanks := int64(0)
	for i := range p.functions {
		for j, records := 0, p.functions[i].Records; j < len(records); j++ {
			blanks -= perRecord
			if r := &records[j]; r.Kind == KindInlined {
				blanks += int64(r.span())
			}
		}
	}
	if blanks > free {
		return fmt.Errorf("sampleprof: bodies are nested too deep for a text: %w", fault.ErrLimit)
	}
	return nil
}

const textBuffer = 1 << 16

type textWriter struct {
	w      io.Writer
	p      *Profile
	out    []byte
	open   []openText
	losses Losses
	err    error
}

// An openText is a function or inlined body of which not all lines have been written.
type openText struct {
	next, end int // range of the records not yet written
	counts    int // index of the first count that may be at the location of the next inlined body
	vtables   int // index of the next vtables that belong to an inlined body
	trailer   int // index of the checksum and attributes, or end
	called    int // index of the inlined body just written; -1 if its vtables have been written, too
}

func (t *textWriter) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.out)
	}
	t.out = t.out[:0]
}

func (t *textWriter) function(f *Function) {
	if f.Context != nil {
		t.out = append(t.out, '[')
		t.out = appendContext(t.out, f.Context, t.p.Name)
		t.out = append(t.out, ']')
	} else {
		t.name(f.Name)
	}
	t.count(f.Total)
	t.count(f.HeadCount)
	t.out = append(t.out, '\n')
	t.begin(f.Records, 0, len(f.Records))
	for len(t.open) > 0 {
		top := &t.open[len(t.open)-1]
		more := top.next < top.end && f.Records[top.next].Kind == KindInlined
		switch {
		case top.called >= 0 && !(more && f.Records[top.next].where() == f.Records[top.called].where()):
			at := &f.Records[top.called]
			top.called = -1
			for f.Records[top.counts].Kind < KindInlined && f.Records[top.counts].where() < at.where() {
				top.counts++
			}
			if c := &f.Records[top.counts]; c.Kind >= KindInlined || c.where() != at.where() {
				top.vtables = t.vtables(f.Records[:top.trailer], top.vtables, at)
			}
		case more:
			t.inlined(f.Records, top)
		default:
			t.finish(f.Records, top)
		}
	}
}

func (t *textWriter) name(ref NameRef) {
	t.out = append(t.out, t.p.Name(ref).String()...)
}

func (t *textWriter) count(n uint64) {
	t.out = append(t.out, ':')
	t.out = strconv.AppendUint(t.out, n, 10)
}

// indent begins a line. It writes a space for each body that is being written.
func (t *textWriter) indent() {
	if len(t.out) >= textBuffer {
		t.flush()
	}
	for range t.open {
		t.out = append(t.out, ' ')
	}
}

func (t *textWriter) location(r *Record) {
	t.indent()
	t.out = appendLocation(t.out, r.Line, r.Discriminator)
	t.out = append(t.out, ": "...)
}

// begin starts to write a function or inlined body, whose records are records[i:end]. It writes the
// lines with counts, each followed by the line with the vtables of the same location. Other vtables
// follow the last inlined body of their location.
func (t *textWriter) begin(records []Record, i, end int) {
	body := openText{end: end, counts: i, vtables: i, trailer: end, called: -1}
	for body.vtables < end && records[body.vtables].Kind < KindVTable {
		body.vtables += records[body.vtables].span()
	}
	for body.trailer > body.vtables && records[body.trailer-1].Kind != KindVTable {
		body.trailer--
	}
	t.losses.VTables += unplaced(records[i:body.vtables], records[body.vtables:body.trailer])
	t.open = append(t.open, body)
	vtables := body.vtables
	for i < end && records[i].Kind == KindCount {
		r := &records[i]
		t.location(r)
		t.out = strconv.AppendUint(t.out, r.Count, 10)
		for i++; i < end && records[i].Kind == KindTarget; i++ {
			t.out = append(t.out, ' ')
			t.name(records[i].Name)
			t.count(records[i].Count)
		}
		t.out = append(t.out, '\n')
		vtables = t.vtables(records[:body.trailer], vtables, r)
	}
	t.open[len(t.open)-1].next = i
}

// vtables writes a line with the types of vtables at the location of the record at, if there are
// any. It searches records from index i on, which are sorted by location. It returns the index of
// the first record for a later location.
func (t *textWriter) vtables(records []Record, i int, at *Record) int {
	for i < len(records) && records[i].where() < at.where() {
		i++
	}
	if i == len(records) || records[i].where() != at.where() {
		return i
	}
	t.location(at)
	t.out = append(t.out, vtablesKeyword...)
	for ; i < len(records) && records[i].where() == at.where(); i++ {
		t.name(records[i].Name)
		t.count(records[i].Count)
		t.out = append(t.out, ' ')
	}
	t.out = append(t.out, '\n')
	return i
}

// unplaced counts the vtables of a body that a text cannot hold, because it has neither a count nor
// an inlined function at their location. others are the other records of the body.
func unplaced(others, vtables []Record) int {
	if len(vtables) == 0 {
		return 0
	}
	places := map[uint64]bool{}
	for i := 0; i < len(others); i += others[i].span() {
		places[others[i].where()] = true
	}
	n := 0
	for i := range vtables {
		if !places[vtables[i].where()] {
			n++
		}
	}
	return n
}

// inlined writes the first line of the next function that is inlined in top, and starts to write
// the body of that function.
func (t *textWriter) inlined(records []Record, top *openText) {
	r := &records[top.next]
	t.location(r)
	if t.p.ContextSensitive { // LLVM writes these brackets, too
		t.out = append(t.out, '[')
		t.name(r.Name)
		t.out = append(t.out, ']')
	} else {
		t.name(r.Name)
	}
	t.count(r.Count)
	t.out = append(t.out, '\n')
	top.called = top.next
	top.next += r.span()
	t.begin(records, top.called+1, top.next)
}

// finish ends the body that is being written. It writes the body's last lines, with the checksum
// and the attributes.
func (t *textWriter) finish(records []Record, top *openText) {
	trailer := records[top.trailer:top.end]
	if t.p.Probes {
		t.indent()
		t.out = fmt.Appendf(t.out, "%s %d\n", checksumKeyword, find(trailer, KindChecksum))
	}
	if a := find(trailer, KindAttributes); a != 0 {
		t.indent()
		t.out = fmt.Appendf(t.out, "%s %d\n", attributesKeyword, a)
	}
	t.open = t.open[:len(t.open)-1]
}

// Keywords of the text form.
const (
	vtablesKeyword    = "vtables "
	checksumKeyword   = "!CFGChecksum:"
	attributesKeyword = "!Attributes:"
	flatLine          = " !Flat"
)
