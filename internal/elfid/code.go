package elfid

import "debug/elf"

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
