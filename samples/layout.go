package samples

import (
	"debug/elf"
	"errors"
	"slices"

	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/saturating"
)

// ErrLayout is returned for an ELF file without code.
var ErrLayout = errors.New("the ELF file has neither an executable segment nor a .text section")

// A Layout converts addresses of the linker into offsets in an ELF file. Profilers and debug info
// use addresses, and a [Set] uses file offsets. symbolize.File.Address converts back. A Layout
// never changes and may be used by many goroutines.
type Layout struct {
	code elfid.Code
	base uint64 // address of the page that the first segment begins in, of code or not
	text uint64 // address of the page that the first segment of code begins in, as llvm-profgen has it
}

// page is what llvm-profgen takes for the size of a page.
const page = 4 << 10

// NewLayout returns the layout of a file: of its executable segments, or of the section .text if it
// is a relocatable object such as a kernel module. A file of debug information alone, split from
// its binary, has other offsets than the binary: take the binary's layout.
func NewLayout(f *elf.File) (*Layout, error) {
	l := &Layout{code: elfid.CodeOf(f)}
	if i := slices.IndexFunc(f.Progs, isLoaded); i >= 0 {
		first := f.Progs[i]
		l.base = first.Vaddr - first.Vaddr%max(first.Align, 1)
	}
	if i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return isLoaded(p) && p.Flags&elf.PF_X != 0 }); i >= 0 {
		l.text = f.Progs[i].Vaddr &^ (page - 1)
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

// looked is at how many ranges it is looked whether they end in a branch.
const looked = 1000

// counted returns the base from which addresses are counted. llvm-profgen counts from the first
// segment of code unless told otherwise, and other tools count from the first segment or from 0.
// The base is the one with which most of the ranges are in code and end in a branch. guessed
// reports that other bases fit as well.
func (b *Binary) counted(linked *Set) (base uint64, guessed bool) {
	most := -1
	for _, candidate := range []uint64{b.Layout.text, 0, b.Layout.base} {
		fit, left := 0, looked
		for r := range linked.Ranges() {
			_, begins := b.Layout.Offset(r.Begin + candidate)
			_, ends := b.Layout.Offset(r.End + candidate)
			if !begins || !ends {
				continue
			}
			if left--; left < 0 || b.mayBranch(r.End+candidate) {
				fit++
			}
		}
		switch {
		case fit > most:
			base, most, guessed = candidate, fit, false
		case fit == most && candidate != base:
			guessed = true
		}
	}
	return base, guessed
}

// unlinked makes file offsets of a set's addresses, which are the linker's or counted from some
// base. What is in no code is left out.
func (b *Binary) unlinked(linked *Set, report *Report) *Set {
	l := b.Layout
	base, guessed := b.counted(linked)
	report.Guessed = report.Guessed || guessed
	set := new(Set)
	for r, n := range linked.ranges {
		begin, ok := l.Offset(r.Begin + base)
		end, both := l.Offset(r.End + base)
		if !ok || !both {
			report.Outside = saturating.Add(report.Outside, n)
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
