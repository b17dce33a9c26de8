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
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/go-afdo/afdo/internal/protobuf"
	"github.com/go-afdo/afdo/profile"
)

// MaxDepth is how many functions a stack has at most. The counts of bodies
// that are nested deeper are added up in a stack that ends in a function called
// [Folded]: else a body nested n deep took n*n/2 entries of stacks. Compilers
// inline some 50 deep.
const MaxDepth = 256

// Folded is the function name that represents functions nested too deeply.
const Folded = "[nested deeper]"

// ErrTooLarge is returned if the counts add up to more than a pprof profile can hold.
var ErrTooLarge = errors.New("the counts add up to more than 2^63-1")

// Options select what is written besides the samples.
type Options struct {
	Source   string              // name of the profile, which pprof shows as that of the program
	Comments []string            // put before those about lines and what is left out
	Name     func(string) string // how a symbol's name is to be shown; as it is if nil
}

// Write writes a profile, compressed with gzip. It returns the number of counts that were nested
// too deeply.
//
// Samples are written as they come, in time proportional to their stacks. Each source line takes
// memory once. The error is [ErrTooLarge], before anything is written, or an error of w.
func Write(w io.Writer, p *profile.Profile, o Options) (folded uint64, err error) {
	if err := checkTotal(p); err != nil {
		return 0, err
	}
	z := gzip.NewWriter(w)
	e := newEncoder(z, p, o)
	for s, f := range p.Functions() {
		e.function(s, f)
	}
	e.finish()
	if e.err != nil {
		return 0, e.err
	}
	return e.folded, z.Close()
}

// checkTotal refuses what pprof, which adds up signed numbers, would get wrong.
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

// Fields of the messages of profile.proto.
const (
	profileSampleType    = 1
	profileSample        = 2
	profileMapping       = 3
	profileLocation      = 4
	profileFunction      = 5
	profileString        = 6
	profileComment       = 13
	profileDefaultSample = 14

	valueType = 1
	valueUnit = 2

	sampleLocations = 1
	sampleValues    = 2

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
)

// theMapping is the number of the only mapping.
const theMapping = 1

// header writes what there is one of.
func (e *encoder) header() {
	var samples protobuf.Message
	samples.Uint(valueType, e.string("samples"))
	samples.Uint(valueUnit, e.string("count"))
	e.out.Bytes(profileSampleType, samples)
	e.out.Uint(profileDefaultSample, e.string("samples"))

	e.mapping()
	e.flush(0)
}

// mapping writes the one mapping, of the profile itself.
func (e *encoder) mapping() {
	var mapping protobuf.Message
	mapping.Uint(mappingID, theMapping)
	mapping.Uint(mappingFile, e.string(e.options.Source))
	// What there is of these is there: pprof need not look for the program.
	mapping.Bool(mappingHasFunctions, true)
	mapping.Bool(mappingHasFilenames, true)
	mapping.Bool(mappingHasLineNumbers, true)
	mapping.Bool(mappingHasInlineFrames, true)
	e.out.Bytes(profileMapping, mapping)
}

// comments returns what whoever looks at the profile should know.
func (e *encoder) comments() []string {
	comments := append(e.options.Comments[:len(e.options.Comments):len(e.options.Comments)],
		"Frames above others are functions inlined in them, not called by them.",
		"Line numbers are offsets from the line of the function's declaration.",
		"Discriminators, call targets and counts of 0 are left out.")
	if e.folded > 0 {
		comments = append(comments, fmt.Sprintf("%d counts nested more than %d deep are added up in %s.", e.folded, MaxDepth, Folded))
	}
	return comments
}

// string returns the number of a string in the string table.
func (e *encoder) string(s string) uint64 {
	s = strings.ToValidUTF8(s, "\uFFFD") // as Protocol Buffers want it
	n, ok := e.strings[s]
	if !ok {
		n = uint64(len(e.strings))
		e.strings[s] = n
		e.out.String(profileString, s)
	}
	return n
}

// An encoder writes a profile piece by piece. The format allows any order, so samples come first,
// as they are found, and then the tables to which they refer.
type encoder struct {
	w       io.Writer
	err     error            // the first one of w
	out     protobuf.Message // not yet written
	options Options
	profile *profile.Profile

	strings   map[string]uint64
	locations map[line]uint64              // by line, numbered from 1
	lines     []line                       // that have a location, by number
	functions map[profile.SymbolRef]uint64 // numbered from 1
	symbols   []profile.SymbolRef          // that have a function, by number

	stack  []frame // the open bodies, outermost first: MaxDepth at most, and one for what is nested deeper
	deeper uint64  // samples of that
	folded uint64  // counts, of the whole profile

	ids, value, sample protobuf.Message // scratch of add
}

