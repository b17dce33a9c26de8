package samples

import (
	"debug/elf"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/opcode"
)

// instruction decodes the instruction at a file offset. ok is false if the file has no code there,
// or code of a machine other than x86.
func (b *Binary) instruction(offset uint64) (in opcode.Instruction, ok bool) {
	if b.machine != elf.EM_X86_64 && b.machine != elf.EM_386 {
		return in, false
	}
	i := slices.IndexFunc(b.progs, func(p *elf.Prog) bool {
		return isLoaded(p) && p.ReaderAt != nil && offset >= p.Off && offset-p.Off < p.Filesz
	})
	if i < 0 {
		return in, false
	}
	var code [16]byte
	n, _ := b.progs[i].ReadAt(code[:], int64(offset-b.progs[i].Off))
	mode := 64
	if b.machine == elf.EM_386 {
		mode = 32
	}
	return opcode.X86(code[:n], mode), n > 0
}

// mayBranch reports whether the instruction at an address may be a branch. It is true if the
// instruction is not known.
func (b *Binary) mayBranch(address uint64) bool {
	offset, _ := b.Layout.Offset(address)
	in, ok := b.instruction(offset)
	return !ok || in.Leaves || in.Jumps || in.Calls
}

// linkageTables returns the sections of the procedure linkage table: .plt, .plt.sec and their like.
func linkageTables(f *elf.File) (tables []*elf.Section) {
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && strings.HasPrefix(s.Name, ".plt") {
			tables = append(tables, s)
		}
	}
	return tables
}

// entersStub reports whether the instruction at an address is a direct call or jump to a stub of
// the procedure linkage table.
func (b *Binary) entersStub(address uint64) bool {
	offset, ok := b.Layout.Offset(address)
	if !ok || len(b.stubs) == 0 {
		return false
	}
	in, _ := b.instruction(offset)
	target := address + in.Size + uint64(in.By)
	return (in.Calls || in.Jumps) && in.By != 0 &&
		slices.ContainsFunc(b.stubs, func(s *elf.Section) bool { return target-s.Addr < s.Size })
}

// countRepeated corrects the counts of x86's string instructions with a rep prefix, such as rep
// movsb, of which callgrind counts each round. Such an instruction runs as often as the one before
// it. After a branch it runs at most as often as the instruction after it.
func (b *Binary) countRepeated(counts map[uint64]uint64) {
	offsets := slices.Sorted(maps.Keys(counts))
	for i, offset := range offsets {
		if i > 0 && counts[offset] <= counts[offsets[i-1]] {
			continue
		}
		in, _ := b.instruction(offset)
		if !in.Repeats {
			continue
		}
		if i > 0 {
			before, _ := b.instruction(offsets[i-1])
			if offsets[i-1]+before.Size == offset && !before.Leaves && !before.Jumps && !before.Calls {
				counts[offset] = counts[offsets[i-1]]
				continue
			}
		}
		if after, ok := counts[offset+in.Size]; ok {
			counts[offset] = min(counts[offset], after)
		}
	}
}
