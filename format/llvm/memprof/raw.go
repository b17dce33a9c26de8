package memprof

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// RawMagic is the first eight bytes of a raw profile.
const RawMagic = "\x81rforpm\xff"

// Versions of raw profiles.
const (
	rawVersion3 = 3 // without histograms
	rawVersion4 = 4 // with 64-bit histogram values
	rawVersion5 = 5 // with 16-bit histogram values
)

var rawVersions = []uint64{rawVersion3, rawVersion4, rawVersion5}

const (
	rawHeaderSize = 48
	segmentSize   = 64
	maxBuildID    = 32
	minRawStack   = 16
)

// A Raw is a profile as written by a program built with -fmemory-profile. It contains addresses;
// [Raw.Profile] resolves them with the program's binary. Its methods may be called concurrently.
type Raw struct {
	size     int64
	version  uint64
	segments []Segment
	seen     map[segmentKey]struct{}
	blocks   []RawBlock
	byStack  map[uint64]int    // index in blocks by stack ID
	stacks   map[uint64][]byte // the addresses of each stack, as slices of the input
}

// A Segment is a range of memory that held code of a binary.
type Segment struct {
	Start, End uint64
	Base       uint64 // load bias: address in memory minus address in the binary
	BuildID    []byte
}

// A RawBlock holds the counts and sizes of the memory that was allocated at one call stack.
type RawBlock struct {
	Stack uint64
	Block Block
}

// OpenRawBytes reads a raw profile of version 3, 4 or 5 written by a 64-bit program. The input may
// hold several dumps in sequence; their data for the same stack is combined. data must not change
// while the Raw is in use. Errors are afdo.FormatError and afdo.VersionError.
func OpenRawBytes(data []byte) (*Raw, error) {
	r := &Raw{
		size: int64(len(data)), seen: make(map[segmentKey]struct{}),
		byStack: make(map[uint64]int), stacks: make(map[uint64][]byte),
	}
	for at := 0; at < len(data) || at == 0; {
		n, err := r.dump(decoder{Buffer: decode.Buffer{Data: data[at:], Part: partHeader}, base: int64(at)})
		if err != nil {
			return nil, err
		}
		at += n
	}
	return r, nil
}

// dump reads one dump of a raw memory profile, which may have several. d is at the beginning of
// the dump. The records are added to r. dump returns the size of the dump in bytes.
func (r *Raw) dump(d decoder) (int, error) {
	if magic := d.Take(uint64(len(RawMagic)), "magic"); d.Err == nil && string(magic) != RawMagic {
		d.Fail(0, fault.ErrMagic, "a dump begins with %q instead of %q", magic, RawMagic)
	}
	version := d.Uint64("version")
	if d.Err == nil && !slices.Contains(rawVersions, version) {
		return 0, versionError(version, rawVersions)
	}
	if d.Err == nil && r.version != 0 && version != r.version {
		d.Fail(len(RawMagic), errValue, "a dump of version %d after one of version %d", version, r.version)
	}
	r.version = version
	sizeAt := d.Pos
	size := d.Uint64("size of a dump")
	if d.Err == nil && (size > uint64(len(d.Data)) || size < rawHeaderSize) {
		d.Fail(sizeAt, fault.ErrTruncated, "a dump of %d bytes where %d are left", size, len(d.Data))
	}
	parts := d.rawParts(int(size))
	if d.Err != nil {
		return 0, d.err()
	}
	for i, read := range []func(*decoder){r.readSegments, r.readBlocks, r.readStacks} {
		if read(&parts[i]); parts[i].Err != nil {
			return 0, parts[i].err()
		}
	}
	return int(size), nil
}

// rawParts reads the offsets of the three parts of a dump, which are its segments, its blocks and
// its call stacks, and returns a decoder for each. The offsets must ascend.
func (d *decoder) rawParts(size int) (parts [3]decoder) {
	names := [...]string{partSegments, partBlocks, partCallStacks}
	var at [4]int
	before := uint64(rawHeaderSize)
	for i := range names {
		pos := d.Pos
		offset := d.Uint64("offset of the " + string(names[i]))
		if d.Err == nil && (offset < before || offset > uint64(size)) {
			d.Fail(pos, errOffset, "offset %d is not between %d and %d", offset, before, size)
		}
		if d.Err != nil {
			return parts
		}
		at[i], before = int(offset), offset
	}
	at[3] = size
	for i, name := range names {
		parts[i] = d.in(name).between(at[i], at[i+1])
	}
	return parts
}

