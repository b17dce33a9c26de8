// Package pprofile writes the samples of a profile in pprof's format
// (github.com/google/pprof/proto/profile.proto), for "go tool pprof" and other programs that read
// it.
//
// Each count becomes a sample, and the bodies around it become its stack. The innermost function is
// the leaf, and the call site at which it is inlined is a line of the function around it. So pprof
// shows inlining as calls. Real calls are left out: a call target says how often a location called
// a symbol, but not which of the symbol's samples came from these calls, so it belongs to no stack.
// Counts of 0 are left out, too.
//
// The profile has lines as offsets from the declaration of a function, and not the line of the
// declaration. So the offsets are written as lines, and no function has a start line.
// Discriminators are left out. Locations that differ only in the discriminator are the same line to
// pprof.
package pprofile

import (
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/protobuf"
	"github.com/go-afdo/afdo/profile"
)

// MaxDepth is the maximum number of functions in a stack. The counts of bodies that are nested
// deeper are added up in a stack that ends with a function called [Folded]. Without this limit, a
// body nested n deep would need n*n/2 entries of stacks. Compilers inline some 50 deep.
const MaxDepth = 256

// Folded is the function name that represents functions nested too deeply.
const Folded = "[nested deeper]"

// ErrTooLarge is returned if the counts add up to more than a pprof profile can hold.
var ErrTooLarge = errors.New("the counts add up to more than 2^63-1")

// Options select what a pprof file contains besides the samples.
type Options struct {
	Source   string              // name of the profile, which pprof shows as the name of the program
	Comments []string            // comments to write before the standard ones
	Name     func(string) string // returns the name to show for a symbol; nil leaves names unchanged
}

// Write writes a profile in pprof's format, compressed with gzip. It returns the number of counts
// that were nested too deeply.
//
// Samples are written as they come, in time proportional to their stacks. Each source line takes
// memory once. The error is [ErrTooLarge], before anything is written, or an error of w.
func Write(w io.Writer, p *profile.Profile, o Options) (folded uint64, err error) {
	if err := checkTotal(p); err != nil {
		return 0, err
	}
	e := &bodyEncoder{
		encoder: newEncoder(w, o, ValueType{"samples", "count"}), profile: p,
		functions: make(map[profile.SymbolRef]uint64), lines: make(map[line]uint64),
	}
	for s, f := range p.Functions() {
		e.function(s, f)
	}
	comments := append(slices.Clone(o.Comments),
		"Frames above others are functions inlined in them, not called by them.",
		"Line numbers are offsets from the line of the function's declaration.",
		"Discriminators, call targets and counts of 0 are left out.")
	if e.folded > 0 {
		comments = append(comments, fmt.Sprintf("%d counts nested more than %d deep are added up in %s.", e.folded, MaxDepth, Folded))
	}
	return e.folded, e.finish(comments)
}

// checkTotal returns ErrTooLarge if the sum of all counts does not fit into pprof's signed numbers.
func checkTotal(p *profile.Profile) error {
	total := uint64(0)
	for _, f := range p.Functions() {
		for i := range f.Records {
			r := &f.Records[i]
			if r.Kind != profile.KindCount {
				continue
			}
			if r.Count > math.MaxInt64-total {
				return ErrTooLarge
			}
			total += r.Count
		}
	}
	return nil
}

// Fields of the messages of profile.proto. Package samples reads the exported ones.
const (
	ProfileSampleType    = 1
	ProfileSample        = 2
	ProfileMapping       = 3
	ProfileLocation      = 4
	profileFunction      = 5
	ProfileString        = 6
	ProfilePeriodType    = 11
	ProfilePeriod        = 12
	profileComment       = 13
	profileDefaultSample = 14

	valueType = 1
	valueUnit = 2

	SampleLocations = 1
	SampleValues    = 2

	mappingID              = 1
	mappingFile            = 5
	mappingHasFunctions    = 7
	mappingHasFilenames    = 8
	mappingHasLineNumbers  = 9
	mappingHasInlineFrames = 10

	locationID      = 1
	locationMapping = 2
	locationLine    = 4

	lineFunction = 1
	lineNumber   = 2

	functionID         = 1
	functionName       = 2
	functionSystemName = 3
	functionFile       = 4
	functionStart      = 5
)