// A line is a source line of a symbol.
type line struct {
	symbol profile.SymbolRef
	offset uint32
}

// foldedLine represents functions that are nested too deeply. No symbol has its number, because a
// profile would need 2^32 symbols.
var foldedLine = line{symbol: ^profile.SymbolRef(0)}

// A frame is an open body.
type frame struct {
	symbol profile.SymbolRef
	site   uint64 // location where it is inlined in the body around it, 0 if not known yet
	offset uint32 // line of that location
}

func newEncoder(w io.Writer, p *profile.Profile, o Options) *encoder {
	e := &encoder{
		w:         w,
		options:   o,
		profile:   p,
		strings:   make(map[string]uint64),
		locations: make(map[line]uint64),
		functions: make(map[profile.SymbolRef]uint64),
	}
	e.string("") // which has to be the first
	e.header()
	return e
}

const flushSize = 64 << 10

// flush writes what there is if it is more than some bytes.
func (e *encoder) flush(above int) {
	if len(e.out) <= above {
		return
	}
	if e.err == nil {
		_, e.err = e.w.Write(e.out)
	}
	e.out = e.out[:0]
}

// function writes the samples of a function.
func (e *encoder) function(s profile.SymbolRef, f *profile.Function) {
	e.stack = append(e.stack[:0], frame{symbol: s})
	for w := profile.Walk(f.Records); ; {
		r, depth, ok := w.Next()
		if !ok {
			break
		}
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
			e.add(line{e.stack[depth].symbol, r.Line}, r.Count)
		case r.Kind == profile.KindInlined && depth+1 < MaxDepth:
			e.stack = append(e.stack, frame{symbol: r.Callee, offset: r.Line})
		case r.Kind == profile.KindInlined:
			e.stack = append(e.stack, frame{symbol: foldedLine.symbol, offset: r.Line})
		}
	}
	e.leave(1)
}

// leave closes all but the outermost bodies.
func (e *encoder) leave(but int) {
	if e.deeper > 0 {
		e.add(foldedLine, e.deeper)
		e.deeper = 0
	}
	e.stack = e.stack[:but]
}

// add writes a sample of a line of the innermost of the open bodies.
func (e *encoder) add(leaf line, count uint64) {
	ids := binary.AppendUvarint(e.ids[:0], e.location(leaf))
	for i := len(e.stack) - 1; i > 0; i-- {
		f := &e.stack[i]
		if f.site == 0 {
			f.site = e.location(line{e.stack[i-1].symbol, f.offset})
		}
		ids = binary.AppendUvarint(ids, f.site)
	}
	e.ids = ids
	e.sample = e.sample[:0]
	e.sample.Bytes(sampleLocations, ids)
	e.value = binary.AppendUvarint(e.value[:0], count)
	e.sample.Bytes(sampleValues, e.value)
	e.out.Bytes(profileSample, e.sample)
	e.flush(flushSize)
}

// location returns the number of a line's location.
func (e *encoder) location(l line) uint64 {
	id, ok := e.locations[l]
	if !ok {
		e.lines = append(e.lines, l)
		id = uint64(len(e.lines))
		e.locations[l] = id
	}
	return id
}

// finish writes what the samples refer to.
func (e *encoder) finish() {
	for i, l := range e.lines {
		var at, location protobuf.Message
		at.Uint(lineFunction, e.functionOf(l.symbol))
		at.Uint(lineNumber, uint64(l.offset))
		location.Uint(locationID, uint64(i+1))
		location.Uint(locationMapping, theMapping)
		location.Bytes(locationLine, at)
		e.out.Bytes(profileLocation, location)
		e.flush(flushSize)
	}
	for i, s := range e.symbols {
		e.writeFunction(uint64(i+1), s)
		e.flush(flushSize)
	}
	for _, c := range e.comments() {
		// A list of one: pprof joins them. An index of 0 would be no comment.
		e.out.Bytes(profileComment, binary.AppendUvarint(nil, e.string(c)))
	}
	e.flush(0)
}

// functionOf returns the number of a symbol's function.
func (e *encoder) functionOf(s profile.SymbolRef) uint64 {
	id, ok := e.functions[s]
	if !ok {
		e.symbols = append(e.symbols, s)
		id = uint64(len(e.symbols))
		e.functions[s] = id
	}
	return id
}

