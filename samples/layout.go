package samples

import (
	"debug/elf"
	"errors"
)

// ErrLayout is returned for an ELF file that has no code to which samples could belong.
var ErrLayout = errors.New("the ELF file has neither an executable segment nor a .text section")

// A Layout tells where in an ELF file the bytes are that the linker has placed at an address.
// Profilers and debug info use addresses, a [Set] file offsets. For the way back see
// symbolize.File.Address. A Layout never changes and may be used by many goroutines.
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

// address returns the address that the linker has given to a file offset. It is false where the
// offset is not in code. If segments overlap in the file, the last one has it, as in
// google/autofdo and in symbolize.File.Address.
func (l *Layout) address(offset uint64) (uint64, bool) {
	for i := len(l.segments) - 1; i >= 0; i-- {
		if s := l.segments[i]; offset >= s.offset && offset-s.offset < s.size {
			return offset - s.offset + s.address, true
		}
	}
	return 0, false
}

// Offset returns the file offset of an address that the linker has given, in a relocatable object
// of one counted from the begin of .text. It is false where the address is not in code, or where a
// segment that comes later in the table takes up the same part of the file.
func (l *Layout) Offset(address uint64) (uint64, bool) {
	for i := len(l.segments) - 1; i >= 0; i-- {
		s := l.segments[i]
		if address >= s.address && address-s.address < s.size {
			offset := address - s.address + s.offset
			if back, ok := l.address(offset); ok && back == address {
				return offset, true
			}
		}
	}
	return 0, false
}
