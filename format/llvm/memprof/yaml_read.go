package memprof

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ParseYAML reads a profile as printed by [WriteYAML] and llvm-profdata, or written by hand for
// "llvm-profdata merge", where functions may have names instead of GUIDs. It reads r once. The
// schema is the set of fields in the text, or the default one if there are none. Errors are those
// of r, and afdo.FormatError with line and column.
func ParseYAML(r io.Reader) (*Profile, error) {
	y := yamlReader{scanner: &scanner{r: bufio.NewReaderSize(r, 1<<16)}, p: new(Profile)}
	y.read()
	y.document()
	if y.err != nil {
		return nil, y.err
	}
	if y.p.schema = y.schema(); len(y.p.schema) == 0 {
		y.p.schema = DefaultSchema()
	}
	return y.p, nil
}

type yamlReader struct {
	*scanner
	p      *Profile
	seen   [numFields + 1]bool
	frames []Frame
}

func (y *yamlReader) schema() (s Schema) {
	for f := AllocCount; f.known(); f++ {
		if y.seen[f] {
			s = append(s, f)
		}
	}
	return s
}

// document reads the profile from the first document of the YAML text that is not empty. Another
// document after it is an error.
func (y *yamlReader) document() {
	for begun := false; ; {
		switch more := y.next(); {
		case more && begun:
			y.syntax("want a single document")
		case more:
			begun = true
			y.profile()
		case y.ended && !begun:
			y.syntax("there is no profile")
		case !y.ended:
			y.col += len("---")
			y.first = false
		}
		if y.err != nil || y.ended {
			return
		}
	}
}

// A yamlField is a key of a map in the text. The function read reads the value of the key, and
// indent is the indentation of the map.
type yamlField struct {
	key  string
	read func(indent int)
}

// fields reads a map that is indented more than parent. Each of the given fields may occur once,
// and no others. The first required fields must occur.
func (y *yamlReader) fields(parent, required int, fields []yamlField) {
	seen := uint32(0) // bits, by index
	y.mapping(parent, func(key string, indent int) {
		switch i := slices.IndexFunc(fields, func(f yamlField) bool { return f.key == key }); {
		case i < 0:
			var keys []string
			for _, f := range fields {
				keys = append(keys, f.key)
			}
			y.syntax("unknown key %q, not one of %s", key, strings.Join(keys, ", "))
		case seen&(1<<i) != 0:
			y.syntax("duplicate key %q", key)
		default:
			seen |= 1 << i
			fields[i].read(indent)
		}
	})
	for i, f := range fields[:required] {
		if seen&(1<<i) == 0 {
			y.syntax("the key %q is missing before this", f.key)
		}
	}
}

func (y *yamlReader) profile() {
	y.fields(-1, 0, []yamlField{
		{"HeapProfileRecords", func(indent int) { y.sequence(indent, y.record) }},
		{"DataAccessProfiles", y.access},
	})
}

func (y *yamlReader) record(parent int) {
	var rec Record
	y.fields(parent, 1, []yamlField{
		{"GUID", func(int) { rec.Function = y.guid() }},
		{"AllocSites", func(indent int) {
			y.sequence(indent, func(indent int) { rec.Allocs = append(rec.Allocs, y.alloc(indent)) })
		}},
		{"CallSites", func(indent int) {
			y.sequence(indent, func(indent int) { rec.Calls = append(rec.Calls, y.call(indent)) })
		}},
	})
	if y.err == nil {
		y.p.AddRecord(nil, rec)
	}
}

func (y *yamlReader) alloc(parent int) (a Alloc) {
	y.fields(parent, 2, []yamlField{
		{"Callstack", func(indent int) { a.Stack = y.stack(indent) }},
		{"MemInfoBlock", func(indent int) { y.block(&a.Block, indent) }},
	})
	return a
}

func (y *yamlReader) call(parent int) (c Call) {
	y.fields(parent, 1, []yamlField{
		{"Frames", func(indent int) { c.Stack = y.stack(indent) }},
		{"CalleeGuids", func(indent int) { y.sequence(indent, func(int) { c.Callees = append(c.Callees, y.guid()) }) }},
	})
	return c
}

