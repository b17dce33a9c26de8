package instrprof

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
)

// A textReader reads a profile in text form. It reads the header lines when created, and each
// record once, when the caller asks for the next.
type textReader struct {
	lines   lineReader
	flags   Flags
	traces  Traces
	vtables map[string]struct{} // names of virtual tables in the records read so far
	traced  map[uint64]string   // names in the traces, by hash
}

// newTextReader reads the header lines of a text.
//
// A line that begins with # is a comment. Empty lines are ignored. Header lines begin with a colon,
// and their names ignore case: ir, csir, fe, entry_first, not_entry_first, instrument_loop_entries,
// single_byte_coverage, temporal_prof_traces. A record consists of
//   - a name, a hash, the number of counters, and the counters;
//   - optionally $ with the number of bitmap bytes, and these bytes;
//   - optionally the number of value kinds, and for each kind its number, the number of sites, and
//     for each site the number of values and as many lines VALUE:COUNT.
//
// Errors in the text are afdo.FormatError with line and column.
func newTextReader(r io.Reader) (*textReader, error) {
	t := &textReader{lines: lineReader{r: bufio.NewReaderSize(r, 64<<10)}, vtables: map[string]struct{}{}, traced: map[uint64]string{}}
	t.lines.next()
	for !t.lines.end && strings.HasPrefix(t.lines.text, ":") {
		t.headerLine(strings.ToLower(t.lines.text[1:]))
	}
	return t, t.lines.err
}

func (t *textReader) headerLine(name string) {
	switch name {
	case "fe":
	case "not_entry_first":
		t.flags &^= EntryFirst
	case "temporal_prof_traces":
		t.flags |= TemporalTraces
		t.lines.next()
		t.readTraces()
		return
	default:
		found := false
		for _, h := range textHeaders {
			if h.line == name {
				t.flags |= h.flags
				found = true
			}
		}
		if !found {
			t.lines.fail(1, fault.ErrSyntax, "no header line is :%s", name)
		}
	}
	t.lines.next()
}

func (t *textReader) readTraces() {
	n := t.lines.number("the number of traces", 10)
	t.traces.Seen = t.lines.number("the number of traces seen", 10)
	for uint64(len(t.traces.Traces)) < n && t.lines.err == nil {
		trace := Trace{Weight: t.lines.number("the weight of a trace", 10)}
		for name := range strings.SplitSeq(t.lines.take("the functions of a trace"), ",") {
			if name = strings.TrimSpace(name); name != "" {
				hash := NameHash(name)
				trace.Functions = append(trace.Functions, hash)
				t.traced[hash] = name
			}
		}
		t.traces.Traces = append(t.traces.Traces, trace)
	}
}

// records yields the records of the text in order. An error ends the iteration. It can be used only
// once.
func (t *textReader) records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for !t.lines.end && t.lines.err == nil {
			r := t.record()
			if t.lines.err == nil && !yield(r, nil) {
				return
			}
		}
		if t.lines.err != nil {
			yield(Record{}, t.lines.err)
		}
	}
}

func (t *textReader) record() Record {
	l := &t.lines
	r := Record{name: []byte(l.take("a name")), bitmap: Bitmap{stride: 1}}
	r.hash = l.number("a hash", 0)
	n := l.number("a number of counters", 10)
	if n == 0 && l.err == nil {
		l.failBefore(fault.ErrCount, "a function without counters")
	}
	r.counters.width = 8
	for i := uint64(0); i < n && l.err == nil; i++ {
		r.counters.data = append64(r.counters.data, l.number("a counter", 10))
	}
	if strings.HasPrefix(l.text, "$") && l.err == nil {
		t.bitmap(&r)
	}
	// A number starts value data. Anything else is the name of the next record.
	if kinds, err := strconv.ParseUint(l.text, 10, 32); err == nil && !l.end {
		t.values(&r, kinds)
	}
	return r
}

func (t *textReader) bitmap(r *Record) {
	l := &t.lines
	m, err := strconv.ParseUint(strings.TrimSpace(l.text[1:]), 0, 64)
	if err != nil {
		l.fail(2, fault.ErrSyntax, "%q is no number of bitmap bytes", l.text[1:])
	}
	l.next()
	for i := uint64(0); i < m && l.err == nil; i++ {
		b := l.number("a byte of a bitmap", 0)
		if b > 255 && l.err == nil {
			l.failBefore(fault.ErrSyntax, "%d is no byte", b)
		}
		r.bitmap.data = append(r.bitmap.data, byte(b))
	}
}

