package textfmt

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/profile"
)

// flushSize is the number of bytes that are buffered before writing.
const flushSize = 32 << 10

// maxIndent is the maximum level of indentation, for 64 nested bodies. Deeper lines are not
// indented, because otherwise the text of n nested bodies would take n*n bytes. White space has no
// meaning.
const maxIndent = 2 + 2*64

const indentation = "  "

var margin = "\n" + strings.Repeat(indentation, maxIndent)

// callees returns the symbol ID, the name and the file ID that the text writes for a symbol. The
// argument of its methods is the symbol as a record contains it. So an emitter need not know
// whether the records come from a profile in memory or from a file.
type callees interface {
	id(profile.SymbolRef) uint32 // symbol ID in the text

	// header returns the name and the file ID, which is -1 for an unknown file.
	header(profile.SymbolRef) (name string, file int, err error)
}

// textBuffer is the size of the buffer at first, with room for most lines after flushSize. To grow
// to this size takes as much memory again, which a new process has to get from the system.
const textBuffer = flushSize + 4<<10

// An emitter writes the text form of a profile in the layout of the RFC's example (RFC 5.3). It
// keeps the first error.
type emitter struct {
	w       io.Writer
	callees callees
	buf     []byte
	err     error

	// State of the innermost body, of which only inlined entries are left to write:
	end     int              // end of its records
	section int              // Kind of the open section, or none
	depth   int              // number of open bodies
	outer   stack.Stack[int] // ends of the enclosing bodies, whose inlined sections are open
}

// none means that no section is open.
const none = -1

// sectionNames are the names of sections by the Kind of their records, in the order of the text.
var sectionNames = [...]string{
	profile.KindCount:   "locations",
	profile.KindCall:    "callsites",
	profile.KindInlined: "inlined",
}

func newEmitter(w io.Writer, c callees) emitter {
	return emitter{w: w, callees: c, buf: make([]byte, 0, textBuffer)}
}

func (e *emitter) put(s string) { e.buf = append(e.buf, s...) }

func (e *emitter) uint(v uint64) { e.buf = strconv.AppendUint(e.buf, v, 10) }

// quoted writes a quoted name, which [checkName] must have accepted.
func (e *emitter) quoted(name string) {
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, '"')
}

// line begins a new line that is indented by the given level.
func (e *emitter) line(level int) {
	if level > maxIndent {
		level = 0
	}
	e.buf = append(e.buf, margin[:1+len(indentation)*level]...)
}

func (e *emitter) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// relieve writes the buffered text to w if it has at least flushSize bytes.
func (e *emitter) relieve() {
	if len(e.buf) >= flushSize {
		e.flush()
	}
}

