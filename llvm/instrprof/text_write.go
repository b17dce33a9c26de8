package instrprof

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strconv"
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
// The hash of any other name is lost; like 0, it becomes an external symbol. WriteText leaves out
// functions without counters, which LLVM writes but cannot read.
func (p *Profile) WriteText(w io.Writer) error {
	return writeText(w, p.Flags, &p.Traces, p.Records(), p.names())
}

// WriteRecords writes records as text, like [Profile.WriteText]. name returns the name for a hash.
func WriteRecords(w io.Writer, flags Flags, records iter.Seq[Record], name func(nameHash uint64) (string, bool)) error {
	return writeText(w, flags&^TemporalTraces, nil, records, name)
}

func writeText(w io.Writer, flags Flags, traces *Traces, records iter.Seq[Record], name func(uint64) (string, bool)) error {
	t := textWriter{w: bufio.NewWriterSize(w, 64<<10), name: name}
	t.header(flags)
	if flags&TemporalTraces != 0 {
		t.traces(traces)
	}
	for r := range records {
		if r.counters.Len() > 0 {
			t.record(r)
		}
	}
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("instrprof: %w", err)
	}
	return nil
}

type textWriter struct {
	w       *bufio.Writer // keeps the first error
	name    func(nameHash uint64) (string, bool)
	scratch []byte
}

// line writes a line. Errors of the bufio.Writer surface on Flush.
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
		for _, f := range trace.Functions {
			name, _ := t.name(f)
			_, _ = t.w.WriteString(name)
			_ = t.w.WriteByte(',')
		}
		t.line()
	}
	t.line()
}

func (t *textWriter) record(r Record) {
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

// value returns the text form of a value.
func (t *textWriter) value(kind ValueKind, v uint64) string {
	if kind == MemOPSize {
		return strconv.FormatUint(v, 10)
	}
	if name, ok := t.name(v); ok && v != 0 {
		return name
	}
	return externalSymbol
}