func (y *yamlReader) stack(parent int) StackID {
	y.frames = y.frames[:0]
	var f Frame
	keys := []yamlField{
		{"Function", func(int) { f.Function = y.guid() }},
		{"LineOffset", func(int) { f.LineOffset = uint32(y.unsigned(math.MaxUint32)) }},
		{"Column", func(int) { f.Column = uint32(y.unsigned(math.MaxUint32)) }},
		{"IsInlineFrame", func(int) { f.Inlined = y.boolean() }},
	}
	y.sequence(parent, func(indent int) {
		y.fields(indent, len(keys), keys)
		y.frames = append(y.frames, f)
	})
	if y.err != nil {
		return 0
	}
	return y.p.Stack(y.frames)
}

func (y *yamlReader) block(b *Block, parent int) {
	var seen [numFields + 1]bool
	y.mapping(parent, func(key string, _ int) {
		f := fieldNamed(key)
		if f == 0 || seen[f] {
			y.syntax("%q is an unknown or duplicate field of a memory block", key)
			return
		}
		seen[f], y.seen[f] = true, true
		limit := uint64(math.MaxUint64)
		if f.size() == 4 {
			limit = math.MaxUint32
		}
		b[f] = y.unsigned(limit)
	})
	b[AccessHistogram] = 0
}

func (y *yamlReader) access(parent int) {
	a := new(DataAccess)
	y.fields(parent, 0, []yamlField{
		{"SampledRecords", func(indent int) {
			y.sequence(indent, func(indent int) { a.Records = append(a.Records, y.dataRecord(indent)) })
		}},
		{"KnownColdSymbols", func(indent int) {
			y.sequence(indent, func(int) { a.ColdSymbols = append(a.ColdSymbols, symbolName(y.value())) })
		}},
		{"KnownColdStrHashes", func(indent int) {
			y.sequence(indent, func(int) { a.ColdHashes = append(a.ColdHashes, y.unsigned(math.MaxUint64)) })
		}},
	})
	y.p.access = a
}

func (y *yamlReader) dataRecord(parent int) (rec DataRecord) {
	y.fields(parent, 1, []yamlField{
		{"AccessCount", func(int) { rec.Accesses = y.unsigned(math.MaxUint64) }},
		{"Symbol", func(int) { rec.Symbol = symbolName(y.value()) }},
		{"Hash", func(int) { rec.Literal, rec.Hash = true, y.unsigned(math.MaxUint64) }},
		{"Locations", func(indent int) {
			y.sequence(indent, func(indent int) { rec.Places = append(rec.Places, y.place(indent)) })
		}},
	})
	if y.err == nil && rec.Literal == (rec.Symbol != "") {
		y.syntax("the record before this has to have either a symbol or a hash")
	}
	return rec
}

func (y *yamlReader) place(parent int) (place DataPlace) {
	y.fields(parent, 2, []yamlField{
		{"FileName", func(int) { place.File = y.value() }},
		{"Line", func(int) { place.Line = uint32(y.unsigned(math.MaxUint32)) }},
	})
	return place
}

// value reads the value of a key if it is a scalar, that is, a number or string. In braces and
// brackets it may be on the next line.
func (y *yamlReader) value() string {
	if y.flow > 0 {
		y.next()
	}
	if y.err != nil {
		return ""
	}
	return y.scalar()
}

// guid reads a hexadecimal GUID or a function name.
func (y *yamlReader) guid() uint64 {
	s := y.value()
	digits, hex := strings.CutPrefix(s, "0x")
	switch _, err := strconv.ParseUint(s, 10, 64); {
	case y.err != nil:
	case hex:
		v, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			y.bad("%q is no GUID", s)
		}
		return v
	case err == nil || s == "":
		y.bad("%q is neither a hexadecimal GUID nor a function", s)
	default:
		return GUID(s)
	}
	return 0
}

// unsigned reads a number of at most limit. Its prefix, such as "0x", says in which base it is.
func (y *yamlReader) unsigned(limit uint64) uint64 {
	s := y.value()
	v, err := strconv.ParseUint(s, 0, 64)
	switch {
	case y.err != nil:
	case err != nil || strings.Contains(s, "_"):
		y.bad("%q is no number of 64 bits", s)
	case v > limit:
		y.bad("%d is larger than %d", v, limit)
	default:
		return v
	}
	return 0
}

func (y *yamlReader) boolean() bool {
	s := y.value()
	switch s {
	case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y":
		return true
	case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N":
		return false
	}
	y.bad("%q is neither true nor false", s)
	return false
}
