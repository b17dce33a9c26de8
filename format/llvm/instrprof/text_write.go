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

// externalSymbol replaces a name that the profile does not contain.
const externalSymbol = "** External Symbol **"

// textHeaders maps flags to header lines, in the order of LLVM's writer and with its comments. CSIR
// implies IR.
var textHeaders = [...]struct {
	flags   Flags
	line    string
	comment string
}{
	{IRLevel | ContextSensitive, "csir", "CSIR level Instrumentation Flag"},
	{IRLevel, "ir", "IR level Instrumentation Flag"},
	{EntryFirst, "entry_first", "Always instrument the function entry block"},
	{LoopEntries, "instrument_loop_entries", "Always instrument the loop entry blocks"},
	{SingleByteCounter, "single_byte_coverage", "Instrument block coverage"},
}

// WriteText writes the profile as text, byte for byte like llvm-profdata merge --text. It takes the
// names of call targets from the profile's functions, and those of virtual tables from VTableNames.
// Any other hash is lost, because the text has an external symbol in its place, as for hash 0.
// unnamed is the number of lost hashes. WriteText leaves out functions
// without counters, which LLVM writes but cannot read. A text that would be empty gets the header
// line ":fe", so that its format can be recognised.
//
// Errors come from w, or match afdo.ErrUnrepresentable for a name that cannot be read back, such as
// 54, and for a function of a temporal trace without a known name.
func (p *Profile) WriteText(w io.Writer) (unnamed int, err error) {
	t := textWriter{w: bufio.NewWriterSize(w, 64<<10), name: p.names(), exact: true}
	err = t.profile(p.Flags, &p.Traces, p.Records())
	return t.unnamed, err
}

// WriteRecords writes records as text for people, like [Profile.WriteText] but without traces. It
// accepts any name, even if the text cannot be read back. The function name returns the name of a
// function or virtual table with a [NameHash].
func WriteRecords(w io.Writer, flags Flags, records iter.Seq[Record], name func(nameHash uint64) (string, bool)) error {
	t := textWriter{w: bufio.NewWriterSize(w, 64<<10), name: name}
	return t.profile(flags&^TemporalTraces, nil, records)
}

type textWriter struct {
	w       *bufio.Writer // keeps the first error
	name    func(nameHash uint64) (string, bool)
	exact   bool // refuse names that cannot be read back
	records int  // number of records written
	unnamed int  // number of values written whose hash has no known name
	err     error
	scratch []byte
}

func (t *textWriter) profile(flags Flags, traces *Traces, records iter.Seq[Record]) error {
	t.header(flags)
	if flags&TemporalTraces != 0 {
		t.traces(traces)
	}
	for r := range records {
		if r.counters.Len() > 0 && t.err == nil {
			t.record(r)
			t.records++
		}
	}
	if t.exact && t.records == 0 && t.w.Buffered() == 0 {
		t.line(":fe")
	}
	if t.err != nil {
		return t.err
	}
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("instrprof: %w", err)
	}
	return nil
}

// refuse records the error that the text cannot contain a name. reading says what a reader would
// take the name for, such as "a comment". If the text is for people only and need not be read back,
// refuse does nothing.
func (t *textWriter) refuse(name, reading string) {
	if t.exact && t.err == nil {
		t.err = fmt.Errorf("instrprof: proftext cannot contain the name %.100q, which a reader takes for %s: %w", name, reading, fault.ErrUnrepresentable)
	}
}

// checkLine refuses a name that will be at the start of a line if [lineReader] would not return the
// name unchanged.
func (t *textWriter) checkLine(name string) {
	switch {
	case name == "":
		t.refuse(name, "an empty line")
	case name[0] == '#':
		t.refuse(name, "a comment")
	case strings.ContainsAny(name, "\n\x00") || name[len(name)-1] == '\r':
		t.refuse(name, "the end of a line")
	}
}

// checkFunction refuses the name of a function if a reader of the text would take it for a header
// line or for a field of the record before it.
func (t *textWriter) checkFunction(name string) {
	t.checkLine(name)
	switch _, err := strconv.ParseUint(name, 10, 32); {
	case name == "":
	case t.records == 0 && name[0] == ':':
		t.refuse(name, "a header line")
	case t.records > 0 && name[0] == '$':
		t.refuse(name, "a number of bitmap bytes")
	case t.records > 0 && err == nil:
		t.refuse(name, "a number of value kinds")
	}
}

