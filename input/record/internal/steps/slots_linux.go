package steps

import (
	"debug/elf"

	"github.com/go-afdo/afdo/input/record/internal/simulate"
)

// A slotTable names the functions of the C library that a file calls through its procedure linkage
// table, as far as the simulation knows their effect. The table is needed because the C library
// selects a variant of such a function for the processor, and the variant's code has no name.
type slotTable struct {
	names    map[uint64]string // by the slot's address in the file
	segments []elf.ProgHeader  // with code
	patched  bool              // the dynamic linker writes into the code
}

// A slotCache holds the slot tables of mapped files, which name the C library functions that a file
// calls.
type slotCache map[fileID]*slotTable

// maxSlotTables limits the number of tables in the cache. Each takes some kilobytes.
const maxSlotTables = 1000

// of returns the slot table of the file to which a mapping belongs. The table is empty if the file
// cannot be read.
func (c slotCache) of(m *mapping) *slotTable {
	if t := c[m.file]; t != nil {
		return t
	}
	if len(c) >= maxSlotTables {
		clear(c)
	}
	t := new(slotTable)
	if m.file != (fileID{}) {
		t = readSlots(procPath(int(m.TID), "root"+m.Path))
	}
	c[m.file] = t
	return t
}

// name returns the name of the C library function whose address is in a slot, an entry of a file's
// table of function addresses. slot is the address of the entry in the process that has the mapping
// m. name returns "" if the slotTable does not contain the slot.
func (t *slotTable) name(m *mapping, slot uint64) string {
	for _, s := range t.segments {
		if m.Executable && m.PageOffset+m.Length > s.Off && m.PageOffset < s.Off+s.Filesz {
			bias := m.Start - m.PageOffset - (s.Vaddr - s.Off)
			return t.names[slot-bias]
		}
	}
	return ""
}

// readSlots reads the slot table of an ELF file: the names of C library functions whose addresses
// the dynamic linker stores in the file's tables, by the address of the table entry.
func readSlots(path string) *slotTable {
	t := &slotTable{names: make(map[uint64]string)}
	defer func() { _ = recover() }() // debug/elf is not made for damaged files
	f, err := elf.Open(path)
	if err != nil {
		return t
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			t.segments = append(t.segments, p.ProgHeader)
		}
	}
	flags, _ := f.DynValue(elf.DT_FLAGS)
	old, _ := f.DynValue(elf.DT_TEXTREL)
	t.patched = len(old) > 0 || len(flags) > 0 && elf.DynFlag(flags[0])&elf.DF_TEXTREL != 0
	dynamic, _ := f.DynamicSymbols()
	resolvers := make(map[uint64]string) // functions that select a variant
	static, _ := f.Symbols()
	for _, list := range [][]elf.Symbol{dynamic, static} {
		for _, s := range list {
			if elf.ST_TYPE(s.Info) == elf.STT_GNU_IFUNC && simulate.IsLibrary(s.Name) {
				resolvers[s.Value] = s.Name
			}
		}
	}
	for _, s := range f.Sections {
		if kinds, ok := relocations[f.Machine]; ok && s.Type == elf.SHT_RELA {
			t.addRelocations(f, s, kinds, dynamic, resolvers)
		}
	}
	return t
}

// relocationKinds are the kinds of relocations that fill an entry of a table of function addresses:
// with the address of a function, with the address of any symbol, or with the result of a function
// that selects a variant for the processor.
type relocationKinds struct{ slot, symbol, resolver uint32 }

// relocations contains, for each machine, the kinds of relocations that fill a slot.
var relocations = map[elf.Machine]relocationKinds{
	elf.EM_X86_64:  {uint32(elf.R_X86_64_JMP_SLOT), uint32(elf.R_X86_64_GLOB_DAT), uint32(elf.R_X86_64_IRELATIVE)},
	elf.EM_AARCH64: {uint32(elf.R_AARCH64_JUMP_SLOT), uint32(elf.R_AARCH64_GLOB_DAT), uint32(elf.R_AARCH64_IRELATIVE)},
}

// addRelocations adds the slots, the entries of tables of function addresses, that the relocations
// in section s of the file f fill. dynamic are the dynamic symbols of the file. resolvers has the
// names of functions that select a variant, by address.
func (t *slotTable) addRelocations(f *elf.File, s *elf.Section, kinds relocationKinds, dynamic []elf.Symbol, resolvers map[uint64]string) {
	data, err := s.Data()
	const size = 24 // address, type and symbol, addend
	for ; err == nil && len(data) >= size; data = data[size:] {
		info, name := f.ByteOrder.Uint64(data[8:]), ""
		switch uint32(info) {
		case kinds.slot, kinds.symbol:
			if i := info >> 32; i > 0 && i <= uint64(len(dynamic)) {
				name = dynamic[i-1].Name
			}
		case kinds.resolver:
			name = resolvers[f.ByteOrder.Uint64(data[16:])]
		}
		if simulate.IsLibrary(name) {
			t.names[f.ByteOrder.Uint64(data)] = name
		}
	}
}
