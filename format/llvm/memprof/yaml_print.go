package memprof

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/pattern"
)

// WriteYAML prints a profile exactly as "llvm-profdata show --memory" does. It keeps one record in
// memory at a time. It returns errors from reading src and writing to w, and an error that matches
// afdo.ErrUnrepresentable for a name that is not UTF-8 or that [ParseYAML] would not return.
func WriteYAML(w io.Writer, src Source) error {
	p := printer{walk: newWalk(src), w: bufio.NewWriterSize(w, 1<<16)}
	if err := p.profile(); err != nil {
		return err
	}
	return p.w.Flush()
}

// A printer prints YAML line by line. Errors of writing are returned when its buffer is flushed.
type printer struct {
	*walk
	w    *bufio.Writer
	line []byte
}

// valueColumn is the distance from the start of a key to its value.
const valueColumn = 17

// wrapColumn is the line length after which a list or map in brackets continues on the next line.
const wrapColumn = 80

func (p *printer) profile() error {
	access, err := p.src.DataAccess()
	if err != nil {
		return err
	}
	if err := p.summary(access); err != nil {
		return err
	}
	begun := false
	for rec, err := range p.src.Records() {
		if err == nil && !begun {
			begun = true
			p.text("HeapProfileRecords:\n")
		}
		if err == nil {
			err = p.record(&rec)
		}
		if err != nil {
			return err
		}
	}
	if !access.empty() {
		begun = true
		sorted := &DataAccess{slices.Clone(access.Records), slices.Clone(access.ColdSymbols), slices.Clone(access.ColdHashes)}
		sorted.order()
		if err := p.access(sorted); err != nil {
			return err
		}
	}
	if !begun {
		p.text("{}\n")
	}
	p.text("...\n")
	return nil
}

func (p *printer) text(s string) { _, _ = p.w.WriteString(s) }

func (p *printer) summary(access *DataAccess) error {
	s, err := p.src.Summary()
	if err != nil {
		return err
	}
	p.text("---\n# MemProfSummary:\n")
	labels := []string{"Total contexts", "Total cold contexts", "Total hot contexts",
		"Maximum cold context total size", "Maximum warm context total size", "Maximum hot context total size"}
	for i, field := range s.fields() {
		p.comment(labels[i], *field)
	}
	if access != nil {
		p.comment("Num hot symbols and string literals", uint64(len(access.Records)))
		p.comment("Num known cold symbols", uint64(len(access.ColdSymbols)))
		p.comment("Num known cold string literals", uint64(len(access.ColdHashes)))
	}
	p.text("---\n")
	return nil
}

func (p *printer) comment(label string, v uint64) {
	p.text("#   " + label + ": " + strconv.FormatUint(v, 10) + "\n")
}

// key starts a line with the given indentation and a key. The value of the key follows on the same
// line.
func (p *printer) key(indent, key string) {
	p.line = append(append(append(p.line[:0], indent...), key...), ':')
	for n := len(key) + 1; n < valueColumn; n++ {
		p.line = append(p.line, ' ')
	}
	if len(key)+1 >= valueColumn {
		p.line = append(p.line, ' ')
	}
}

// end writes the current line with a line break.
func (p *printer) end() {
	p.line = append(p.line, '\n')
	_, _ = p.w.Write(p.line)
}

func (p *printer) hex(v uint64) {
	p.line = strconv.AppendUint(append(p.line, "0x"...), v, 16)
}

func (p *printer) number(indent, key string, v uint64) {
	p.key(indent, key)
	p.line = strconv.AppendUint(p.line, v, 10)
	p.end()
}

func (p *printer) record(rec *Record) error {
	p.key("  - ", "GUID")
	p.hex(rec.Function)
	p.end()
	if len(rec.Allocs) > 0 {
		p.text("    AllocSites:\n")
	}
	for i := range rec.Allocs {
		if err := p.stack("      - ", "Callstack", rec.Allocs[i].Stack); err != nil {
			return err
		}
		p.text("        MemInfoBlock:\n")
		for _, f := range p.src.Schema() {
			p.number("          ", f.String(), rec.Allocs[i].Block[f])
		}
	}
	if len(rec.Calls) > 0 {
		p.text("    CallSites:\n")
	}
	for _, c := range rec.Calls {
		if err := p.stack("      - ", "Frames", c.Stack); err != nil {
			return err
		}
		if len(c.Callees) > 0 {
			p.list("        ", "CalleeGuids", c.Callees, p.hex)
		}
	}
	return nil
}

// stack prints a call stack as the value of a key, with one frame on each line.
func (p *printer) stack(indent, key string, id StackID) error {
	empty := true
	err := p.frames(id, func(f Frame) {
		if empty {
			empty = false
			p.text(indent + key + ":\n")
		}
		p.frame(f)
	})
	if err == nil && empty {
		p.key(indent, key)
		p.line = append(p.line, "[]"...)
		p.end()
	}
	return err
}

func (p *printer) frame(f Frame) {
	const indent = "          - "
	p.line = append(append(p.line[:0], indent...), "{ Function: "...)
	p.hex(f.Function)
	p.line = strconv.AppendUint(append(p.line, ", LineOffset: "...), uint64(f.LineOffset), 10)
	p.line = strconv.AppendUint(append(p.line, ", Column: "...), uint64(f.Column), 10)
	p.line = append(p.line, ", "...)
	p.wrap(0, len(indent))
	p.line = strconv.AppendBool(append(p.line, "IsInlineFrame: "...), f.Inlined)
	p.line = append(p.line, " }"...)
	p.end()
}

