package layout

import (
	"cmp"
	"debug/elf"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A program contains the functions of a binary, and the counts of those that ran.
type program struct {
	file   *symbolize.File
	blocks *bbmap.Map // nil if each function of the symbol table counts as one block
	report *Report
	err    error // first error of spotOf

	sections  []codeSection       // sections with code, by address
	ranges    []codeRange         // ranges of all functions, by address
	positions []bbmap.Position    // of all functions, in the block address map
	hot       map[int32]*function // functions that were sampled, by codeRange.function
	functions []*function         // functions in the layout, by address
}

// A codeRange is a range of addresses that belongs to one function. A function may have several.
type codeRange struct {
	low, high uint64 // high is exclusive
	function  int32  // index of the function in program.positions, or a number without a block address map
	entry     bool   // the function begins at low
}

// A function is a sampled function with the counts of its blocks, edges and calls.
type function struct {
	index   int32
	address uint64
	names   []string
	blocks  []block // in the order of the map: by range, then by address
	edges   map[[2]int32]uint64
	entries uint64 // number of calls of the function
	calls   map[call]uint64

	byAddress []int32 // indexes of blocks by address; nil if blocks is sorted by address
	place     int     // index in program.functions, or -1
}

// A block is a basic block of a function.
type block struct {
	address uint64
	size    uint32
	id      uint32
	flags   bbmap.Flags
	ends    bool // it is the last block of its range
	calls   bool // it contains calls; true if the map does not record calls
	hash    uint64
	count   uint64
}

func (b *block) end() uint64 { return b.address + uint64(b.size) }

// A call identifies the calls from a block of one function to another function. callee is the index
// of the called function.
type call struct {
	from   int32
	callee int32
}

// readMap reads the addresses of all functions from the block address map.
func (p *program) readMap() error {
	for f, err := range p.blocks.Functions() {
		if err != nil {
			return err
		}
		index := int32(len(p.positions))
		p.positions = append(p.positions, f.At)
		for i, r := range f.Ranges {
			if n := len(r.Blocks); n > 0 {
				low := p.base(r.Section) + r.Address
				last := r.Blocks[n-1]
				// A zero-sized range still has an address, which may be the target of a call.
				high := max(low+uint64(last.Offset)+uint64(last.Size), low+1)
				p.ranges = append(p.ranges, codeRange{low, high, index, i == 0})
			}
		}
	}
	p.report.Functions = len(p.positions)
	slices.SortFunc(p.ranges, func(a, b codeRange) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.function, b.function))
	})
	return nil
}

// base returns the number to add to an address of a section in the block address map, to get an
// address as package symbolize has it. It is 0 unless the file is relocatable.
func (p *program) base(section int) uint64 {
	if f := p.file.ELF(); f.Type == elf.ET_REL && section < len(f.Sections) {
		return f.Sections[section].Offset
	}
	return 0
}

// find returns the range of a function's code that contains an address, or nil. An address just
// after a range belongs to this range, unless another range begins there, because a call at the end
// of a range returns there.
func (p *program) find(address uint64) *codeRange {
	i := sort.Search(len(p.ranges), func(i int) bool { return p.ranges[i].low > address }) - 1
	if i < 0 || address > p.ranges[i].high {
		return nil
	}
	return &p.ranges[i]
}

// function returns the function to which a range of code belongs. It decodes the function's blocks
// on the first call.
func (p *program) function(r *codeRange) (*function, error) {
	if f := p.hot[r.function]; f != nil {
		return f, nil
	}
	f := &function{index: r.function, edges: make(map[[2]int32]uint64), calls: make(map[call]uint64), place: -1}
	if p.blocks == nil {
		f.blocks = []block{{
			address: r.low, size: uint32(min(r.high-r.low, math.MaxUint32)), flags: bbmap.HasReturn, ends: true, calls: true,
		}}
	} else if err := p.decode(f); err != nil {
		return nil, err
	}
	f.address = f.blocks[0].address
	p.hot[r.function] = f
	return f, nil
}

