package bbmap

import (
	"debug/elf"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// An address is the value that a relocation stores in a field of the map: a section with code, and
// an offset in it.
type address struct {
	section int    // index of the section that contains the address
	value   uint64 // in bytes from the start of the section
	inPlace bool   // the addend is in the field, and has to be added to value
}

// A target is a kind of relocatable file: its machine and its word size.
type target struct {
	machine elf.Machine
	class   elf.Class
}

// addressRelocations contains, for each machine, the type of relocation that stores an address.
var addressRelocations = map[target]uint32{
	{elf.EM_X86_64, elf.ELFCLASS64}:  uint32(elf.R_X86_64_64),
	{elf.EM_X86_64, elf.ELFCLASS32}:  uint32(elf.R_X86_64_32), // x32
	{elf.EM_386, elf.ELFCLASS32}:     uint32(elf.R_386_32),
	{elf.EM_AARCH64, elf.ELFCLASS64}: uint32(elf.R_AARCH64_ABS64),
	{elf.EM_AARCH64, elf.ELFCLASS32}: uint32(elf.R_AARCH64_P32_ABS32), // ILP32
	{elf.EM_ARM, elf.ELFCLASS32}:     uint32(elf.R_ARM_ABS32),
}

func (s *section) wide() bool { return s.file.Class == elf.ELFCLASS64 }

// fault converts an error of decoding this section to an afdo.FormatError, which has the section
// and the offset.
func (s *section) fault(f *decode.Fault) error { return s.faultIn(s.index, f) }

// faultIn converts an error of decoding another section, such as the symbol table, to an
// afdo.FormatError. index is the index of that section in the file.
func (s *section) faultIn(index int, f *decode.Fault) error {
	return &fault.FormatError{Format: format, Section: index, Part: s.file.Sections[index].Name, Offset: int64(f.Pos), Err: f.Class, Detail: f.Detail}
}

// load reads the bytes and the relocations of the section in the first call. Later calls do
// nothing.
func (s *section) load() error {
	s.read.Do(func() {
		if s.data, s.err = s.contents(s.index); s.err != nil || s.file.Type != elf.ET_REL {
			return
		}
		s.addresses = make(map[uint64]address)
		for i, r := range s.file.Sections {
			if (r.Type == elf.SHT_RELA || r.Type == elf.SHT_REL) && int(r.Info) == s.index && s.err == nil {
				s.err = s.relocate(i)
			}
		}
	})
	return s.err
}

// contents reads the section of the file with the given index.
func (s *section) contents(index int) ([]byte, error) {
	from := s.file.Sections[index]
	if from.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, s.faultIn(index, &decode.Fault{Class: fault.ErrCompressed, Detail: "the section is compressed"})
	}
	if from.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	data, err := from.Data()
	if err != nil {
		return nil, s.faultIn(index, &decode.Fault{Class: fault.ErrTruncated, Detail: fmt.Sprintf("reading %d bytes: %v", from.FileSize, err)})
	}
	return data, nil
}

// A symbol is an entry of the symbol table of a relocatable file.
type symbol struct {
	section int    // index of the section that contains what the symbol names
	value   uint64 // offset in that section
}

// symbols reads the symbol table that is in the section with the given index.
func (s *section) symbols(index uint32) ([]symbol, error) {
	if uint64(index) >= uint64(len(s.file.Sections)) || s.file.Sections[index].Type != elf.SHT_SYMTAB {
		return nil, s.fault(&decode.Fault{Class: fault.ErrSection, Detail: fmt.Sprintf("its relocations refer to section %d, which is not a symbol table", index)})
	}
	data, err := s.contents(int(index))
	if err != nil {
		return nil, err
	}
	b := decode.Buffer{Data: data, Big: s.file.Data == elf.ELFDATA2MSB}
	size := elf.Sym32Size
	if s.wide() {
		size = elf.Sym64Size
	}
	table := make([]symbol, len(data)/size)
	for i := range table {
		b.Uint32("a name")
		if s.wide() {
			b.Uint16("kind and visibility")
			table[i] = symbol{int(b.Uint16("a section")), b.Uint64("a value")}
			b.Uint64("a size")
		} else {
			table[i].value = uint64(b.Uint32("a value"))
			b.Uint32("a size")
			b.Uint16("kind and visibility")
			table[i].section = int(b.Uint16("a section"))
		}
	}
	return table, s.extend(table, index)
}

// extend sets the section of symbols whose section index does not fit into the 16 bits that the
// symbol table has for it. It reads the section indexes of these symbols from an extra table. index
// is the index of the section with the symbol table.
func (s *section) extend(table []symbol, index uint32) error {
	for i, from := range s.file.Sections {
		if from.Type != elf.SHT_SYMTAB_SHNDX || from.Link != index {
			continue
		}
		data, err := s.contents(i)
		if err != nil {
			return err
		}
		b := decode.Buffer{Data: data, Big: s.file.Data == elf.ELFDATA2MSB}
		for j := range min(len(table), len(data)/4) {
			if wide := b.Uint32("a section"); table[j].section == int(elf.SHN_XINDEX) {
				table[j].section = int(wide)
			}
		}
	}
	return nil
}

// relocate reads the relocations in the section with the given index and stores the addresses that
// they give to fields of the map.
func (s *section) relocate(index int) error {
	from := s.file.Sections[index]
	table, err := s.symbols(from.Link)
	if err != nil {
		return err
	}
	data, err := s.contents(index)
	if err != nil {
		return err
	}
	b := decode.Buffer{Data: data, Big: s.file.Data == elf.ELFDATA2MSB}
	size := 8
	if s.wide() {
		size = 16
	}
	if from.Type == elf.SHT_RELA {
		size += size / 2
	}
	for range len(data) / size {
		s.relocation(&b, from.Type == elf.SHT_RELA, table)
	}
	return b.Error(func(f *decode.Fault) error { return s.faultIn(index, f) })
}

// relocation reads one relocation, and stores the address that it gives to a field of the map.
// table is the symbol table to which the relocation refers.
func (s *section) relocation(b *decode.Buffer, hasAddend bool, table []symbol) {
	pos := b.Pos
	word := func(what string) uint64 {
		if s.wide() {
			return b.Uint64(what)
		}
		return uint64(b.Uint32(what))
	}
	offset, info := word("an offset"), word("a symbol and a type")
	kind, index := uint32(info&0xff), info>>8
	if s.wide() {
		kind, index = uint32(info), info>>32
	}
	addend := uint64(0)
	if hasAddend {
		addend = word("an addend")
	}
	want, known := addressRelocations[target{s.file.Machine, s.file.Class}]
	switch {
	case b.Err != nil:
	case !known || kind != want:
		b.Fail(pos, fault.ErrSymbol, "relocation type %d of %v is not one of addresses", kind, s.file.Machine)
	case index >= uint64(len(table)):
		b.Fail(pos, fault.ErrSymbol, "symbol %d, there are %d", index, len(table))
	case table[index].section == 0 || table[index].section >= len(s.file.Sections):
		b.Fail(pos, fault.ErrSymbol, "symbol %d is in section %d, which is not code of the file", index, table[index].section)
	default:
		s.addresses[offset] = address{table[index].section, table[index].value + addend, !hasAddend}
	}
}
