package bbmap

import (
	"debug/elf"
	"math"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// format is the name of the format in errors.
const format = "bbmap"

// minVersion and maxVersion are the versions of the map that this package reads. LLVM 21 dropped
// versions 0 and 1.
const (
	minVersion = 2
	maxVersion = 5
)

// addedIn contains, for each optional field, the first version of the map that may have the field.
// Fields that are not listed exist in all versions.
var addedIn = map[Features]uint8{CallSites: 3, Hashes: 4, PostLinkCounts: 5}

// Minimum sizes in bytes of the parts of a function's map, for checks of the number of parts. A
// range without blocks has an address of 4 bytes and a number. A block has ID, offset, size and
// flags. A successor has ID and probability.
const (
	minRange     = 5
	minBlock     = 4
	minCall      = 1
	minSuccessor = 2
)

// A decoder decodes the maps of functions. It reuses the memory of one function for the next.
type decoder struct {
	decode.Buffer
	section *section
	result  Function // the current function; its slices use the following ones
	blocks  []Block
	calls   []uint32
	hashAt  func(at int) // if not nil, called with the offset in the section of each hash
}

// function decodes what the block address map has about one function. at is the offset of that in
// the section. function also returns the offset after it, where the next function begins.
func (d *decoder) function(s *section, at uint64) (*Function, uint64, error) {
	d.section = s
	d.Buffer = decode.Buffer{Data: s.data, Pos: int(at), Big: s.file.Data == elf.ELFDATA2MSB}
	d.blocks, d.calls = d.blocks[:0], d.calls[:0]
	f := &d.result
	*f = Function{At: Position{s.index, at}, Ranges: f.Ranges[:0]}
	d.head(f)
	ranges := 1
	if f.Features&SeveralRanges != 0 {
		pos := d.Pos
		ranges = d.Count(pos, d.ULEB(), minRange, "ranges")
		if ranges == 0 {
			d.Fail(pos, fault.ErrCount, "a function of no ranges")
		}
	}
	f.Ranges = slices.Grow(f.Ranges, ranges)
	for range ranges {
		f.Ranges = append(f.Ranges, d.blockRange(f))
	}
	d.shareBlocks(f)
	d.skipAnalysis(f)
	if err := d.Error(s.fault); err != nil {
		return nil, 0, err
	}
	return f, uint64(d.Pos), nil
}

// head decodes the version and the set of optional fields.
func (d *decoder) head(f *Function) {
	pos := d.Pos
	if f.Version = d.Uint8("a version"); d.Err == nil && (f.Version < minVersion || f.Version > maxVersion) {
		d.Fail(pos, fault.ErrVersion, "version %d, versions %d to %d are known", f.Version, minVersion, maxVersion)
		return
	}
	pos = d.Pos
	if f.Version < 5 {
		f.Features = Features(d.Uint8("features"))
	} else {
		f.Features = Features(d.Uint16("features"))
	}
	if unknown := f.Features &^ allFeatures; unknown != 0 {
		d.Fail(pos, fault.ErrVersion, "unknown features %#x", uint16(unknown))
	}
	for feature, since := range addedIn {
		if f.Features&feature != 0 && f.Version < since {
			d.Fail(pos, fault.ErrVersion, "feature %#x in version %d, it came with version %d", uint16(feature), f.Version, since)
		}
	}
	if f.Features&NoBlocks != 0 && f.Features&(Frequencies|Probabilities) != 0 {
		d.Fail(pos, fault.ErrHeader, "features %#x: counts of blocks without blocks", uint16(f.Features))
	}
}

// blockRange decodes the part of a function's map that is about one range of contiguous blocks.
func (d *decoder) blockRange(f *Function) (r Range) {
	r.Address, r.Section = d.address()
	pos := d.Pos
	r.NumBlocks = d.ULEB()
	if f.Features&NoBlocks != 0 {
		return r
	}
	n := d.Count(pos, r.NumBlocks, minBlock, "blocks")
	d.blocks = slices.Grow(d.blocks, n)
	end := uint32(0)
	for range n {
		d.blocks = append(d.blocks, d.block(f, &end))
	}
	if d.Err == nil && uint64(end) > math.MaxUint64-r.Address {
		d.Fail(pos, fault.ErrOverflow, "the range ends after the last address")
	}
	return r
}

// shareBlocks makes the field Blocks of each Range a slice of d.blocks. It runs after all ranges
// have been decoded, because d.blocks is reallocated while it grows.
func (d *decoder) shareBlocks(f *Function) {
	if f.Features&NoBlocks != 0 || d.Err != nil {
		return
	}
	rest := d.blocks
	for i := range f.Ranges {
		r := &f.Ranges[i]
		r.Blocks, rest = rest[:r.NumBlocks:r.NumBlocks], rest[r.NumBlocks:]
	}
}

// block decodes a block. *end is the offset in the range at which the previous block ends. block
// changes it to the end of the decoded block.
func (d *decoder) block(f *Function, end *uint32) (b Block) {
	b.ID = d.uleb32("an ID")
	b.Offset = d.add(*end, "the offset of a block")
	rest := b.Offset
	if f.Features&CallSites != 0 {
		pos := d.Pos
		n := d.Count(pos, d.ULEB(), minCall, "calls")
		d.calls = slices.Grow(d.calls, n)
		first := len(d.calls)
		for range n {
			rest = d.add(rest, "the end of a call")
			d.calls = append(d.calls, rest-b.Offset)
		}
		b.Calls = d.calls[first:len(d.calls):len(d.calls)]
	}
	*end = d.add(rest, "the end of a block")
	b.Size = *end - b.Offset
	pos := d.Pos
	flags := d.uleb32("flags")
	if flags&^uint32(allFlags) != 0 {
		d.Fail(pos, fault.ErrVersion, "unknown flags %#x of a block", flags&^uint32(allFlags))
	}
	b.Flags = Flags(flags)
	if f.Features&Hashes != 0 {
		if d.hashAt != nil && d.Has(8, "a hash") {
			d.hashAt(d.Pos)
		}
		b.Hash = d.Uint64("a hash")
	}
	return b
}

// skipAnalysis skips the counts and frequencies that follow the blocks of a function in the map,
// because this package does not return them.
func (d *decoder) skipAnalysis(f *Function) {
	if f.Features&EntryCount != 0 {
		d.ULEB()
	}
	if f.Features&(Frequencies|Probabilities) == 0 {
		return
	}
	for range d.blocks {
		if f.Features&Frequencies != 0 {
			d.ULEB()
		}
		if f.Features&PostLinkCounts != 0 {
			d.ULEB()
		}
		if f.Features&Probabilities != 0 {
			d.skipSuccessors(f)
		}
		if d.Err != nil {
			return
		}
	}
}

// skipSuccessors skips the list of the blocks that may follow a block. Each entry has an ID, a
// probability and, with PostLinkCounts, a count.
func (d *decoder) skipSuccessors(f *Function) {
	numbers := minSuccessor
	if f.Features&PostLinkCounts != 0 {
		numbers++
	}
	pos := d.Pos
	for range numbers * d.Count(pos, d.ULEB(), minSuccessor, "successors") {
		d.SkipLEB()
	}
}

// uleb32 decodes a ULEB128 number of at most 32 bits. what names the number in errors.
func (d *decoder) uleb32(what string) uint32 {
	pos := d.Pos
	n := d.ULEB()
	if n > math.MaxUint32 {
		d.Fail(pos, fault.ErrOverflow, "%s of %d, which is more than 32 bits", what, n)
		return 0
	}
	return uint32(n)
}

// add decodes a number of at most 32 bits and returns the sum of to and this number. It records a
// fault if the sum has more than 32 bits.
func (d *decoder) add(to uint32, what string) uint32 {
	pos := d.Pos
	sum, carry := bits.Add32(to, d.uleb32(what), 0)
	if carry != 0 {
		d.Fail(pos, fault.ErrOverflow, "%s is beyond 4 GB", what)
		return 0
	}
	return sum
}

// address decodes the address of a range. In a relocatable file, a relocation of the field provides
// the address and the index of the section with the code. In other files the index is 0.
func (d *decoder) address() (uint64, int) {
	pos := d.Pos
	var field uint64
	if d.section.wide() {
		field = d.Uint64("an address")
	} else {
		field = uint64(d.Uint32("an address"))
	}
	if d.Err != nil || d.section.addresses == nil {
		return field, 0
	}
	a, ok := d.section.addresses[uint64(pos)]
	if !ok {
		d.Fail(pos, fault.ErrSymbol, "no relocation of the address")
		return 0, 0
	}
	if a.inPlace {
		return a.value + field, a.section
	}
	return a.value, a.section
}
