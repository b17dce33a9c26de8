package pprofile

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"iter"
	"math"

	"github.com/go-afdo/afdo/internal/protobuf"
)

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
