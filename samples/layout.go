package samples

import (
	"debug/elf"
	"errors"
)

// ErrLayout is returned for an ELF file that has no code to which samples could belong.
var ErrLayout = errors.New("the ELF file has neither an executable segment nor a .text section")

// A Layout tells at which addresses the linker has placed the bytes of an ELF file. Symbols and
// debug information speak of those addresses; a [Set] speaks of file offsets. It never changes and
// may be used by many goroutines.
type Layout struct {
	segments []segment // executable ones, in the order of the file
}

type segment struct{ offset, address, size uint64 }

// NewLayout returns the layout of a file: of its executable segments, or of the section .text if it
// is a relocatable object such as a kernel module. A file of debug information alone, split from
// its binary, has other offsets than the binary: take the binary's layout.
func NewLayout(f *elf.File) (*Layout, error) {
	l := new(Layout)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			l.segments = append(l.segments, segment{p.Off, p.Vaddr, p.Memsz})
		}
	}
	if s := f.Section(".text"); len(l.segments) == 0 && s != nil && f.Type == elf.ET_REL {
		l.segments = append(l.segments, segment{s.Offset, s.Addr, s.Size})
	}
	if len(l.segments) == 0 {
		return nil, ErrLayout
	}
	return l, nil
}

// Address returns the address that the linker has given to a file offset. It is false where the
// offset is not in code. If segments overlap in the file, the last one has it, as in
// google/autofdo.
func (l *Layout) Address(offset uint64) (uint64, bool) {
	for i := len(l.segments) - 1; i >= 0; i-- {
		if s := l.segments[i]; offset >= s.offset && offset-s.offset < s.size {
			return offset - s.offset + s.address, true
		}
	}
	return 0, false
}

// Offset returns the file offset of an address that the linker has given, so that [Layout.Address]
// leads back. It is false where the address is not in code.
func (l *Layout) Offset(address uint64) (uint64, bool) {
	for i := len(l.segments) - 1; i >= 0; i-- {
		s := l.segments[i]
		if address >= s.address && address-s.address < s.size {
			offset := address - s.address + s.offset
			if back, ok := l.Address(offset); ok && back == address {
				return offset, true
			}
		}
	}
	return 0, false
}
