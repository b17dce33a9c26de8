package memprof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"path"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Symbolizer knows what the code of a binary comes from.
type Symbolizer interface {
	// BuildID returns the build ID of the binary.
	BuildID() []byte

	// Locate finds out what is at addresses of the binary, and calls each for those where it
	// is known, the innermost function first. What it passes is only valid during the call. An
	// error of each ends it and is its own.
	Locate(addresses []uint64, each func(address uint64, calls []Location) error) error
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

// Profile turns addresses into functions. Those of the runtime and those that the binary does not
// know are left out, and stacks that have no other. The program must have been compiled with -gmlt
// and -fdebug-info-for-profiling and linked with a build ID, by which its code is found. Errors are
// those of the symbolizer, [ErrBinary], and afdo.ErrLimit if the stacks of the profile meet so
// much inlined code that they take more than 16 times its size and 8 MiB, or have more than 16
// frames for each byte and 256 Ki.
//
// An allocation gets into the record of its function and of those that this is inlined in; a call
// gets into that of each function on the way but the allocating one.
func (r *Raw) Profile(s Symbolizer) (*Profile, RawLosses, error) {
	room := rawRoom{held: freeHeld + heldPerByte*r.size, frames: r.maxFrames()}
	y := rawSymbols{raw: r, room: &room, p: new(Profile), known: make(map[uint64]StackID), guids: make(map[string]uint64)}
	if err := y.locate(s); err != nil {
		return nil, RawLosses{}, err
	}
	b := rawBuilder{rawSymbols: &y, byGUID: make(map[uint64]*rawRecord), called: make(map[callSite]struct{})}
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
		b.p.addRecord(schema, rec.Record)
	}
	b.p.schema, b.p.limit = schema, r.maxFrames()
	return b.p, b.losses, nil
}

// What the profile made of a raw one may take in memory, and how many frames its stacks may have:
// a few addresses may stand for many inlined calls each.
const (
	heldPerByte   = 16
	freeHeld      = 8 << 20
	framesPerByte = 16
	freeFrames    = 1 << 18

	heldByNode  = 64  // a frame at a place in the tree of stacks
	heldByAlloc = 256 // an allocation in a record
	heldByCall  = 128 // a call in a record
)

func (r *Raw) maxFrames() int64 { return freeFrames + framesPerByte*r.size }

// rawRoom is what is left of that.
type rawRoom struct{ held, frames int64 }

// take takes memory and frames.
func (m *rawRoom) take(held, frames int) error {
	m.held -= int64(held)
	m.frames -= int64(frames)
	if m.held < 0 || m.frames < 0 {
		return faultAt(partCallStacks, -1, fault.ErrLimit, "the call stacks meet more inlined functions than a profile of its size may")
	}
	return nil
}

// rawSymbols are the frames of addresses, as stacks of the profile.
type rawSymbols struct {
	raw    *Raw
	room   *rawRoom
	p      *Profile
	known  map[uint64]StackID // by address in memory; the last frame is not inlined
	guids  map[string]uint64
	frames []Frame
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
	addresses := y.raw.within(slices.DeleteFunc(segments, func(g Segment) bool { return g.Base != base }))
	for i := range addresses {
		addresses[i] -= base
	}
	slices.Sort(addresses)
	return s.Locate(addresses, func(address uint64, calls []Location) error { return y.learn(address+base, calls) })
}