func (e *encoder) writeFunction(id uint64, s profile.SymbolRef) {
	name, systemName, file := Folded, Folded, ""
	if s != foldedLine.symbol {
		systemName = e.profile.SymbolName(s)
		name = systemName
		if e.options.Name != nil {
			name = e.options.Name(systemName)
		}
		file = e.profile.UnitPath(e.profile.SymbolUnit(s))
	}
	var function protobuf.Message
	function.Uint(functionID, id)
	function.Uint(functionName, e.string(name))
	function.Uint(functionSystemName, e.string(systemName))
	function.Uint(functionFile, e.string(file))
	e.out.Bytes(profileFunction, function)
}

// A ValueType is the meaning of a stack's value, and its unit.
type ValueType struct{ Name, Unit string }

// A Stack is a call stack with its values, leaf first.
type Stack struct {
	Places []Place
	Values []uint64 // of each type
}

// A Place is a line of a function.
type Place struct {
	Function string
	Line     uint32
	Inlined  bool // in the function of the next place
}

// WriteStacks writes real call stacks, which include inlined functions, with values of the given
// types. pprof shows the last type by default. Stacks are written as they come. The error is
// [ErrTooLarge] if the values of a type add up to more than a pprof profile can hold, or an error
// of w.
func WriteStacks(w io.Writer, o Options, types []ValueType, stacks iter.Seq2[Stack, error]) error {
	z := gzip.NewWriter(w)
	e := stackEncoder{
		encoder:   encoder{w: z, options: o, strings: make(map[string]uint64)},
		places:    make(map[string]uint64),
		functions: make(map[string]uint64),
		totals:    make([]uint64, len(types)),
	}
	e.string("") // which has to be the first
	e.begin(types)
	for s, err := range stacks {
		if err == nil {
			err = e.add(s)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range o.Comments {
		e.out.Bytes(profileComment, binary.AppendUvarint(nil, e.string(c)))
	}
	e.flush(0)
	if e.err != nil {
		return e.err
	}
	return z.Close()
}

// A stackEncoder writes places and functions when it first meets them.
type stackEncoder struct {
	encoder
	places    map[string]uint64 // by the places that are one location
	functions map[string]uint64
	totals    []uint64
}

func (e *stackEncoder) begin(types []ValueType) {
	for _, t := range types {
		var m protobuf.Message
		m.Uint(valueType, e.string(t.Name))
		m.Uint(valueUnit, e.string(t.Unit))
		e.out.Bytes(profileSampleType, m)
	}
	e.out.Uint(profileDefaultSample, e.string(types[len(types)-1].Name))
	e.mapping()
}

func (e *stackEncoder) add(s Stack) error {
	ids, values := e.ids[:0], e.value[:0]
	for i, v := range s.Values {
		if v > math.MaxInt64-e.totals[i] {
			return ErrTooLarge
		}
		e.totals[i] += v
		values = binary.AppendUvarint(values, v)
	}
	for rest := s.Places; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n-1].Inlined {
			n++
		}
		ids = binary.AppendUvarint(ids, e.location(rest[:n]))
		rest = rest[n:]
	}
	e.ids, e.value = ids, values
	e.sample = e.sample[:0]
	e.sample.Bytes(sampleLocations, ids)
	e.sample.Bytes(sampleValues, values)
	e.out.Bytes(profileSample, e.sample)
	e.flush(flushSize)
	return e.err
}

// location returns the number of the location of places that are inlined in one another.
func (e *stackEncoder) location(places []Place) uint64 {
	var lines protobuf.Message
	for _, p := range places {
		var line protobuf.Message
		line.Uint(lineFunction, e.function(p.Function))
		line.Uint(lineNumber, uint64(p.Line))
		lines.Bytes(locationLine, line)
	}
	id, ok := e.places[string(lines)]
	if !ok {
		id = uint64(len(e.places) + 1)
		e.places[string(lines)] = id
		var m protobuf.Message
		m.Uint(locationID, id)
		m.Uint(locationMapping, theMapping)
		e.out.Bytes(profileLocation, append(m, lines...))
	}
	return id
}

func (e *stackEncoder) function(name string) uint64 {
	id, ok := e.functions[name]
	if !ok {
		id = uint64(len(e.functions) + 1)
		e.functions[name] = id
		shown := name
		if e.options.Name != nil {
			shown = e.options.Name(name)
		}
		var m protobuf.Message
		m.Uint(functionID, id)
		m.Uint(functionName, e.string(shown))
		m.Uint(functionSystemName, e.string(name))
		e.out.Bytes(profileFunction, m)
	}
	return id
}