func (e *emitter) flush() {
	if e.err == nil && len(e.buf) > 0 {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// finish writes the buffered text to w and returns the first error of the emitter.
func (e *emitter) finish() error {
	e.flush()
	return e.err
}

// filenames writes the block of file names.
func (e *emitter) filenames(paths []string) {
	e.put("filenames = {")
	for i, path := range paths {
		if i > 0 {
			e.put(",")
		}
		e.line(1)
		e.quoted(path)
		e.relieve()
	}
	e.put("\n}\n")
}

// summary writes the block with the summary.
func (e *emitter) summary(s *afdo.Summary) {
	e.buf = fmt.Appendf(e.buf, "\nsummary = {\n  total_count = %d,\n  max_count = %d,\n  max_fn_count = %d,\n  num_counts = %d,\n  num_functions = %d,\n",
		s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions)
	e.buf = fmt.Appendf(e.buf, "  num_detailed_entries = %d,\n  detailed_entries = {", len(s.Entries))
	for i, d := range s.Entries {
		if i > 0 {
			e.put(",")
		}
		e.line(2)
		e.buf = fmt.Appendf(e.buf, "{cutoff = %d, min_count = %d, num_counts = %d}", d.Cutoff, d.MinCount, d.NumCounts)
		e.relieve()
	}
	e.put("\n  }\n}\n")
}

// symbol writes a symbol. If f is the zero Function, the symbol has no samples (format note 21).
func (e *emitter) symbol(ref profile.SymbolRef, f profile.Function) {
	e.put("\n")
	e.header(ref)
	e.put(":")
	e.uint(f.HeadCount)
	e.put(":")
	e.uint(f.Timestamp)
	e.put(") = ")
	e.body(f.Records)
	e.put("\n")
	e.relieve()
}

// header writes the beginning of a header, which top-level and inlined symbols have in common:
// "name":file(id
func (e *emitter) header(ref profile.SymbolRef) {
	name, file, err := e.callees.header(ref)
	if err != nil {
		e.fail(err)
		return
	}
	e.quoted(name)
	e.buf = append(e.buf, ':')
	e.buf = strconv.AppendInt(e.buf, int64(file), 10)
	e.buf = append(e.buf, '(')
	e.uint(uint64(e.callees.id(ref)))
}

// body writes a function body with all inlined bodies.
//
// A body has up to three sections, so its records are visited up to three times. Nested bodies are
// skipped by their length, which keeps the time linear. Open bodies are kept on a stack instead of
// recursion.
func (e *emitter) body(records []profile.Record) {
	e.enter(records, 0, len(records))
	for i := 0; e.depth > 0; {
		for i < e.end && records[i].Kind != profile.KindInlined {
			i++
		}
		if i == e.end || e.err != nil {
			i = e.end
			e.leave()
			continue
		}
		r := &records[i]
		e.entry(r)
		e.put(" = ")
		e.header(r.Callee)
		e.put(") = ")
		e.outer.Push(e.end)
		i++
		e.enter(records, i, i+int(r.Count))
	}
}

// after returns the index of the record after record i, and after the nested body that record i may
// begin.
func after(records []profile.Record, i int) int {
	if r := &records[i]; r.Kind == profile.KindInlined {
		return i + 1 + int(r.Count)
	}
	return i + 1
}

// enter begins the body with the records[start:end], and writes its counts and calls.
func (e *emitter) enter(records []profile.Record, start, end int) {
	e.end, e.section = end, none
	e.depth++
	e.put("{")
	calls := end // index of the first call
	for i := start; i < end; i = after(records, i) {
		switch r := &records[i]; r.Kind {
		case profile.KindCount:
			e.entry(r)
			e.put(" = ")
			e.uint(r.Count)
		case profile.KindCall:
			calls = min(calls, i)
		}
	}
	for i := calls; i < end; i = after(records, i) {
		if records[i].Kind == profile.KindCall {
			i += e.targets(records[i:end]) - 1
		}
	}
}

// leave ends the innermost open function body: it writes the closing brace.
func (e *emitter) leave() {
	e.depth--
	level := 2 * e.depth
	if e.section != none {
		e.line(level + 1)
		e.put("}")
		e.line(level)
	}
	e.put("}")
	if e.depth > 0 {
		e.end, e.section = e.outer.Pop(), int(profile.KindInlined)
	}
}

// targets writes one entry for all calls at the location of the first record. It returns their
// number.
func (e *emitter) targets(records []profile.Record) int {
	first := &records[0]
	e.entry(first)
	e.put(" -> {")
	n := 0
	for ; n < len(records); n++ {
		r := &records[n]
		if r.Kind != profile.KindCall || r.Line != first.Line || r.Discriminator != first.Discriminator {
			break
		}
		if n > 0 {
			e.put(", ")
		}
		e.uint(uint64(e.callees.id(r.Callee)))
		e.put(" = ")
		e.uint(r.Count)
		e.relieve()
	}
	e.put("}")
	return n
}

// entry begins an entry in the innermost body with the location of a record. It begins a new
// section if necessary.
func (e *emitter) entry(r *profile.Record) {
	level := 2 * (e.depth - 1)
	if section := int(r.Kind); e.section == section {
		e.put(",")
	} else {
		if e.section != none {
			e.line(level + 1)
			e.put("},")
		}
		e.line(level + 1)
		e.put(sectionNames[section])
		e.put(" = {")
		e.section = section
	}
	e.relieve()
	e.line(level + 2)
	e.uint(uint64(r.Line))
	if r.Discriminator != 0 {
		e.put(".")
		e.uint(uint64(r.Discriminator))
	}
}

// checkName returns an error for a name that the text cannot contain.
func checkName(name string) error {
	if len(name) > MaxName {
		return fmt.Errorf("textfmt: name %.200q... of %d bytes: %w", name, len(name), fault.ErrUnrepresentable)
	}
	if strings.IndexByte(name, '"') >= 0 {
		return fmt.Errorf("textfmt: name %.200q: %w", name, errQuote)
	}
	return nil
}