func (t *textReader) values(r *Record, kinds uint64) {
	l := &t.lines
	if kinds == 0 || kinds > uint64(numValueKinds) {
		l.fail(1, fault.ErrCount, "%d kinds of values", kinds)
		return
	}
	l.next()
	var sites ValueSites
	for range kinds {
		kind := l.number("a kind of values", 10)
		if kind >= uint64(numValueKinds) && l.err == nil {
			l.failBefore(fault.ErrSyntax, "values of kind %d", kind)
		}
		n := l.number("a number of sites", 10)
		for i := uint64(0); i < n && l.err == nil; i++ {
			sites[kind] = append(sites[kind], t.site(ValueKind(kind)))
		}
	}
	if l.err != nil {
		return
	}
	var err error
	if r.values, err = sites.view(); err != nil {
		l.failBefore(errValues, "%v", err)
	}
}

func (t *textReader) site(kind ValueKind) []Value {
	l := &t.lines
	n := l.number("a number of values", 10)
	if n > maxSiteValues && l.err == nil {
		l.failBefore(fault.ErrCount, "%d values of a site, %d is the most", n, maxSiteValues)
	}
	var site []Value
	for i := uint64(0); i < n && l.err == nil; i++ {
		if l.end {
			l.take("VALUE:COUNT")
			break
		}
		text, colon := l.text, strings.LastIndexByte(l.text, ':')
		if colon < 0 {
			l.fail(1, fault.ErrSyntax, "found %q, want VALUE:COUNT", text)
			break
		}
		var v Value
		var err error
		if v.Count, err = strconv.ParseUint(text[colon+1:], 10, 64); err != nil {
			l.fail(colon+2, fault.ErrSyntax, "%q is no count", text[colon+1:])
		}
		if kind != MemOPSize && colon == 0 {
			l.fail(1, fault.ErrSyntax, "a value without a name")
		} else if v.Value, err = t.value(kind, text[:colon]); err != nil {
			l.fail(1, fault.ErrSyntax, "%q is no size", text[:colon])
		}
		site = append(site, v)
		l.next()
	}
	return site
}

func (t *textReader) value(kind ValueKind, s string) (uint64, error) {
	switch {
	case kind == MemOPSize:
		return strconv.ParseUint(s, 10, 64)
	case s == externalSymbol:
		return 0, nil
	case kind == VTableTarget:
		t.vtables[s] = struct{}{}
	}
	return NameHash(s), nil
}

// A lineReader reads a text line by line. It skips empty lines and comments. The first error ends
// reading, and is kept.
type lineReader struct {
	r    *bufio.Reader
	text string
	end  bool // there are no more lines; text is empty
	line int  // line number of text, from 1
	last int  // line number of the line taken before
	err  error
}

// next moves to the next line that is neither empty nor a comment.
func (l *lineReader) next() {
	for !l.end {
		s, err := l.r.ReadString('\n')
		if err != nil && err != io.EOF {
			l.stop(fmt.Errorf("instrprof: %w", err))
			return
		}
		l.line++
		l.text = strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
		if strings.IndexByte(l.text, 0) >= 0 {
			l.fail(1+strings.IndexByte(l.text, 0), fault.ErrSyntax, "a NUL")
		}
		if err == io.EOF && s == "" {
			l.text, l.end = "", true
		}
		if l.text != "" && l.text[0] != '#' {
			return
		}
	}
}

func (l *lineReader) stop(err error) {
	if l.err == nil {
		l.err = err
	}
	l.text, l.end = "", true
}

// fail records an error in the current line.
func (l *lineReader) fail(column int, class error, format string, args ...any) {
	l.stop(faultIn(l.line, column, class, format, args...))
}

// failBefore records an error in the line that [lineReader.take] has returned last.
func (l *lineReader) failBefore(class error, format string, args ...any) {
	l.stop(faultIn(max(l.last, 1), 1, class, format, args...))
}

// faultIn returns an error about a line and column of the text.
func faultIn(line, column int, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "instrprof", Section: fault.HeaderSection, Offset: -1, Line: line, Column: column, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// take returns the current line and moves to the next one. At the end of the text it records an
// error. what names the missing line in that error.
func (l *lineReader) take(what string) string {
	if l.end {
		l.fail(1, fault.ErrTruncated, "found the end of the text, want %s", what)
		return ""
	}
	s := l.text
	l.last = l.line
	l.next()
	return s
}

func (l *lineReader) number(what string, base int) uint64 {
	n, err := strconv.ParseUint(l.text, base, 64)
	if err != nil && !l.end {
		l.fail(1, fault.ErrSyntax, "found %q, want %s", l.text, what)
		return 0
	}
	l.take(what)
	return n
}
