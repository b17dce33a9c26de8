package samples

import (
	"debug/elf"
	"errors"
	"slices"

	"github.com/go-afdo/afdo/internal/elfid"
)

// ErrLayout is returned for an ELF file that has no code to which samples could belong.
var ErrLayout = errors.New("the ELF file has neither an executable segment nor a .text section")

// A Layout tells where in an ELF file the bytes are that the linker has placed at an address.
// Profilers and debug info use addresses, a [Set] file offsets. For the way back see
// symbolize.File.Address. A Layout never changes and may be used by many goroutines.
type Layout struct {
	code elfid.Code
	base uint64 // address of the page that the first segment begins in, of code or not
}

// NewLayout returns the layout of a file: of its executable segments, or of the section .text if it
// is a relocatable object such as a kernel module. A file of debug information alone, split from
// its binary, has other offsets than the binary: take the binary's layout.
func NewLayout(f *elf.File) (*Layout, error) {
	l := &Layout{code: elfid.CodeOf(f)}
	if i := slices.IndexFunc(f.Progs, isLoaded); i >= 0 {
		first := f.Progs[i]
		l.base = first.Vaddr - first.Vaddr%max(first.Align, 1)
	}
	if s := f.Section(".text"); len(l.code) == 0 && s != nil && f.Type == elf.ET_REL {
		l.code = elfid.Code{{Offset: s.Offset, Address: s.Addr, Size: s.Size}}
	}
	if len(l.code) == 0 {
		return nil, ErrLayout
	}
	return l, nil
}

func isLoaded(p *elf.Prog) bool { return p.Type == elf.PT_LOAD }

// Offset returns the file offset of an address that the linker has given, in a relocatable object
// of one counted from the begin of .text. It is false where the address is not in code, or where a
// segment that comes later in the table takes up the same part of the file.
func (l *Layout) Offset(address uint64) (uint64, bool) { return l.code.Offset(address) }

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
