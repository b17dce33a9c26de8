package sampleprof

import (
	"bytes"
	"io"
	"math"
	"unsafe"

	"github.com/go-afdo/afdo/internal/fault"
)

// ParseText parses a profile in text form, which it reads into memory. Errors are those of r, and
// *afdo.FormatError with line and column.
//
// It accepts the texts that LLVM accepts, except lines that LLVM silently misreads or writes into a
// file that it cannot read: a line offset of more than 16 bits, a location and count not separated
// by a colon and exactly one space, a context with a malformed frame, and a NUL.
func ParseText(r io.Reader) (*Profile, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return ParseTextBytes(data)
}

// ParseTextBytes works like [ParseText] on a text in memory. It keeps no reference to data.
func ParseTextBytes(data []byte) (*Profile, error) {
	t := textReader{p: new(Profile), data: data}
	t.arranger.compare = t.p.compare
	t.merger = merger{compare: t.p.compare, metadata: true}
	for t.err == nil && t.nextLine() {
		t.readLine()
	}
	if t.err == nil {
		t.flush()
	}
	if t.err == nil && t.headers == 0 {
		t.line, t.text, t.base = 1, nil, 0
		t.fail(0, errMagic, "no line is a function")
	}
	if t.err != nil {
		return nil, t.err
	}
	return t.p, t.finish()
}

// isText reports whether head, the beginning of a file, looks like a text profile.
func isText(head []byte) bool {
	t := textReader{data: head}
	for t.nextLine() {
		if t.skip() {
			continue
		}
		_, _, _, ok := splitHeader(t.text)
		return ok
	}
	return false
}

type textReader struct {
	p    *Profile
	data []byte // the remaining lines
	line int    // number of the current line, from 1
	text []byte // the current line, or the rest of it
	base int    // column of text, from 0
	err  error

	headers  int
	contexts int // number of headers that are contexts

	function Function
	header   int      // line number of the function's header
	records  []Record // records of function, in the order of the text
	tangled  bool     // records are not in canonical order
	open     []textBody
	closed   int // depth of the latest metadata; 0 if a body has begun since
	nested   int // line number of the first checksum of an inlined function
	arranger arranger
	arranged []Record
	merger   merger
}

// A textBody is a function or inlined body to which the following lines of the text may belong.
type textBody struct {
	head       int // index of its KindInlined record; -1 for the function itself
	last       int // index of its latest record; -1 if there is none
	attributes int // index of its attributes; -1 if there are none
}

func (t *textReader) fail(column int, class error, detail string) {
	if t.err == nil {
		t.err = &fault.FormatError{
			Format: formatName, Section: fault.HeaderSection, Offset: -1, Line: t.line, Column: t.base + column + 1, Err: class, Detail: detail,
		}
	}
}

// nextLine moves to the next line. It returns false at the end of the text.
func (t *textReader) nextLine() bool {
	if len(t.data) == 0 {
		return false
	}
	t.line++
	end := bytes.IndexByte(t.data, '\n')
	if end < 0 {
		t.text, t.data = t.data, nil
	} else {
		t.text, t.data = t.data[:end], t.data[end+1:]
	}
	t.text = bytes.TrimSuffix(t.text, []byte{'\r'})
	t.base = 0
	return true
}

// skip reports whether the current line is blank or a comment.
func (t *textReader) skip() bool {
	i := 0
	for i < len(t.text) && t.text[i] == ' ' {
		i++
	}
	return i == len(t.text) || t.text[i] == '#'
}

func (t *textReader) readLine() {
	switch {
	case t.skip():
	case bytes.IndexByte(t.text, 0) >= 0:
		t.fail(bytes.IndexByte(t.text, 0), fault.ErrSyntax, "a NUL")
	case t.text[0] != ' ':
		t.flush()
		t.readHeader()
	default:
		t.entry()
	}
}

