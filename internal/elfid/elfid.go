// Package elfid tells what identifies an ELF file and its code: the build ID, and which bytes of
// the file are at which addresses.
package elfid

import (
	"debug/elf"
	"encoding/binary"
	"io"
)

// BOLTNote is the section in which llvm-bolt notes that it wrote a file, and its command line.
const BOLTNote = ".note.bolt_info"

const (
	noteGNUBuildID = 3
	noteHeader     = 12      // sizes of name and description, type
	maxNotes       = 1 << 20 // bytes of a file's notes that are looked at
)

// BuildID returns the build ID of a file, nil if it has none: the description of its first note
// NT_GNU_BUILD_ID. It looks in the sections of notes, and then in the segments, which are all that
// a file without section headers has. What cannot be read has none.
func BuildID(f *elf.File) []byte {
	left := uint64(maxNotes)
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOTE {
			if id := findBuildID(s.ReaderAt, s.FileSize, s.Addralign, f.ByteOrder, &left); id != nil {
				return id
			}
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE {
			if id := findBuildID(p.ReaderAt, p.Filesz, p.Align, f.ByteOrder, &left); id != nil {
				return id
			}
		}
	}
	return nil
}

// findBuildID finds the build ID in a list of notes.
func findBuildID(r io.ReaderAt, size, align uint64, order binary.ByteOrder, left *uint64) []byte {
	if r == nil || size > *left {
		return nil
	}
	*left -= size
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); n < len(data) && err != nil {
		return nil
	}
	return buildIDAmong(data, align, order)
}

// buildIDAmong returns the build ID among notes: sizes of name and description, type, name and
// description. Both are padded to 4 bytes, or to 8 if the notes are aligned so.
func buildIDAmong(data []byte, align uint64, order binary.ByteOrder) []byte {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }
	for len(data) >= noteHeader {
		nameSize, size, kind := uint64(order.Uint32(data)), uint64(order.Uint32(data[4:])), order.Uint32(data[8:])
		start := pad(noteHeader + nameSize)
		end := start + size
		if end > uint64(len(data)) {
			return nil
		}
		if kind == noteGNUBuildID && string(data[noteHeader:noteHeader+nameSize]) == "GNU\x00" && size > 0 {
			return data[start:end:end]
		}
		data = data[min(pad(end), uint64(len(data))):]
	}
	return nil
}

// A Range is bytes of a file that the linker has placed at an address.
type Range struct{ Offset, Address, Size uint64 }

// Code is the code of a file: its executable segments that are loaded, in the order of the file's
// table. Only those bytes of a segment count that are in the file: the ELF specification has the
// rest of its memory zero, and what the kernel maps beyond them, up to the end of the page, belongs
// to whatever else is there. The memory that a segment takes may be more, or, in a file of debug
// information that has been split from its binary, all there is.
type Code []Range

// CodeOf returns the code of a file.
func CodeOf(f *elf.File) Code {
	var c Code
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Filesz > 0 {
			c = append(c, Range{p.Off, p.Vaddr, p.Filesz})
		}
	}
	return c
}

// Address returns the address that the linker has given to a file offset. It is false where the
// offset is not in code. If segments overlap in the file, the last one has it.
func (c Code) Address(offset uint64) (uint64, bool) {
	for i := len(c) - 1; i >= 0; i-- {
		if r := c[i]; offset >= r.Offset && offset-r.Offset < r.Size {
			return offset - r.Offset + r.Address, true
		}
	}
	return 0, false
}

// Offset returns the file offset of an address that the linker has given. It is false where the
// address is not in code, or where a segment that comes later in the table takes up the same part
// of the file: then Address would not lead back.
func (c Code) Offset(address uint64) (uint64, bool) {
	for i := len(c) - 1; i >= 0; i-- {
		r := c[i]
		if address >= r.Address && address-r.Address < r.Size {
			offset := address - r.Address + r.Offset
			if back, ok := c.Address(offset); ok && back == address {
				return offset, true
			}
		}
	}
	return 0, false
}