// theMapping is the ID of the only mapping in the file.
const theMapping = 1

// An encoder writes a profile in pprof's format. It writes samples as they come. The tables to
// which they refer follow at the end, each by itself, which compresses better. The format allows
// any order.
type encoder struct {
	w         *gzip.Writer
	err       error            // first error of w
	out       protobuf.Message // encoded messages that are not yet written to w
	places    protobuf.Message // the table of locations
	names     protobuf.Message // the tables of functions and strings
	options   Options
	strings   map[string]uint64
	locations uint64 // number of locations so far
	functions uint64 // number of functions so far

	ids, values, sample, located, line protobuf.Message // buffers that are reused
}

// newEncoder begins a profile: it writes the value types and the mapping. pprof shows the last type
// by default.
func newEncoder(w io.Writer, o Options, types ...ValueType) encoder {
	e := encoder{w: gzip.NewWriter(w), options: o, strings: make(map[string]uint64)}
	e.string("") // the format requires it to be the first string
	for _, t := range types {
		var m protobuf.Message
		m.Uint(valueType, e.string(t.Name))
		m.Uint(valueUnit, e.string(t.Unit))
		e.out.Bytes(ProfileSampleType, m)
	}
	e.out.Uint(profileDefaultSample, e.string(types[len(types)-1].Name))
	e.mapping()
	e.flush(0)
	return e
}

// mapping writes the only mapping of the pprof file. Its file name is that of the AutoFDO profile.
func (e *encoder) mapping() {
	var mapping protobuf.Message
	mapping.Uint(mappingID, theMapping)
	mapping.Uint(mappingFile, e.string(e.options.Source))
	// Without these flags, pprof would search the program for the missing data.
	mapping.Bool(mappingHasFunctions, true)
	mapping.Bool(mappingHasFilenames, true)
	mapping.Bool(mappingHasLineNumbers, true)
	mapping.Bool(mappingHasInlineFrames, true)
	e.out.Bytes(ProfileMapping, mapping)
}

// string returns the index of a string in the string table of the pprof file. It adds the string if
// the table does not have it yet.
func (e *encoder) string(s string) uint64 {
	s = strings.ToValidUTF8(s, "\uFFFD") // as Protocol Buffers want it
	n, ok := e.strings[s]
	if !ok {
		n = uint64(len(e.strings))
		e.strings[s] = n
		e.names.String(ProfileString, s)
	}
	return n
}

// newFunction adds a function to the pprof file's table of functions and returns its ID.
func (e *encoder) newFunction(name, file string, start uint32) uint64 {
	e.functions++
	shown := name
	if e.options.Name != nil && name != Folded {
		shown = e.options.Name(name)
	}
	var m protobuf.Message
	m.Uint(functionID, e.functions)
	m.Uint(functionName, e.string(shown))
	m.Uint(functionSystemName, e.string(name))
	m.Uint(functionFile, e.string(file))
	m.Uint(functionStart, uint64(start))
	e.names.Bytes(profileFunction, m)
	return e.functions
}

// addLine adds a line of a function to the lines of the location that the next call of
// [encoder.newLocation] adds to its table.
func (e *encoder) addLine(function, number uint64) {
	e.line = e.line[:0]
	e.line.Uint(lineFunction, function)
	e.line.Uint(lineNumber, number)
	e.located.Bytes(locationLine, e.line)
}

// newLocation adds a location to the table of locations and returns its ID. The location has the
// lines that [encoder.addLine] has collected.
func (e *encoder) newLocation() uint64 {
	e.locations++
	e.line = e.line[:0]
	e.line.Uint(locationID, e.locations)
	e.line.Uint(locationMapping, theMapping)
	e.line = append(e.line, e.located...)
	e.places.Bytes(ProfileLocation, e.line)
	e.located = e.located[:0]
	return e.locations
}