// decode sets the blocks of a function from the block address map.
func (p *program) decode(f *function) error {
	m, err := p.blocks.Function(p.positions[f.index])
	if err != nil {
		return err
	}
	for _, r := range m.Ranges {
		low := p.base(r.Section) + r.Address
		for i, b := range r.Blocks {
			f.blocks = append(f.blocks, block{
				address: low + uint64(b.Offset), size: b.Size, id: b.ID, flags: b.Flags, ends: i == len(r.Blocks)-1,
				calls: len(b.Calls) > 0 || m.Version < 3, hash: b.Hash,
			})
		}
	}
	if len(m.Ranges) > 1 {
		f.sortBlocks()
	}
	return nil
}

// sortBlocks sets f.byAddress, the order of the blocks by address.
func (f *function) sortBlocks() {
	for i := range f.blocks {
		f.byAddress = append(f.byAddress, int32(i))
	}
	slices.SortStableFunc(f.byAddress, func(a, b int32) int { return cmp.Compare(f.blocks[a].address, f.blocks[b].address) })
}

// at returns the index of the block that is at position place in the order of addresses.
func (f *function) at(place int) int32 {
	if f.byAddress != nil {
		return f.byAddress[place]
	}
	return int32(place)
}

// target returns the index of the block that a jump to an address enters. begins is true if the
// address is the start of the block. If several blocks begin there because some are empty, it
// returns the first of them. It returns -1 if no block contains the address or ends there.
func (f *function) target(address uint64) (i int32, begins bool) {
	place := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[f.at(i)].address >= address })
	if place < len(f.blocks) && f.blocks[f.at(place)].address == address {
		return f.at(place), true
	}
	if place > 0 && address <= f.blocks[f.at(place-1)].end() {
		return f.at(place - 1), false
	}
	return -1, false
}

// source returns the index of the block that contains the instruction at an address, or -1.
func (f *function) source(address uint64) int32 {
	place := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[f.at(i)].address > address }) - 1
	for ; place >= 0 && f.blocks[f.at(place)].size == 0; place-- {
		continue
	}
	if place < 0 || address >= f.blocks[f.at(place)].end() {
		return -1
	}
	return f.at(place)
}

// fallsInto returns the index of the block from which execution can fall through into block i, or
// -1 if there is no such block.
func (f *function) fallsInto(i int32) int32 {
	if i == 0 || f.blocks[i-1].ends || f.blocks[i-1].flags&bbmap.CanFallThrough == 0 {
		return -1
	}
	return i - 1
}

// addEdge adds n executions of an edge between two blocks.
func (f *function) addEdge(from, to int32, n uint64) {
	if n > 0 {
		key := [2]int32{from, to}
		f.edges[key] = saturating.Add(f.edges[key], n)
	}
}

// A codeSection is the address range of a section with code, and whether the layout may contain its
// functions.
type codeSection struct {
	low, high uint64 // high is exclusive
	ordinary  bool
}

// readSections sets p.sections, the sections with code, from the program's section headers.
func (p *program) readSections() {
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	for i, s := range p.file.ELF().Sections {
		if s.Flags&code == code && s.Size > 0 {
			low := s.Addr + p.base(i)
			p.sections = append(p.sections, codeSection{low, low + s.Size, isOrdinary(s.Name)})
		}
	}
	slices.SortFunc(p.sections, func(a, b codeSection) int { return cmp.Compare(a.low, b.low) })
}

// isOrdinary reports whether the layout may contain functions of a section: .text, or one whose
// name begins with .text. Functions are in other sections, such as .init.text of a kernel, because
// the source or a linker script puts them there, and clang does not move them. llvm-propeller has
// the same rule.
func isOrdinary(section string) bool {
	return section == ".text" || strings.HasPrefix(section, ".text.")
}

// isOrdinary reports whether the layout may contain the function at an address, which depends on
// the section with the address. It returns true for an address outside of all sections.
func (p *program) isOrdinary(address uint64) bool {
	i := sort.Search(len(p.sections), func(i int) bool { return p.sections[i].low > address }) - 1
	return i < 0 || address >= p.sections[i].high || p.sections[i].ordinary
}
