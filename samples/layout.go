package samples

import (
	"debug/elf"
	"errors"
	"slices"
)

// ErrLayout is returned for an ELF file that has no code to which samples could belong.
var ErrLayout = errors.New("the ELF file has neither an executable segment nor a .text section")

// A Layout tells where in an ELF file the bytes are that the linker has placed at an address.
// Profilers and debug info use addresses, a [Set] file offsets. For the way back see
// symbolize.File.Address. A Layout never changes and may be used by many goroutines.
type Layout struct {
	segments []segment // executable ones, in the order of the file
	base     uint64    // address of the page that the first segment begins in, of code or not
}

type segment struct{ offset, address, size uint64 }

// NewLayout returns the layout of a file: of its executable segments, or of the section .text if it
// is a relocatable object such as a kernel module. A file of debug information alone, split from
// its binary, has other offsets than the binary: take the binary's layout.
func NewLayout(f *elf.File) (*Layout, error) {
	l := new(Layout)
	for i, p := range f.Progs {
		if p.Type == elf.PT_LOAD && !slices.ContainsFunc(f.Progs[:i], isLoaded) {
			l.base = p.Vaddr - p.Vaddr%max(p.Align, 1)
		}
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

func isLoaded(p *elf.Prog) bool { return p.Type == elf.PT_LOAD }

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

// unlinked makes file offsets of a set's addresses, which are the linker's, or else counted from
// where the first segment begins: some is before it then. What is in no code is left out.
func (b *Binary) unlinked(linked *Set, report *Report) *Set {
	l, base := b.Layout, uint64(0)
	for r := range linked.ranges {
		if r.Begin < l.base {
			base = l.base
		}
	}
	set := new(Set)
	for r, n := range linked.ranges {
		begin, ok := l.Offset(r.Begin + base)
		end, both := l.Offset(r.End + base)
		if !ok || !both {
			report.Outside = saturate(report.Outside, n)
			continue
		}
		set.AddRange(Range{begin, end}, n)
	}
	for branch, n := range linked.branches {
		from, inside := l.Offset(branch.From + base)
		to, ok := l.Offset(branch.To + base)
		switch {
		case ok && inside:
			set.AddBranch(Branch{from, to}, n)
		case ok:
			set.AddEntry(to, n)
		}
	}
	return set
}