// line writes a line that consists of the given parts. Flush of the bufio.Writer returns the errors
// of writing.
func (t *textWriter) line(parts ...string) {
	for _, s := range parts {
		_, _ = t.w.WriteString(s)
	}
	_ = t.w.WriteByte('\n')
}

func (t *textWriter) number(n uint64) {
	t.scratch = append(strconv.AppendUint(t.scratch[:0], n, 10), '\n')
	_, _ = t.w.Write(t.scratch)
}

func (t *textWriter) header(left Flags) {
	for _, h := range textHeaders {
		if left&h.flags == h.flags {
			t.line("# ", h.comment)
			t.line(":", h.line)
			left &^= h.flags
		}
	}
}

func (t *textWriter) traces(traces *Traces) {
	t.line(":temporal_prof_traces")
	t.line("# Num Temporal Profile Traces:")
	t.number(uint64(len(traces.Traces)))
	t.line("# Temporal Profile Trace Stream Size:")
	t.number(traces.Seen)
	for _, trace := range traces.Traces {
		t.line("# Weight:")
		t.number(trace.Weight)
		t.checkTrace(trace)
		for _, f := range trace.Functions {
			name, _ := t.name(f)
			_, _ = t.w.WriteString(name)
			_ = t.w.WriteByte(',')
		}
		t.line()
	}
	t.line()
}

// checkTrace refuses a trace whose names a reader of the text would not return unchanged.
func (t *textWriter) checkTrace(trace Trace) {
	if len(trace.Functions) == 0 {
		t.refuse("", "an empty line")
	}
	for i, f := range trace.Functions {
		name, ok := t.name(f)
		switch {
		case !ok:
			if t.err == nil {
				t.err = fmt.Errorf("instrprof: proftext cannot contain the function %#x of a temporal trace, whose name is unknown: %w", f, fault.ErrUnrepresentable)
			}
		case name == "":
			t.refuse(name, "no name")
		case strings.Contains(name, ",") || strings.TrimSpace(name) != name:
			t.refuse(name, "several names")
		case i == 0:
			t.checkLine(name)
		case strings.ContainsAny(name, "\n\x00"):
			t.refuse(name, "the end of a line")
		}
	}
}

func (t *textWriter) record(r Record) {
	t.checkFunction(string(r.name))
	_, _ = t.w.Write(r.name)
	t.line()
	t.line("# Func Hash:")
	t.number(r.hash)
	t.line("# Num Counters:")
	t.number(uint64(r.counters.Len()))
	t.line("# Counter Values:")
	for c := range r.counters.All() {
		t.number(c)
	}
	if n := r.bitmap.Len(); n > 0 {
		t.line("# Num Bitmap Bytes:")
		t.line("$", strconv.Itoa(n))
		t.line("# Bitmap Byte Values:")
		for i := range n {
			t.line("0x", strconv.FormatUint(uint64(r.bitmap.At(i)), 16))
		}
		t.line()
	}
	t.values(r.values)
	t.line()
}

func (t *textWriter) values(v Values) {
	kinds := uint64(0)
	for kind := range numValueKinds {
		if v.NumSites(kind) > 0 {
			kinds++
		}
	}
	if kinds == 0 {
		return
	}
	t.line("# Num Value Kinds:")
	t.number(kinds)
	for kind := range numValueKinds {
		if v.NumSites(kind) == 0 {
			continue
		}
		t.line("# ValueKind = ", kind.String(), ":")
		t.number(uint64(kind))
		t.line("# NumValueSites:")
		t.number(uint64(v.NumSites(kind)))
		for site := range v.Sites(kind) {
			t.number(uint64(site.Len()))
			for x := range site.All() {
				t.line(t.value(kind, x.Value), ":", strconv.FormatUint(x.Count, 10))
			}
		}
	}
}

// value returns the text form of a profiled value. If the kind is that of sizes, this is the number
// v. Otherwise it is the name with the hash v.
func (t *textWriter) value(kind ValueKind, v uint64) string {
	if kind == MemOPSize {
		return strconv.FormatUint(v, 10)
	}
	if name, ok := t.name(v); ok && v != 0 {
		if t.checkLine(name); name == externalSymbol {
			t.refuse(name, "an unknown name")
		}
		return name
	}
	if v != 0 {
		t.unnamed++
	}
	return externalSymbol
}
