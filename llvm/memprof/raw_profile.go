package memprof

import (
	"bytes"
	"fmt"
	"path"
	"slices"
)

// A Symbolizer knows what the code of a binary comes from.
type Symbolizer interface {
	// BuildID returns the build ID of the binary.
	BuildID() []byte

	// Locate finds out what is at addresses of the binary, and calls each for those where it
	// is known, the innermost function first. What it passes is only valid during the call.
	Locate(addresses []uint64, each func(address uint64, calls []Location)) error
}

// A Location is a place in the source that code comes from.
type Location struct {
	Function string // name of the symbol
	File     string
	Line     uint32
	Start    uint32 // the line where the function begins
	Column   uint32
}

// RawLosses is what of a raw profile is not in what has been made of it.
type RawLosses struct {
	Stacks    int // whose addresses are all unknown, such as those of other binaries
	Addresses int // unknown ones in other stacks, and those of the runtime
}

// runtimeFiles are those of the runtime whose functions are on top of each stack.
var runtimeFiles = []string{"memprof_malloc_linux.cpp", "memprof_interceptors.cpp", "memprof_new_delete.cpp"}

// Profile turns addresses into functions. Those of the runtime and those that the
// binary does not know are left out, and stacks that have no other. The program must have been
// compiled with -gmlt and -fdebug-info-for-profiling and linked with a build ID, by which
// its code is found. Errors are those of the symbolizer and [ErrBinary].
//
// An allocation gets into the record of its function and of those that this is inlined in; a call
// gets into that of each function on the way but the allocating one.
func (r *Raw) Profile(s Symbolizer) (*Profile, RawLosses, error) {
	y := rawSymbols{raw: r, known: make(map[uint64][]Frame)}
	if err := y.locate(s); err != nil {
		return nil, RawLosses{}, err
	}
	b := rawBuilder{rawSymbols: &y, p: new(Profile), byGUID: make(map[uint64]*Record), called: make(map[callSite]struct{})}
	for i := range r.blocks {
		if err := b.add(&r.blocks[i]); err != nil {
			return nil, RawLosses{}, err
		}
	}
	if len(b.order) == 0 && len(r.blocks) > 0 {
		return nil, b.losses, binaryError("none of its functions is known: was it compiled with -gmlt -fdebug-info-for-profiling?")
	}
	schema := rawFields(r.version)
	for _, rec := range b.order {
		b.p.AddRecord(schema, *rec)
	}
	b.p.schema = schema
	return b.p, b.losses, nil
}

// rawSymbols are the frames of addresses.
type rawSymbols struct {
	raw   *Raw
	known map[uint64][]Frame // by address in memory; the last is not inlined
}

// locate asks for all addresses of the binary once.
func (y *rawSymbols) locate(s Symbolizer) error {
	id := s.BuildID()
	if len(id) == 0 {
		return binaryError("it has no build ID")
	}
	segments := slices.DeleteFunc(slices.Clone(y.raw.segments), func(g Segment) bool { return !bytes.Equal(g.BuildID, id) })
	if len(segments) == 0 {
		return binaryError("no segment has its build ID")
	}
	base := segments[0].Base
	seen := make(map[uint64]struct{})
	var addresses []uint64
	for stack := range y.raw.stacks {
		for a := range y.raw.Addresses(stack) {
			in := slices.ContainsFunc(segments, func(g Segment) bool { return g.Base == base && a >= g.Start && a < g.End })
			if _, again := seen[a]; in && !again {
				seen[a] = struct{}{}
				addresses = append(addresses, a-base)
			}
		}
	}
	slices.Sort(addresses)
	return s.Locate(addresses, func(address uint64, calls []Location) {
		if frames := framesOf(calls); frames != nil {
			y.known[address+base] = frames
		}
	})
}

// framesOf returns what a stack has of an address, nil if that is to be left out.
func framesOf(calls []Location) []Frame {
	if len(calls) == 0 || calls[0].Function == "" || slices.Contains(runtimeFiles, path.Base(calls[0].File)) {
		return nil
	}
	frames := make([]Frame, len(calls))
	for i, c := range calls {
		frames[i] = Frame{Function: GUID(c.Function), LineOffset: c.Line - c.Start, Column: c.Column, Inlined: i < len(calls)-1}
	}
	return frames
}

// A rawBuilder makes records in the order in which their functions are met.
type rawBuilder struct {
	*rawSymbols
	p      *Profile
	byGUID map[uint64]*Record
	order  []*Record
	losses RawLosses
	called map[callSite]struct{}
	frames []Frame
	calls  []callSite // of the stack at hand
}

// A callSite is a call and the function whose record it belongs to.
type callSite struct {
	function uint64
	stack    StackID
}

func (b *rawBuilder) record(function uint64) *Record {
	rec := b.byGUID[function]
	if rec == nil {
		rec = &Record{Function: function}
		b.byGUID[function] = rec
		b.order = append(b.order, rec)
	}
	return rec
}

// add adds what has been allocated at one stack.
func (b *rawBuilder) add(block *RawBlock) error {
	if _, ok := b.raw.stacks[block.Stack]; !ok {
		return faultAt(BlocksPart, -1, ErrOffset, "there is no call stack %#x", block.Stack)
	}
	b.frames, b.calls = b.frames[:0], b.calls[:0]
	unknown := 0
	for a := range b.raw.Addresses(block.Stack) {
		at, ok := b.known[a]
		if !ok {
			unknown++
			continue
		}
		stack := b.p.Stack(at)
		for i, f := range at {
			if len(b.frames) > 0 || i > 0 {
				b.calls = append(b.calls, callSite{f.Function, stack})
			}
		}
		b.frames = append(b.frames, at...)
	}
	if len(b.frames) == 0 {
		b.losses.Stacks++
		return nil
	}
	b.losses.Addresses += unknown
	alloc := Alloc{Stack: b.p.Stack(b.frames), Block: block.Block}
	for i, f := range b.frames {
		if !slices.ContainsFunc(b.frames[:i], func(g Frame) bool { return g.Function == f.Function }) {
			rec := b.record(f.Function)
			rec.Allocs = append(rec.Allocs, alloc)
		}
		if !f.Inlined {
			break
		}
	}
	for _, c := range b.calls {
		if _, again := b.called[c]; again {
			continue
		}
		b.called[c] = struct{}{}
		rec := b.record(c.function)
		rec.Calls = append(rec.Calls, Call{Stack: c.stack})
	}
	return nil
}

func binaryError(why string) error { return fmt.Errorf("memprof: %w: %s", ErrBinary, why) }