func (r *Raw) readSegments(d *decoder) {
	for range d.count("segments", segmentSize) {
		s := Segment{Start: d.Uint64("start"), End: d.Uint64("end"), Base: d.Uint64("base")}
		at := d.Pos
		n := d.Uint64("length of a build ID")
		id := d.Take(maxBuildID, "build ID")
		if d.Err == nil && n > maxBuildID {
			d.Fail(at, fault.ErrCount, "a build ID of %d bytes, %d are there", n, maxBuildID)
		}
		if d.Err != nil {
			return
		}
		s.BuildID = id[:n]
		key := segmentKey{s.Start, s.End, s.Base, string(s.BuildID)}
		if _, again := r.seen[key]; !again {
			r.seen[key] = struct{}{}
			r.segments = append(r.segments, s)
		}
	}
}

// segmentKey is a comparable copy of a Segment, to find equal segments.
type segmentKey struct {
	start, end, base uint64
	buildID          string
}

// rawFields returns the fields of a block in raw profiles of the given version, in the order of the
// file.
func rawFields(version uint64) Schema {
	if version == rawVersion3 {
		return FullSchema()[:MaxLifetimeAccessDensity]
	}
	return FullSchema()
}

func (r *Raw) readBlocks(d *decoder) {
	fields := rawFields(r.version)
	for range d.count("memory blocks", keySize+fields.blockSize()) {
		b := RawBlock{Stack: d.Uint64("stack of a block")}
		at := d.Pos
		d.block(&b.Block, fields)
		b.Block[AccessHistogram] = 0
		d.skipHistogram(r.version, at, b.Block[AccessHistogramSize])
		if d.Err != nil {
			return
		}
		i, ok := r.byStack[b.Stack]
		if !ok {
			r.byStack[b.Stack] = len(r.blocks)
			r.blocks = append(r.blocks, b)
			continue
		}
		r.blocks[i].Block.addLater(&b.Block)
	}
}

// skipHistogram skips the n values of a histogram, which counts accesses by granule. pos is the
// position of the block that has the histogram.
func (d *decoder) skipHistogram(version uint64, pos int, n uint64) {
	size := 8
	if version == rawVersion5 {
		size = 2
	}
	if d.Err == nil && n > uint64(d.Rest()/size) {
		d.Fail(pos, fault.ErrCount, "a histogram of %d values of %d bytes, %d bytes are left", n, size, d.Rest())
	}
	if d.Err == nil {
		d.Take(uint64(size)*n, "a histogram")
	}
}

func (r *Raw) readStacks(d *decoder) {
	for range d.count("call stacks", minRawStack) {
		at := d.Pos
		id := d.Uint64("ID of a call stack")
		addresses := d.Take(8*uint64(d.count("addresses", 8)), "addresses")
		if old, ok := r.stacks[id]; ok && d.Err == nil && string(old) != string(addresses) {
			d.Fail(at, errValue, "two call stacks with the ID %#x", id)
		}
		if d.Err != nil {
			return
		}
		r.stacks[id] = addresses
	}
}

// Version returns the version: 3, 4 or 5.
func (r *Raw) Version() int { return int(r.version) }

// Segments returns the code segments. The caller must not change them.
func (r *Raw) Segments() []Segment { return r.segments }

// Blocks returns the blocks in the order in which their stacks first occurred. The caller must not
// change them.
func (r *Raw) Blocks() []RawBlock { return r.blocks }

// Addresses iterates over the addresses of a stack, leaf first. They are addresses of call
// instructions, not return addresses. For an unknown stack it yields nothing.
func (r *Raw) Addresses(stack uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for a := r.stacks[stack]; len(a) > 0; a = a[8:] {
			if !yield(binary.LittleEndian.Uint64(a)) {
				return
			}
		}
	}
}
