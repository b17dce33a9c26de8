package pprofile

import (
	"encoding/binary"
	"io"

	"github.com/go-afdo/afdo/internal/protobuf"
	"github.com/go-afdo/afdo/profile"
)

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