// wrap breaks the current line inside a list or map in brackets, if the line is too long. The line
// begins at index from of the buffer. The next line is indented to two columns after the bracket,
// which is in column brace. wrap returns the index at which the current line now begins.
func (p *printer) wrap(from, brace int) int {
	if len(p.line)-from <= wrapColumn {
		return from
	}
	p.line = append(p.line, '\n')
	from = len(p.line)
	for range brace + 2 {
		p.line = append(p.line, ' ')
	}
	return from
}

func (p *printer) list(indent, key string, values []uint64, print func(uint64)) {
	p.key(indent, key)
	from, brace := 0, len(p.line)
	p.line = append(p.line, "[ "...)
	for i, v := range values {
		if i > 0 {
			p.line = append(p.line, ", "...)
		}
		from = p.wrap(from, brace)
		print(v)
	}
	p.line = append(p.line, " ]"...)
	p.end()
}

func (p *printer) access(a *DataAccess) error {
	p.text("DataAccessProfiles:\n")
	if len(a.Records) > 0 {
		p.text("  SampledRecords:\n")
	}
	for i := range a.Records {
		if err := p.dataRecord(&a.Records[i]); err != nil {
			return err
		}
	}
	if len(a.ColdSymbols) > 0 {
		p.text("  KnownColdSymbols:\n")
	}
	for _, name := range a.ColdSymbols {
		p.line = append(p.line[:0], "    - "...)
		if err := p.name(name); err != nil {
			return err
		}
	}
	if len(a.ColdHashes) > 0 {
		p.list("  ", "KnownColdStrHashes", a.ColdHashes, func(v uint64) { p.line = strconv.AppendUint(p.line, v, 10) })
	}
	return nil
}

func (p *printer) dataRecord(rec *DataRecord) error {
	if rec.Literal {
		p.number("    - ", "Hash", rec.Hash)
	} else if rec.Symbol == "" {
		return unrepresentable("a data symbol without a name in YAML")
	} else {
		p.key("    - ", "Symbol")
		if err := p.name(rec.Symbol); err != nil {
			return err
		}
	}
	p.number("      ", "AccessCount", rec.Accesses)
	if len(rec.Places) > 0 {
		p.text("      Locations:\n")
	}
	for _, place := range rec.Places {
		p.key("        - ", "FileName")
		if err := p.name(place.File); err != nil {
			return err
		}
		p.number("          ", "Line", uint64(place.Line))
	}
	return nil
}

// name appends a name to the line and ends the line. It returns an error if [ParseYAML] would not
// return the name unchanged.
func (p *printer) name(s string) (err error) {
	start := len(p.line)
	p.line, err = appendScalar(p.line, s)
	if scalar := p.line[start:]; err == nil && string(scalar) != s && !survives(scalar, s) {
		err = unrepresentable("the name %q in YAML, whose readers take it for something else", s)
	}
	p.end()
	return err
}

// survives reports whether [ParseYAML] reads the YAML text scalar as the string s.
func survives(scalar []byte, s string) bool {
	text := "DataAccessProfiles:\n  SampledRecords:\n    - Symbol: x\n      AccessCount: 1\n      Locations:\n        - FileName: " + string(scalar) + "\n          Line: 1\n"
	p, err := ParseYAML(strings.NewReader(text))
	return err == nil && p.access != nil && len(p.access.Records) == 1 && len(p.access.Records[0].Places) == 1 && p.access.Records[0].Places[0].File == s
}

// Unquoted scalars that YAML reads as something else than a string, such as a number or true.
var (
	notStrings = []string{"null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "False", "FALSE", ".nan", ".NaN", ".NAN"}
	numeric    = pattern.Of(`^(0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\.inf|\.Inf|\.INF|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?))$`)
)

// A quoting is the kind of quotes that a string needs in YAML: none, single or double.
type quoting uint8

const (
	plain quoting = iota
	single
	double
)

// quotingOf returns the quotes that LLVM would put around a string in YAML.
func quotingOf(s string) quoting {
	need := plain
	if s == "" || strings.ContainsAny(s[:1]+s[len(s)-1:], " \t\n\v\f\r") || strings.ContainsAny(s[:1], "-?:\\,[]{}#&*!|>'\"%@`") ||
		slices.Contains(notStrings, s) || numeric().MatchString(s) {
		need = single
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-^., \t", c) >= 0:
		case c == '\n' || c == '\r':
			need = single
		case c < 0x20 || c >= 0x7f:
			return double
		default:
			need = single
		}
	}
	return need
}

// appendScalar appends a string to a line of YAML, with quotes if it needs them.
func appendScalar(line []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return line, unrepresentable("the name %q, which is not UTF-8, in YAML", s)
	}
	switch quotingOf(s) {
	case plain:
		return append(line, s...), nil
	case single:
		return append(append(append(line, '\''), strings.ReplaceAll(s, "'", "''")...), '\''), nil
	}
	line = append(line, '"')
	for _, r := range s {
		line = appendEscaped(line, r)
	}
	return append(line, '"'), nil
}

// escapes maps characters to the letter after the backslash in double quotes.
var escapes = map[rune]byte{
	'\\': '\\', '"': '"', 0: '0', '\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', 0x1b: 'e',
	0x85: 'N', 0xa0: '_', 0x2028: 'L', 0x2029: 'P',
}

func appendEscaped(line []byte, r rune) []byte {
	switch c, ok := escapes[r]; {
	case ok:
		return append(line, '\\', c)
	case r == 0x7f || r >= 0x20 && unicode.IsPrint(r):
		return utf8.AppendRune(line, r)
	case r <= 0xff:
		return fmt.Appendf(line, `\x%02X`, r)
	case r <= 0xffff:
		return fmt.Appendf(line, `\u%04X`, r)
	default:
		return fmt.Appendf(line, `\U%08X`, r)
	}
}