// splitHeader parses the first line of a function, NAME:TOTAL:HEAD.
func splitHeader(text []byte) (name []byte, total, head uint64, ok bool) {
	second := bytes.LastIndexByte(text, ':')
	if second < 0 {
		return nil, 0, 0, false
	}
	first := bytes.LastIndexByte(text[:second], ':')
	if first < 0 {
		return nil, 0, 0, false
	}
	total, ok = parseNumber(text[first+1 : second])
	head, headOK := parseNumber(text[second+1:])
	return text[:first], total, head, ok && headOK
}

// parseNumber parses decimal digits and nothing else.
func parseNumber(text []byte) (uint64, bool) {
	if len(text) == 0 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range text {
		d := uint64(c - '0')
		if d > 9 || n > math.MaxUint64/10 || n*10 > math.MaxUint64-d {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

func (t *textReader) readHeader() {
	name, total, head, ok := splitHeader(t.text)
	if !ok {
		class := fault.ErrSyntax
		if t.headers == 0 {
			class = errMagic
		}
		t.fail(0, class, "want NAME:TOTAL:HEAD")
		return
	}
	t.headers++
	t.header = t.line
	t.function = Function{Total: total, HeadCount: head}
	t.records, t.tangled = t.records[:0], false
	t.open = append(t.open[:0], textBody{-1, -1, -1})
	t.closed = 0
	if name, ok := bytes.CutPrefix(name, []byte{'['}); ok {
		t.context(name)
	} else {
		t.function.Name = t.name(name)
	}
	if t.contexts > 0 && t.contexts < t.headers {
		t.fail(0, fault.ErrSyntax, "some functions have a context and some have not")
	}
}

// name returns the index of a name in the profile, and adds the name if the profile does not have
// it.
func (t *textReader) name(name []byte) NameRef {
	return t.p.AddName(Name{Text: unsafe.String(unsafe.SliceData(name), len(name))})
}

func (t *textReader) context(text []byte) {
	t.contexts++
	t.p.ContextSensitive = true
	text, ok := bytes.CutSuffix(text, []byte{']'})
	frames, framesOK := parseContext(string(text), func(name string) (NameRef, bool) { return t.p.AddName(Name{Text: name}), true })
	if !ok || !framesOK {
		t.fail(0, fault.ErrSyntax, "want a context [NAME:LINE.DISCRIMINATOR @ ... @ NAME]")
		return
	}
	t.function.Context, t.function.Name = frames, frames[len(frames)-1].Name
}

// flush adds the function whose lines have been read to the profile.
func (t *textReader) flush() {
	if t.headers == 0 || t.err != nil {
		return
	}
	t.close(1)
	f := t.function
	f.Records = t.records
	if t.tangled {
		f.Records = t.arranger.arrange(t.arranged[:0], t.records)
		t.arranged = f.Records
	}
	t.p.add(&f, &t.merger)
	if t.arranger.overflow || t.merger.overflow {
		t.line, t.base = t.header, 0
		t.fail(0, fault.ErrOverflow, "counts of this function exceed 64 bits together")
	}
}

// close ends inlined bodies, innermost first, until depth bodies are left. The function itself is
// one of them.
func (t *textReader) close(depth int) {
	for len(t.open) > depth {
		if head := t.open[len(t.open)-1].head; head >= 0 {
			t.records[head].Span = uint32(len(t.records) - head - 1)
		}
		t.open = t.open[:len(t.open)-1]
	}
}

// add appends a record to the innermost body. If the record is not in the order described at
// [Record], add sets t.tangled, and the records are sorted later.
func (t *textReader) add(r Record) {
	top := &t.open[len(t.open)-1]
	if top.last >= 0 && !t.tangled && !canonical(&t.records[top.last], &r, t.p.compare) {
		t.tangled = true
	}
	top.last = len(t.records)
	t.records = append(t.records, r)
}

// entry reads an indented line. It has a count, types of vtables, an inlined function, or metadata.
func (t *textReader) entry() {
	depth := 0
	for t.text[depth] == ' ' {
		depth++
	}
	if t.headers == 0 {
		t.fail(0, errMagic, "the first line is within no function")
		return
	}
	if t.text[depth] == '!' {
		t.readMetadata(depth)
		return
	}
	r := t.location(depth)
	if t.err != nil {
		return
	}
	if depth == t.closed {
		t.fail(0, fault.ErrSyntax, "nothing may follow the metadata of a function")
		return
	}
	t.close(depth)
	switch rest := t.text; {
	case len(rest) > 0 && rest[0]-'0' <= 9:
		t.body(r)
	case bytes.HasPrefix(rest, []byte(vtablesKeyword)):
		t.vtables(r)
	default:
		t.inlined(r)
	}
}

// advance moves n bytes forward in the current line. t.text is the rest of the line.
func (t *textReader) advance(n int) {
	t.text = t.text[n:]
	t.base += n
}

// location reads the location at the start of an indented line: LINE or LINE.DISCRIMINATOR, a colon
// and a space. depth is the number of blanks before it.
func (t *textReader) location(depth int) (r Record) {
	t.advance(depth)
	end := bytes.IndexByte(t.text, ':')
	if end < 0 || end+1 == len(t.text) || t.text[end+1] != ' ' {
		t.fail(max(end, 0), fault.ErrSyntax, "want LINE: or LINE.DISCRIMINATOR: and a space")
		return r
	}
	line, discriminator, dotted := bytes.Cut(t.text[:end], []byte{'.'})
	n, ok := parseNumber(line)
	d, dOK := uint64(0), true
	if dotted {
		d, dOK = parseNumber(discriminator)
	}
	switch {
	case !ok:
		t.fail(0, fault.ErrSyntax, "want a line offset")
	case n > math.MaxUint16:
		t.fail(0, errLine, "more than 16 bits")
	case !dOK || d > math.MaxUint32:
		t.fail(len(line)+1, fault.ErrSyntax, "want a discriminator of at most 32 bits")
	}
	t.advance(end + 2)
	return Record{Line: uint16(n), Discriminator: uint32(d)}
}

// body reads the rest of a line with a count, after its location: COUNT CALLEE:COUNT... r has the
// location.
func (t *textReader) body(r Record) {
	end := bytes.IndexByte(t.text, ' ')
	if end < 0 {
		end = len(t.text)
	}
	count, ok := parseNumber(t.text[:end])
	if !ok {
		t.fail(0, fault.ErrSyntax, "want a count")
		return
	}
	r.Kind, r.Count = KindCount, count
	t.add(r)
	t.advance(end)
	r.Kind = KindTarget
	first := len(t.records)
	for len(t.text) > 0 && t.err == nil {
		t.target(r)
	}
	if repeats(t.records[first:]) {
		t.tangled = true
		// If a line has several targets of the same name, the last one counts.
		t.records = t.records[:first+len(oneOfEach(t.records[first:], func(_, last uint64) uint64 { return last }))]
		t.open[len(t.open)-1].last = len(t.records) - 1
	}
}

// target reads one CALLEE:COUNT with the spaces before it. r has the location of the line.
func (t *textReader) target(r Record) {
	blanks := len(t.text) - len(bytes.TrimLeft(t.text, " "))
	t.advance(blanks)
	colon, end, count := anchor(t.text)
	if colon <= 0 {
		t.fail(0, fault.ErrSyntax, "want CALLEE:COUNT")
		return
	}
	r.Name, r.Count = t.name(t.text[:colon]), count
	t.advance(end)
	t.add(r)
}

// anchor finds the first colon in text after which a number follows. colon is its index, or -1 if
// there is none. end is the index of the end of the number, and count is the number.
func anchor(text []byte) (colon, end int, count uint64) {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], ':')
		if i < 0 {
			return -1, 0, 0
		}
		colon = at + i
		end = len(text)
		if j := bytes.IndexByte(text[colon:], ' '); j >= 0 {
			end = colon + j
		}
		if n, ok := parseNumber(text[colon+1 : end]); ok {
			return colon, end, n
		}
		at = colon + 1
	}
}