// add writes one sample to the pprof file: a call stack and its values. e.ids has the location IDs
// of the stack, the innermost first.
func (e *encoder) add() {
	e.sample = e.sample[:0]
	e.sample.Bytes(SampleLocations, e.ids)
	e.sample.Bytes(SampleValues, e.values)
	e.out.Bytes(ProfileSample, e.sample)
	e.flush(flushSize)
}

const flushSize = 64 << 10

// flush writes the messages that were encoded so far to the compressed file, if they have more than
// the given number of bytes.
func (e *encoder) flush(above int) {
	if len(e.out) <= above {
		return
	}
	if e.err == nil {
		_, e.err = e.w.Write(e.out)
	}
	e.out = e.out[:0]
}

// finish writes the tables of functions, locations and strings and the given comments, and ends the
// pprof file.
func (e *encoder) finish(comments []string) error {
	for _, c := range comments {
		// The field is written as a packed list with one element, because Uint leaves out index 0.
		e.out.Bytes(profileComment, binary.AppendUvarint(nil, e.string(c)))
	}
	for _, table := range []protobuf.Message{e.places, e.names} {
		e.flush(0)
		e.out = table
	}
	e.flush(0)
	return cmp.Or(e.err, e.w.Close())
}

// A bodyEncoder writes the counts of the functions of a profile, with stacks of inlined functions.
type bodyEncoder struct {
	encoder
	profile   *profile.Profile
	functions map[profile.SymbolRef]uint64
	lines     map[line]uint64 // location ID of each line

	stack  []frame // the open bodies, outermost first: at most MaxDepth, and one in place of all deeper bodies
	deeper uint64  // sum of the counts nested deeper than MaxDepth since the last sample for them
	folded uint64  // number of counts nested deeper than MaxDepth in the whole profile
}

// A line is a source line in the function of a symbol.
type line struct {
	symbol profile.SymbolRef
	offset uint32
}

// foldedSymbol represents functions that are nested too deeply. No symbol has its number, because a
// profile would need 2^32 symbols.
const foldedSymbol = ^profile.SymbolRef(0)

// A frame is an inlined body, or the function itself, that encloses the record which the encoder
// has reached.
type frame struct {
	symbol profile.SymbolRef
	site   uint64 // ID of the location where it is inlined in the enclosing body, 0 if not yet added
	offset uint32 // line offset of that location
}

// function writes the samples of one function of the profile: a pprof sample for each of its
// counts, including those of the bodies inlined in it.
func (e *bodyEncoder) function(s profile.SymbolRef, f *profile.Function) {
	e.stack = append(e.stack[:0], frame{symbol: s})
	w := profile.Walk(f.Records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		if depth >= MaxDepth {
			if r.Kind == profile.KindCount && r.Count > 0 {
				e.deeper += r.Count
				e.folded++
			}
			continue
		}
		e.leave(depth + 1)
		switch {
		case r.Kind == profile.KindCount && r.Count > 0:
			e.count(line{e.stack[depth].symbol, r.Line}, r.Count)
		case r.Kind == profile.KindInlined && depth+1 < MaxDepth:
			e.stack = append(e.stack, frame{symbol: r.Callee, offset: r.Line})
		case r.Kind == profile.KindInlined:
			e.stack = append(e.stack, frame{symbol: foldedSymbol, offset: r.Line})
		}
	}
	e.leave(1)
}

// leave closes inlined bodies, the innermost first, until only the given number of bodies is open.
func (e *bodyEncoder) leave(but int) {
	if e.deeper > 0 {
		e.count(line{symbol: foldedSymbol}, e.deeper)
		e.deeper = 0
	}
	e.stack = e.stack[:but]
}

