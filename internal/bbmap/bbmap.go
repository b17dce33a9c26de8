// Package bbmap reads the block address map that clang writes into an object or a program with
// -fbasic-block-address-map: the address, the size and the ID of every basic block.
//
//	m, err := bbmap.New(f)
//	for function, err := range m.Functions() {
//		...
//	}
//
// The map is in sections of type SHT_LLVM_BB_ADDR_MAP. The package reads versions 2 to 5, which
// clang 17 to 22 write, of ELF files of 32 and 64 bits. Package layout uses the map to convert
// branches between addresses to edges between blocks.
//
// New reads section headers only. A section is read when its first function is decoded, and stays
// in memory as long as the Map. A malformed map gives an afdo.FormatError with the section and the
// offset in the section.
package bbmap

import (
	"debug/elf"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/fault"
)

// SectionType is the type of the ELF sections that contain a map, SHT_LLVM_BB_ADDR_MAP.
const SectionType elf.SectionType = 0x6fff4c0a

// oldSectionType is SHT_LLVM_BB_ADDR_MAP_V0 of LLVM 12 to 14.
const oldSectionType elf.SectionType = 0x6fff4c08

// ErrNoMap is returned by New for a file without a block address map.
var ErrNoMap = errors.New("the file has no block address map: compile with clang and -fbasic-block-address-map")

// Features is the set of optional fields in the map of a function.
type Features uint16

// The optional fields of versions 2 to 5. The package skips the counts and frequencies.
const (
	EntryCount     Features = 1 << iota // how often the function was entered
	Frequencies                         // how often each block ran, relative to the entry block
	Probabilities                       // the successors of each block, with their probabilities
	SeveralRanges                       // the function may have more than one Range
	NoBlocks                            // each Range has a number of blocks, but no blocks
	CallSites                           // Block.Calls
	Hashes                              // Block.Hash
	PostLinkCounts                      // how often each block and each successor ran, in the profile that Propeller used

	allFeatures = PostLinkCounts<<1 - 1
)

// A Function is what the block address map has about one function of the machine code, such as the
// ranges of its basic blocks.
type Function struct {
	At       Position // place of the function's map in the file
	Version  uint8
	Features Features
	Ranges   []Range // the first begins with the entry block
}

// A Position is the place of a function's map in the file.
type Position struct {
	Section int // index of the section
	Offset  uint64
}

// A Range is a sequence of blocks of a function that are contiguous in memory.
type Range struct {
	// Address is the address of the first block. In a relocatable file it is the offset in the
	// section of the code.
	Address   uint64
	Section   int    // in a relocatable file, index of the section with the code; else 0
	NumBlocks uint64 // len(Blocks) except with the feature NoBlocks
	Blocks    []Block
}

// Flags are properties of a basic block, for example that it ends with a return.
type Flags uint8

// The flags of versions 2 to 5.
const (
	HasReturn         Flags = 1 << iota // ends with a return
	HasTailCall                         // ends with a tail call
	IsLandingPad                        // an exception handler
	CanFallThrough                      // execution may continue with the next block
	HasIndirectBranch                   // ends with an indirect jump

	allFlags = HasIndirectBranch<<1 - 1
)

// A Block is a basic block of machine code, as the block address map describes it.
type Block struct {
	ID     uint32 // number of the block, unique in the function
	Offset uint32 // in bytes from Range.Address
	Size   uint32 // in bytes, including all calls in the block
	Flags  Flags
	Calls  []uint32 // end of each call instruction, in bytes from the start of the block, ascending
	Hash   uint64   // hash of the block's code, see SteadyMask
}

// A Map is the block address map of an ELF file. Its methods may be called concurrently. The file
// must stay open.
type Map struct {
	sections []*section
}

// A section is an ELF section that contains a part of the block address map.
type section struct {
	file  *elf.File
	index int

	read      sync.Once // guards load
	data      []byte
	addresses map[uint64]address // from relocations in a relocatable file, by the offset of the field
	err       error
}

// New finds the sections of the block address map in a file. It returns [ErrNoMap] if there are
// none. It returns an afdo.VersionError if all sections are of a version that LLVM no longer reads,
// or if llvm-bolt has moved the code without updating the map.
func New(f *elf.File) (*Map, error) {
	m := new(Map)
	old := false
	for i, s := range f.Sections {
		switch s.Type {
		case SectionType:
			m.sections = append(m.sections, &section{file: f, index: i})
		case oldSectionType:
			old = true
		}
	}
	switch {
	case len(m.sections) > 0 && f.Section(elfid.BOLTNote) != nil:
		return nil, &fault.VersionError{Format: format, Detail: "a block address map of the program before llvm-bolt moved its code; record the program that llvm-bolt read"}
	case len(m.sections) > 0:
		return m, nil
	case old:
		return nil, &fault.VersionError{Format: format, Detail: "a block address map of clang 14 or older; compile with clang 17 or newer"}
	}
	return nil, ErrNoMap
}

// Functions yields the maps of all functions in the order of the file. A Function is valid until
// the next one. An error ends the iteration.
func (m *Map) Functions() iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		var d decoder
		for _, s := range m.sections {
			err := s.load()
			for at := uint64(0); err == nil && at < uint64(len(s.data)); {
				var f *Function
				if f, at, err = d.function(s, at); err == nil && !yield(f, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// Function decodes the map of a function at a Position from [Map.Functions]. The result stays
// valid. It returns afdo.ErrNotFound for a section that is not part of the map, and for an offset
// beyond its end.
func (m *Map) Function(at Position) (*Function, error) {
	i := slices.IndexFunc(m.sections, func(s *section) bool { return s.index == at.Section })
	if i < 0 {
		return nil, fault.ErrNotFound
	}
	s := m.sections[i]
	if err := s.load(); err != nil {
		return nil, err
	}
	if at.Offset >= uint64(len(s.data)) {
		return nil, fault.ErrNotFound
	}
	f, _, err := new(decoder).function(s, at.Offset)
	return f, err
}