// vtables reads the rest of a line with the types of vtables, after "vtables ": TYPE:COUNT... r has
// the location of the line.
func (t *textReader) vtables(r Record) {
	t.advance(len(vtablesKeyword))
	r.Kind = KindVTable
	seen := map[NameRef]bool{}
	for {
		t.advance(len(t.text) - len(bytes.TrimLeft(t.text, " ")))
		if len(t.text) == 0 {
			return
		}
		colon := bytes.IndexByte(t.text, ':')
		end := len(t.text)
		if i := bytes.IndexByte(t.text[max(colon, 0):], ' '); i >= 0 {
			end = max(colon, 0) + i
		}
		count, ok := parseNumber(t.text[min(colon+1, end):end])
		if colon < 0 || !ok {
			t.fail(0, fault.ErrSyntax, "want TYPE:COUNT")
			return
		}
		r.Name, r.Count = t.name(t.text[:colon]), count
		if seen[r.Name] {
			t.fail(0, fault.ErrSyntax, "a type that has been there already")
			return
		}
		seen[r.Name] = true
		t.add(r)
		t.advance(end)
	}
}

// inlined reads the rest of the first line of an inlined function, after its location:
// CALLEE:TOTAL. r has the location.
func (t *textReader) inlined(r Record) {
	colon := bytes.LastIndexByte(t.text, ':')
	total, ok := parseNumber(t.text[colon+1:])
	if colon < 0 || !ok {
		t.fail(max(colon, 0), fault.ErrSyntax, "want COUNT, CALLEE:TOTAL or vtables")
		return
	}
	name := t.text[:colon]
	if inner, ok := bytes.CutPrefix(name, []byte{'['}); ok && t.contexts > 0 {
		if inner, ok = bytes.CutSuffix(inner, []byte{']'}); ok {
			name = inner // LLVM writes these brackets, and reads them as a part of the name
		}
	}
	r.Kind, r.Name, r.Count = KindInlined, t.name(name), total
	t.add(r)
	t.open = append(t.open, textBody{len(t.records) - 1, -1, -1})
	t.closed = 0
}