// count writes a pprof sample for a count in the innermost open body. leaf is the line of the
// count, and the stack has the call lines of all open bodies.
func (e *bodyEncoder) count(leaf line, count uint64) {
	e.ids = binary.AppendUvarint(e.ids[:0], e.location(leaf))
	for i := len(e.stack) - 1; i > 0; i-- {
		f := &e.stack[i]
		if f.site == 0 {
			f.site = e.location(line{e.stack[i-1].symbol, f.offset})
		}
		e.ids = binary.AppendUvarint(e.ids, f.site)
	}
	e.values = binary.AppendUvarint(e.values[:0], count)
	e.add()
}

// location returns the ID of the pprof location for a source line of a symbol. It writes the
// location if that was not done before.
func (e *bodyEncoder) location(l line) uint64 {
	id, ok := e.lines[l]
	if !ok {
		e.addLine(e.functionOf(l.symbol), uint64(l.offset))
		id = e.newLocation()
		e.lines[l] = id
	}
	return id
}

// functionOf returns the ID of the pprof function for a symbol of the profile. It writes the
// function if that was not done before.
func (e *bodyEncoder) functionOf(s profile.SymbolRef) uint64 {
	id, ok := e.functions[s]
	if !ok {
		name, file := Folded, ""
		if s != foldedSymbol {
			name, file = e.profile.SymbolName(s), e.profile.UnitPath(e.profile.SymbolUnit(s))
		}
		id = e.newFunction(name, file, 0)
		e.functions[s] = id
	}
	return id
}

// A ValueType describes one of the numbers that each stack of a pprof file has, for example
// samples, by its name and its unit.
type ValueType struct{ Name, Unit string }

// A Stack is a call stack for a pprof file, with its numbers, one for each [ValueType]. The
// innermost function comes first.
type Stack struct {
	Places []Place
	Values []uint64 // one for each value type
}

// A Place is a line of a function.
type Place struct {
	Function
	Line    uint32
	Inlined bool // Function is inlined in the function of the next place
}

// A Function is a function in a call stack for [WriteStacks].
type Function struct {
	Name  string
	File  string // "" if unknown
	Start uint32 // line of its declaration, 0 if unknown
}

// WriteStacks writes real call stacks, which include inlined functions, with values of the given
// types. pprof shows the last type by default. Stacks are written as they come. The error is
// [ErrTooLarge] if the values of a type add up to more than a pprof profile can hold, or an error
// of w.
func WriteStacks(w io.Writer, o Options, types []ValueType, stacks iter.Seq2[Stack, error]) error {
	e := stackEncoder{newEncoder(w, o, types...), make(map[Function]uint64), make(map[string]uint64), make([]uint64, len(types))}
	for s, err := range stacks {
		if err == nil {
			err = e.write(s)
		}
		if err != nil {
			return err
		}
	}
	return e.finish(o.Comments)
}

// A stackEncoder writes call stacks as samples of a pprof file.
type stackEncoder struct {
	encoder
	functions map[Function]uint64
	locations map[string]uint64 // ID of each location, by its encoded lines
	totals    []uint64
}

func (e *stackEncoder) write(s Stack) error {
	e.ids, e.values = e.ids[:0], e.values[:0]
	for i, v := range s.Values {
		if v > math.MaxInt64-e.totals[i] {
			return ErrTooLarge
		}
		e.totals[i] += v
		e.values = binary.AppendUvarint(e.values, v)
	}
	for i, p := range s.Places {
		e.addLine(e.function(p.Function), uint64(p.Line))
		if !p.Inlined || i == len(s.Places)-1 {
			e.ids = binary.AppendUvarint(e.ids, e.location())
			e.located = e.located[:0]
		}
	}
	e.add()
	return e.err
}

// location returns the ID of a pprof location with the lines that [encoder.addLine] has collected,
// several of them if calls are inlined. It writes the location if there is none with these lines.
func (e *stackEncoder) location() uint64 {
	id, ok := e.locations[string(e.located)]
	if !ok {
		key := string(e.located)
		id = e.newLocation()
		e.locations[key] = id
	}
	return id
}

func (e *stackEncoder) function(f Function) uint64 {
	id, ok := e.functions[f]
	if !ok {
		id = e.newFunction(f.Name, f.File, f.Start)
		e.functions[f] = id
	}
	return id
}
