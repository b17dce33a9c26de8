package samples

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/opcode"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A Binary is the ELF file whose samples are collected. Recordings identify it by name or build ID.
type Binary struct {
	Path    string
	BuildID string // of its note NT_GNU_BUILD_ID, in hexadecimal digits; "" if it has none
	Layout  *Layout

	kind    elf.Type
	machine elf.Machine
	progs   []*elf.Prog
	stubs   []*elf.Section    // the procedure linkage table
	text    uint64            // file offset of .text, of a relocatable object
	symbols map[string]uint64 // of a kernel: see kernelSymbols
}

// NewBinary returns the Binary for an ELF file, which must stay open as long as the Binary is used.
// It must be the binary itself: a separate file of debug information has other file offsets.
func NewBinary(f *elf.File, name string) (*Binary, error) {
	layout, err := NewLayout(f)
	if err != nil {
		return nil, err
	}
	b := &Binary{Path: name, BuildID: hex.EncodeToString(elfid.BuildID(f)), Layout: layout, kind: f.Type, machine: f.Machine, progs: f.Progs, stubs: linkageTables(f)}
	if s := f.Section(".text"); s != nil && f.Type == elf.ET_REL {
		b.text = s.Offset
	}
	if b.isKernel() {
		b.symbols = kernelSymbols(f)
	}
	return b, nil
}

// isKernel reports whether the file is a Linux kernel, by its name.
func (b *Binary) isKernel() bool { return strings.HasPrefix(filepath.Base(b.Path), "vmlinux") }

// kernelSymbols returns the addresses that the linker assigned to _text and _stext. perf records
// where a running kernel has one of these symbols.
func kernelSymbols(f *elf.File) map[string]uint64 {
	all, err := f.Symbols()
	if err != nil {
		return nil // a kernel without symbols runs where it was linked, as far as can be told
	}
	found := make(map[string]uint64)
	for _, s := range all {
		if s.Name == "_text" || s.Name == "_stext" {
			found[s.Name] = s.Value
		}
	}
	return found
}

// sameBuildID reports whether two build IDs are equal, apart from zeros at their ends: some tools
// pad build IDs to 20 bytes.
func sameBuildID(a, b string) bool {
	trim := func(id string) string { return strings.TrimRight(strings.ToLower(id), "0") }
	return a != "" && b != "" && trim(a) == trim(b)
}

// named reports whether a file name in a recording is that of the binary: the last parts of both
// paths are equal, or both name the kernel or the same kernel module.
func (b *Binary) named(name string) bool {
	own := strings.TrimSuffix(filepath.Base(b.Path), ".unstripped")
	if isKernelName(name) {
		return b.isKernel()
	}
	if module, ok := moduleName(own); ok {
		if other, ok := moduleName(path.Base(name)); ok {
			return other == module
		}
	}
	return path.Base(strings.TrimSuffix(name, deleted)) == own
}

// deleted is the suffix that the kernel adds to the path of a mapped file that no longer exists,
// for example after the program was built again.
const deleted = " (deleted)"

// isKernelName reports whether a mapping is the kernel itself: "[kernel.kallsyms]" and a symbol's
// name.
func isKernelName(name string) bool { return strings.HasPrefix(name, "[kernel.kallsyms]") }

// moduleName returns the name of a kernel module, from "x.ko", "x.ko.xz" or "[x]".
func moduleName(base string) (string, bool) {
	name, _, ok := strings.Cut(base, ".ko")
	if !ok {
		if len(base) < 3 || base[0] != '[' || base[len(base)-1] != ']' {
			return "", false
		}
		name = base[1 : len(base)-1]
	}
	return strings.ReplaceAll(name, "-", "_"), true
}

// Options select the samples that [Read] collects. The zero Options select all samples of the
// binary.
type Options struct {
	// Format is the format of the input, or Unknown to recognise it by its content.
	Format Format

	// Name selects the objects of the input that are the binary: it matches a part of their path.
	// If it is nil, the build ID selects them if the input has one, and otherwise the last part of
	// the path.
	Name *regexp.Regexp

	// Event is the name of the event whose samples are collected, with or without modifiers; for
	// pprof and OpenTelemetry, the type of values. "" chooses an event that counts execution.
	Event string

	// BuildID replaces the build ID of the binary, in hexadecimal digits, unless it is "".
	BuildID string

	// PID selects the samples of one process of perf.data or perf script. 0 selects all processes.
	PID int32

	// Base is the address at which a process had loaded a position-independent binary. It is for
	// text of perf script without mappings: an address minus Base is the address that the linker
	// assigned. HasBase says that Base is set.
	Base    uint64
	HasBase bool

	// Contexts keeps each sample of perf.data and perf script that has both a call stack and a
	// branch stack, for [Set.Traces] and create.ContextProfile. A different sample takes some
	// hundred bytes.
	Contexts bool

	// Jumps adds jumps to the branches of the Set, which callgrind counts with --collect-jumps=yes.
	// Without Jumps, the branches are only callgrind's calls, which is enough for a profile.
	Jumps bool
}