// readMetadata reads a line that begins with "!". It has the checksum or the attributes of the
// innermost body. A line without attributes sets them to 0. depth is the number of blanks before
// the "!".
func (t *textReader) readMetadata(depth int) {
	if string(t.text) == flatLine {
		t.setMetadata(depth, 0, 0)
		return
	}
	t.advance(depth)
	if rest, ok := bytes.CutPrefix(t.text, []byte(checksumKeyword)); ok {
		checksum, ok := parseNumber(bytes.TrimSpace(rest))
		if !ok {
			t.fail(len(checksumKeyword), fault.ErrSyntax, "want a checksum")
		}
		if depth > 1 && checksum != 0 && t.nested == 0 {
			t.nested = t.line
		}
		t.setMetadata(depth, checksum, 0)
		return
	}
	rest, ok := bytes.CutPrefix(t.text, []byte(attributesKeyword))
	attributes, numberOK := parseNumber(bytes.TrimSpace(rest))
	if !ok || !numberOK || attributes > math.MaxUint32 {
		t.fail(0, fault.ErrSyntax, "want !CFGChecksum: N, !Attributes: N or !Flat")
		return
	}
	t.setMetadata(depth, 0, uint32(attributes))
}

func (t *textReader) setMetadata(depth int, checksum uint64, attributes uint32) {
	t.close(depth)
	t.closed = depth
	if checksum != 0 {
		t.add(Record{Kind: KindChecksum, Count: checksum})
		if depth == 1 {
			t.p.Probes = true
		}
	}
	top := &t.open[len(t.open)-1]
	switch {
	case top.attributes >= 0:
		t.records[top.attributes].Count = uint64(attributes)
		t.tangled = true
	case attributes > 0:
		top.attributes = len(t.records)
		t.add(Record{Kind: KindAttributes, Count: uint64(attributes)})
	}
	if attributes&AttributeShouldInline != 0 {
		t.p.PreInlined = true
	}
}

// finish checks, after the last line, what can only be checked for the whole text.
func (t *textReader) finish() error {
	if t.nested > 0 && !t.p.Probes {
		t.line, t.base = t.nested, 0
		t.fail(0, fault.ErrSyntax, "a checksum of an inlined function, and no function of the profile has one")
	}
	return t.err
}
