package layout

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"
	"strings"
)

// A codeSection is the address range of a section with code, and whether the layout may contain its
// functions.
type codeSection struct {
	low, high uint64 // high is exclusive
	ordinary  bool
}

// readSections sets p.sections, the sections with code, from the program's section headers.
func (p *program) readSections() {
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	for i, s := range p.file.ELF().Sections {
		if s.Flags&code == code && s.Size > 0 {
			low := s.Addr + p.base(i)
			p.sections = append(p.sections, codeSection{low, low + s.Size, isOrdinary(s.Name)})
		}
	}
	slices.SortFunc(p.sections, func(a, b codeSection) int { return cmp.Compare(a.low, b.low) })
}

// isOrdinary reports whether the layout may contain functions of a section: .text, or one whose
// name begins with .text. Functions are in other sections, such as .init.text of a kernel, because
// the source or a linker script puts them there, and clang does not move them. llvm-propeller has
// the same rule.
func isOrdinary(section string) bool {
	return section == ".text" || strings.HasPrefix(section, ".text.")
}

// isOrdinary reports whether the layout may contain the function at an address, which depends on
// the section with the address. It returns true for an address outside of all sections.
func (p *program) isOrdinary(address uint64) bool {
	i := sort.Search(len(p.sections), func(i int) bool { return p.sections[i].low > address }) - 1
	return i < 0 || address >= p.sections[i].high || p.sections[i].ordinary
}