// A choice contains the binary and the options of a call of [Read]. It decides which mapped files
// of a recording are the binary.
type choice struct {
	binary  *Binary
	options Options
}

func (c *choice) buildID() string {
	if c.options.BuildID != "" {
		return c.options.BuildID
	}
	return c.binary.BuildID
}

// ours reports whether a mapped file of the recording is the binary whose samples are collected.
// name is the path of the mapped file, and ids are the build IDs that the recording has for this
// path.
func (c *choice) ours(name string, ids ...string) bool {
	if c.options.Name != nil {
		return c.options.Name.MatchString(name)
	}
	known := false
	for _, id := range ids {
		known = known || id != ""
		if sameBuildID(id, c.buildID()) {
			return true
		}
	}
	if known && c.buildID() != "" {
		return false
	}
	return c.binary.named(name)
}

// errNoCode is returned for an ELF file without code.
var errNoCode = errors.New("the ELF file has neither an executable segment nor a .text section")

// A Layout converts addresses that the linker assigned to offsets in an ELF file. Profilers and
// debug info use addresses, and a [Set] uses file offsets. symbolize.File.Address converts back. A
// Layout never changes and may be used by many goroutines.
type Layout struct {
	code elfid.Code
	base uint64 // address of the page that the first segment begins in, of code or not
	text uint64 // address of the page that the first segment of code begins in, as llvm-profgen has it
}

// page is the size of a page that llvm-profgen assumes.
const page = 4 << 10

// NewLayout returns the layout of a file: of its executable segments, or of the section .text if it
// is a relocatable object such as a kernel module. A file of debug information alone, split from
// its binary, has other offsets than the binary: take the binary's layout.
func NewLayout(f *elf.File) (*Layout, error) {
	code, err := elfid.CodeOf(f)
	if err != nil {
		return nil, err
	}
	l := &Layout{code: code}
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
		return nil, errNoCode
	}
	return l, nil
}

func isLoaded(p *elf.Prog) bool { return p.Type == elf.PT_LOAD }

// Offset returns the file offset of an address that the linker assigned. In a relocatable object,
// addresses count from the beginning of .text. Offset returns false if the address is not in code,
// or if a later segment occupies the same part of the file.
func (l *Layout) Offset(address uint64) (uint64, bool) { return l.code.Offset(address) }

// checkedRanges is the number of ranges for which guessBase checks that they are in code and end in
// a branch. For further ranges it only checks that they are in code.
const checkedRanges = 1000

// guessBase guesses which address was subtracted from all addresses in a text of samples, whose
// ranges linked contains. llvm-profgen subtracts the address of the first segment of code unless
// told otherwise. Other tools subtract that of the first segment, or nothing. guessBase returns the
// address with which the most ranges are in code and end in a branch. guessed reports that two of
// these addresses fit equally well.
func (b *Binary) guessBase(linked *Set) (base uint64, guessed bool) {
	most := -1
	for _, candidate := range []uint64{b.Layout.text, 0, b.Layout.base} {
		fit, left := 0, checkedRanges
		for r := range linked.Ranges.All() {
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

// toOffsets converts the addresses of the Set linked to file offsets. They are addresses that the
// linker assigned, minus a base that guessBase guesses. toOffsets leaves out ranges and branches
// outside of code, and counts them in the report.
func (b *Binary) toOffsets(linked *Set, report *Report) *Set {
	l := b.Layout
	base, guessed := b.guessBase(linked)
	report.Guessed = report.Guessed || guessed
	set := new(Set)
	for r, n := range linked.Ranges.m {
		begin, ok := l.Offset(r.Begin + base)
		end, both := l.Offset(r.End + base)
		if !ok || !both {
			report.Outside = saturating.Add(report.Outside, n)
			continue
		}
		set.Ranges.Add(Range{begin, end}, n)
	}
	for branch, n := range linked.Branches.m {
		from, inside := l.Offset(branch.From + base)
		to, ok := l.Offset(branch.To + base)
		set.addBranch(place{inside, from}, place{ok, to}, n)
	}
	return set
}

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

// linkageTables returns the sections of an ELF file with its procedure linkage table, such as .plt
// and .plt.sec.
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
// movsb. callgrind counts each repetition of such an instruction. countRepeated sets the count to
// that of the instruction before it. If that is a branch, the count becomes at most that of the
// instruction after it.
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
