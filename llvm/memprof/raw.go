package memprof

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/saturating"
)

// RawMagic begins a raw profile.
const RawMagic = "\x81rforpm\xff"

// Versions of raw profiles.
const (
	rawVersion3 = 3 // no histograms
	rawVersion4 = 4 // words in histograms
	rawVersion5 = 5 // 16 bits in histograms
)

var rawVersions = []uint64{rawVersion3, rawVersion4, rawVersion5}

const (
	rawHeaderSize = 48
	segmentSize   = 64
	maxBuildID    = 32
	minRawStack   = 16
)

// A Raw is what a program built with -fmemory-profile has written: addresses, which
// only its binary turns into functions. Its methods may be called from many goroutines.
type Raw struct {
	size     int64
	version  uint64
	segments []Segment
	seen     map[segmentKey]struct{}
	blocks   []RawBlock
	byStack  map[uint64]int    // of blocks
	stacks   map[uint64][]byte // the addresses of each, in the bytes of the profile
}

// A Segment is where code of a binary has been in the memory of the program.
type Segment struct {
	Start, End uint64
	Base       uint64 // what has been added to the addresses of the binary
	BuildID    []byte
}

// A RawBlock is what has been allocated at one stack.
type RawBlock struct {
	Stack     uint64
	Block     Block
	Histogram []uint64 // of accesses, by granule; only if the program was built for it
}

// OpenRawBytes reads a raw profile of version 3, 4 or 5 that a 64-bit program wrote. It may consist
// of several dumps, one after another: what they have of the same stack is added up. The bytes must
// not change while the Raw is in use. Errors are afdo.FormatError and afdo.VersionError.
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

// dump reads a dump and returns how long it is.
func (r *Raw) dump(d decoder) (int, error) {
	if magic := d.Take(uint64(len(RawMagic)), "magic"); d.Err == nil && string(magic) != RawMagic {
		d.Fail(0, fault.ErrMagic, "a dump begins with %q instead of %q", magic, RawMagic)
	}
	version := d.Uint64("version")
	if d.Err == nil && !slices.Contains(rawVersions, version) {
		return 0, versionError(version, rawVersions)
	}
	if d.Err == nil && r.version != 0 && version != r.version {
		d.Fail(len(RawMagic), ErrValue, "a dump of version %d after one of version %d", version, r.version)
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

// rawParts reads where the parts of a dump are, which ascend, and returns them.
func (d *decoder) rawParts(size int) (parts [3]decoder) {
	names := [...]string{partSegments, partBlocks, partCallStacks}
	var at [4]int
	before := uint64(rawHeaderSize)
	for i := range names {
		pos := d.Pos
		offset := d.Uint64("offset of the " + string(names[i]))
		if d.Err == nil && (offset < before || offset > uint64(size)) {
			d.Fail(pos, ErrOffset, "offset %d is not between %d and %d", offset, before, size)
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

// segmentKey is a segment, to be compared.
type segmentKey struct {
	start, end, base uint64
	buildID          string
}

// rawFields returns the fields that a block has, in order.
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
		b.Histogram = d.histogram(r.version, at, b.Block[AccessHistogramSize])
		if d.Err != nil {
			return
		}
		i, ok := r.byStack[b.Stack]
		if !ok {
			r.byStack[b.Stack] = len(r.blocks)
			r.blocks = append(r.blocks, b)
			continue
		}
		r.blocks[i].addLater(&b)
	}
}

// histogram reads the histogram of the block at pos.
func (d *decoder) histogram(version uint64, pos int, n uint64) []uint64 {
	size := 8
	if version == rawVersion5 {
		size = 2
	}
	if d.Err == nil && n > uint64(d.Rest()/size) {
		d.Fail(pos, fault.ErrCount, "a histogram of %d values of %d bytes, %d bytes are left", n, size, d.Rest())
	}
	if d.Err != nil || n == 0 {
		return nil
	}
	h := make([]uint64, n)
	for i := range h {
		if size == 8 {
			h[i] = d.Uint64("value of a histogram")
			continue
		}
		const mantissaBits = 12
		v := uint64(d.Uint16("value of a histogram"))
		h[i] = v & (1<<mantissaBits - 1) << (v >> mantissaBits)
	}
	return h
}

// addLater adds what a later dump has of the same stack. The longer histogram takes in the shorter.
func (b *RawBlock) addLater(later *RawBlock) {
	b.Block.addLater(&later.Block)
	long, short := b.Histogram, later.Histogram
	if len(long) < len(short) {
		long, short = short, long
	}
	for i, v := range short {
		long[i] = saturating.Add(long[i], v)
	}
	b.Histogram = long
}

func (r *Raw) readStacks(d *decoder) {
	for range d.count("call stacks", minRawStack) {
		at := d.Pos
		id := d.Uint64("ID of a call stack")
		addresses := d.Take(8*uint64(d.count("addresses", 8)), "addresses")
		if old, ok := r.stacks[id]; ok && d.Err == nil && string(old) != string(addresses) {
			d.Fail(at, ErrValue, "two call stacks with the ID %#x", id)
		}
		if d.Err != nil {
			return
		}
		r.stacks[id] = addresses
	}
}

// Version returns the version: 3, 4 or 5.
func (r *Raw) Version() int { return int(r.version) }

// Segments returns where code has been. It must not be changed.
func (r *Raw) Segments() []Segment { return r.segments }

// Blocks returns what has been allocated, in the order in which stacks were met. It must not be
// changed.
func (r *Raw) Blocks() []RawBlock { return r.blocks }

// Addresses walks the addresses of a stack, leaf first: those of the calls, and
// not where they return to. Of a stack that is not there it walks none.
func (r *Raw) Addresses(stack uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for a := r.stacks[stack]; len(a) > 0; a = a[8:] {
			if !yield(binary.LittleEndian.Uint64(a)) {
				return
			}
		}
	}
}
