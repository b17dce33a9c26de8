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

// A Symbolizer maps addresses of a binary to source locations.
type Symbolizer interface {
	// BuildID returns the build ID of the binary.
	BuildID() []byte

	// Locate resolves addresses of the binary. For each known address it calls each with the
	// inlined call chain, innermost function first. calls is valid only during the call. If each
	// returns an error, Locate stops and returns it.
	Locate(addresses []uint64, each func(address uint64, calls []Location) error) error
}

// A Location is a source position.
type Location struct {
	Function string // symbol name
	File     string
	Line     uint32
	Start    uint32 // first line of the function
	Column   uint32
}

// RawLosses counts what [Raw.Profile] could not resolve.
type RawLosses struct {
	Stacks    int // stacks without any known address, for example stacks of other binaries
	Addresses int // unknown addresses in other stacks, including those of the runtime
}

// runtimeFiles are the source files of the runtime functions at the top of each stack.
var runtimeFiles = []string{"memprof_malloc_linux.cpp", "memprof_interceptors.cpp", "memprof_new_delete.cpp"}

// Profile resolves addresses to functions. It leaves out functions of the runtime, unknown
// addresses, and stacks in which nothing is known. The program must have been compiled with -gmlt
// and -fdebug-info-for-profiling, and linked with a build ID, by which its segments are found.
//
// An allocation is recorded for its function and for each function into which that one was inlined.
// A call is recorded for every function on the stack except the allocating one.
//
// Errors are those of the symbolizer, [ErrBinary], and afdo.ErrLimit. Inlined calls can make the
// result much larger than the raw profile; ErrLimit is returned if it would
//   - take more than 16 times the size of the raw profile plus 8 MiB or
//   - have more than 16 frames per byte of the raw profile plus 256 Ki frames.
func (r *Raw) Profile(s Symbolizer) (*Profile, RawLosses, error) {
	room := rawRoom{bytes: freeBytes + bytesPerByte*r.size, frames: r.maxFrames()}
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

// Limits on the size of the result of [Raw.Profile], because an address may expand to many inlined
// calls. Sizes are in bytes of memory.
const (
	bytesPerByte  = 16
	freeBytes     = 8 << 20
	framesPerByte = 16
	freeFrames    = 1 << 18

	nodeBytes  = 64  // a node in the tree of stacks
	allocBytes = 256 // an allocation in a record
	callBytes  = 128 // a call in a record
)

func (r *Raw) maxFrames() int64 { return freeFrames + framesPerByte*r.size }

// A rawRoom holds how many bytes of memory and how many frames the result of [Raw.Profile] may
// still take.
type rawRoom struct{ bytes, frames int64 }

// take subtracts the given bytes and frames from the room for the result of [Raw.Profile]. It
// returns an error if the result would get too large.
func (m *rawRoom) take(bytes, frames int) error {
	m.bytes -= int64(bytes)
	m.frames -= int64(frames)
	if m.bytes < 0 || m.frames < 0 {
		return faultAt(partCallStacks, -1, fault.ErrLimit, "the call stacks meet more inlined functions than a profile of its size may")
	}
	return nil
}

// A rawSymbols resolves the addresses of a raw profile. The result for an address is a call stack:
// the innermost inlined function at the address, and the functions into which it was inlined.
type rawSymbols struct {
	raw    *Raw
	room   *rawRoom
	p      *Profile
	known  map[uint64]StackID // by address in memory; the last frame is not inlined
	guids  map[string]uint64
	frames []Frame
}

// locate resolves all addresses that lie in the binary of a symbolizer. It calls the symbolizer
// once for all of them.
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

// within returns the addresses in call stacks of the raw profile that lie in the given segments.
// They are sorted, without duplicates.
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

// learn stores the functions at an address. calls has the innermost inlined function first, and
// then those into which it was inlined. learn ignores functions of the runtime library and unknown
// functions.
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

// stack adds a call stack with the given frames to the profile, and returns its ID. It returns an
// error if the profile gets too large.
func (y *rawSymbols) stack(frames []Frame) (StackID, error) {
	before := len(y.p.stacks.nodes)
	if err := y.room.take(0, len(frames)); err != nil {
		return 0, err
	}
	id := y.p.Stack(frames)
	return id, y.room.take(nodeBytes*(len(y.p.stacks.nodes)-before), 0)
}

// A rawBuilder makes the records of functions from a raw profile. The records are in the order in
// which the functions first occur.
type rawBuilder struct {
	*rawSymbols
	byGUID map[uint64]*rawRecord
	order  []*rawRecord
	losses RawLosses
	called map[callSite]struct{}
	blocks int // number of blocks added so far
	frames []Frame
	calls  []callSite // calls on the current stack
}

// A rawRecord is the record of a function to which a [rawBuilder] still adds.
type rawRecord struct {
	Record
	block int // number of the last block that has an allocation in this record, from 1
}

// A callSite is a call on the way to an allocation, and the function whose record contains the
// call.
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

// add adds an allocation site to the records of the functions on its call stack. block has the
// measured numbers of the site.
func (b *rawBuilder) add(block *RawBlock) error {
	if _, ok := b.raw.stacks[block.Stack]; !ok {
		return faultAt(partBlocks, -1, errOffset, "there is no call stack %#x", block.Stack)
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

// spell expands a call stack of the raw profile, which consists of addresses, to frames and calls
// of functions. It stores them in b.frames and b.calls. It returns the number of addresses in the
// stack that are not known.
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

// addAlloc adds an allocation to the record of the function that allocates, and to the record of
// each function into which that one was inlined.
func (b *rawBuilder) addAlloc(block *RawBlock) error {
	stack, err := b.stack(b.frames)
	if err != nil {
		return err
	}
	for _, f := range b.frames {
		if rec := b.record(f.Function); rec.block != b.blocks {
			rec.block = b.blocks
			rec.Allocs = append(rec.Allocs, Alloc{Stack: stack, Block: block.Block})
			if err := b.room.take(allocBytes, 0); err != nil {
				return err
			}
		}
		if !f.Inlined {
			break
		}
	}
	return nil
}

// addCalls adds the calls of the current call stack, which spell has found, to the records of their
// functions.
func (b *rawBuilder) addCalls() error {
	for _, c := range b.calls {
		if _, again := b.called[c]; again {
			continue
		}
		b.called[c] = struct{}{}
		rec := b.record(c.function)
		rec.Calls = append(rec.Calls, Call{Stack: c.stack})
		if err := b.room.take(callBytes, 0); err != nil {
			return err
		}
	}
	return nil
}

func binaryError(why string) error { return fmt.Errorf("memprof: %w: %s", ErrBinary, why) }