// within returns the addresses of all stacks that are in segments, each once and in their order.
func (r *Raw) within(segments []Segment) (found []uint64) {
	var all []uint64
	for _, stack := range r.stacks {
		for a := stack; len(a) > 0; a = a[8:] {
			all = append(all, binary.LittleEndian.Uint64(a))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortFunc(segments, func(a, b Segment) int { return cmp.Compare(a.Start, b.Start) })
	for _, g := range segments {
		i, _ := slices.BinarySearch(all, g.Start)
		for all = all[i:]; len(all) > 0 && all[0] < g.End; all = all[1:] {
			found = append(found, all[0])
		}
	}
	return found
}

// learn keeps what a stack has of an address, unless that is to be left out.
func (y *rawSymbols) learn(address uint64, calls []Location) error {
	if len(calls) == 0 || calls[0].Function == "" || slices.Contains(runtimeFiles, path.Base(calls[0].File)) {
		return nil
	}
	y.frames = y.frames[:0]
	for i, c := range calls {
		y.frames = append(y.frames, Frame{Function: y.guid(c.Function), LineOffset: c.Line - c.Start, Column: c.Column, Inlined: i < len(calls)-1})
	}
	stack, err := y.stack(y.frames)
	y.known[address] = stack
	return err
}

func (y *rawSymbols) guid(function string) uint64 {
	guid, ok := y.guids[function]
	if !ok {
		guid = GUID(function)
		y.guids[function] = guid
	}
	return guid
}

// stack returns the ID of a stack of the profile.
func (y *rawSymbols) stack(frames []Frame) (StackID, error) {
	before := len(y.p.stacks.nodes)
	if err := y.room.take(0, len(frames)); err != nil {
		return 0, err
	}
	id := y.p.Stack(frames)
	return id, y.room.take(heldByNode*(len(y.p.stacks.nodes)-before), 0)
}

// A rawBuilder makes records in the order in which their functions are met.
type rawBuilder struct {
	*rawSymbols
	byGUID map[uint64]*rawRecord
	order  []*rawRecord
	losses RawLosses
	called map[callSite]struct{}
	blocks int // that have been added
	frames []Frame
	calls  []callSite // of the stack at hand
}

// A rawRecord is a record that is being made.
type rawRecord struct {
	Record
	block int // the last one that it has an allocation of, from 1 on
}

// A callSite is a call and the function whose record it belongs to.
type callSite struct {
	function uint64
	stack    StackID
}

func (b *rawBuilder) record(function uint64) *rawRecord {
	rec := b.byGUID[function]
	if rec == nil {
		rec = &rawRecord{Record: Record{Function: function}}
		b.byGUID[function] = rec
		b.order = append(b.order, rec)
	}
	return rec
}

// add adds what has been allocated at one stack.
func (b *rawBuilder) add(block *RawBlock) error {
	if _, ok := b.raw.stacks[block.Stack]; !ok {
		return faultAt(partBlocks, -1, ErrOffset, "there is no call stack %#x", block.Stack)
	}
	unknown, err := b.spell(block.Stack)
	if err != nil {
		return err
	}
	if len(b.frames) == 0 {
		b.losses.Stacks++
		return nil
	}
	b.losses.Addresses += unknown
	b.blocks++
	if err := b.addAlloc(block); err != nil {
		return err
	}
	return b.addCalls()
}

// spell sets the frames of a stack and the calls on its way, and returns how many of its addresses
// are unknown.
func (b *rawBuilder) spell(stack uint64) (unknown int, err error) {
	b.frames, b.calls = b.frames[:0], b.calls[:0]
	for a := range b.raw.Addresses(stack) {
		at, ok := b.known[a]
		if !ok {
			unknown++
			continue
		}
		for f := range b.p.stacks.walk(uint32(at)) {
			if err := b.room.take(0, 1); err != nil {
				return 0, err
			}
			if len(b.frames) > 0 {
				b.calls = append(b.calls, callSite{f.Function, at})
			}
			b.frames = append(b.frames, f)
		}
	}
	return unknown, nil
}

// addAlloc adds an allocation to the records of its function and of those that this is inlined in.
func (b *rawBuilder) addAlloc(block *RawBlock) error {
	stack, err := b.stack(b.frames)
	if err != nil {
		return err
	}
	for _, f := range b.frames {
		if rec := b.record(f.Function); rec.block != b.blocks {
			rec.block = b.blocks
			rec.Allocs = append(rec.Allocs, Alloc{Stack: stack, Block: block.Block})
			if err := b.room.take(heldByAlloc, 0); err != nil {
				return err
			}
		}
		if !f.Inlined {
			break
		}
	}
	return nil
}

// addCalls adds the calls of the stack to the records of their functions.
func (b *rawBuilder) addCalls() error {
	for _, c := range b.calls {
		if _, again := b.called[c]; again {
			continue
		}
		b.called[c] = struct{}{}
		rec := b.record(c.function)
		rec.Calls = append(rec.Calls, Call{Stack: c.stack})
		if err := b.room.take(heldByCall, 0); err != nil {
			return err
		}
	}
	return nil
}

func binaryError(why string) error { return fmt.Errorf("memprof: %w: %s", ErrBinary, why) }
