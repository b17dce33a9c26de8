package bbmap_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// A testSection is a section of an ELF file that a test makes.
type testSection struct {
	name             string
	kind             elf.SectionType
	flags            elf.SectionFlag
	link, info, size uint32 // size overrides len(data) if it is not 0
	data             []byte
}

// A testELF is an ELF file that a test makes.
type testELF struct {
	class    elf.Class
	machine  elf.Machine
	kind     elf.Type
	sections []testSection // from index 1 on
}

// bytes returns the content of the file. Its last section contains the names of all sections.
func (e *testELF) bytes() []byte {
	names := []byte{0}
	var nameOf []uint32
	sections := append([]testSection{{}}, e.sections...)
	sections = append(sections, testSection{name: ".shstrtab", kind: elf.SHT_STRTAB})
	for _, s := range sections {
		nameOf = append(nameOf, uint32(len(names)))
		names = append(append(names, s.name...), 0)
	}
	sections[len(sections)-1].data = names

	wide := e.class == elf.ELFCLASS64
	header := 52
	if wide {
		header = 64
	}
	var body, table bytes.Buffer
	put := func(w *bytes.Buffer, v any) { _ = binary.Write(w, binary.LittleEndian, v) }
	for i, s := range sections {
		size := uint64(len(s.data))
		if s.size != 0 {
			size = uint64(s.size)
		}
		offset := uint64(header + body.Len())
		body.Write(s.data)
		if wide {
			put(&table, elf.Section64{Name: nameOf[i], Type: uint32(s.kind), Flags: uint64(s.flags), Off: offset, Size: size, Link: s.link, Info: s.info})
		} else {
			put(&table, elf.Section32{Name: nameOf[i], Type: uint32(s.kind), Flags: uint32(s.flags), Off: uint32(offset), Size: uint32(size), Link: s.link, Info: s.info})
		}
	}
	ident := [16]byte{0x7f, 'E', 'L', 'F', byte(e.class), byte(elf.ELFDATA2LSB), 1}
	var out bytes.Buffer
	at, count := uint64(header+body.Len()), uint16(len(sections))
	if wide {
		put(&out, elf.Header64{Ident: ident, Type: uint16(e.kind), Machine: uint16(e.machine), Version: 1, Shoff: at, Ehsize: 64, Shentsize: 64, Shnum: count, Shstrndx: count - 1})
	} else {
		put(&out, elf.Header32{Ident: ident, Type: uint16(e.kind), Machine: uint16(e.machine), Version: 1, Shoff: uint32(at), Ehsize: 52, Shentsize: 40, Shnum: count, Shstrndx: count - 1})
	}
	out.Write(body.Bytes())
	out.Write(table.Bytes())
	return out.Bytes()
}

// mapSection is the index of the section with the map in the files that program and object return.
const mapSection = 2

// program returns a 64-bit program whose block address map has the given content.
func program(data string) *testELF {
	return &testELF{elf.ELFCLASS64, elf.EM_X86_64, elf.ET_EXEC, []testSection{
		{name: ".text", kind: elf.SHT_PROGBITS, data: make([]byte, 64)},
		{name: ".llvm_bb_addr_map", kind: 0x6fff4c0a, flags: elf.SHF_LINK_ORDER, link: 1, data: []byte(data)},
	}}
}

// object returns a 64-bit object file whose block address map has the given content. The file has
// one relocation for the map, and the symbols 0 and 1. Symbol 1 is at offset 0x20 of .text.
func object(data string, relocation elf.Rela64) *testELF {
	e := program(data)
	e.kind = elf.ET_REL
	var table, relocations bytes.Buffer
	_ = binary.Write(&table, binary.LittleEndian, []elf.Sym64{{}, {Shndx: 1, Value: 0x20}})
	_ = binary.Write(&relocations, binary.LittleEndian, relocation)
	e.sections = append(e.sections,
		testSection{name: ".symtab", kind: elf.SHT_SYMTAB, data: table.Bytes()},
		testSection{name: ".rela.llvm_bb_addr_map", kind: elf.SHT_RELA, link: 3, info: mapSection, data: relocations.Bytes()},
	)
	return e
}
