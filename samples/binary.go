package samples

import (
	"debug/elf"
	"encoding/hex"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-afdo/afdo/internal/elfid"
)

// A Binary identifies the ELF file whose samples are wanted, as inputs do.
type Binary struct {
	Path    string
	BuildID string // of its note NT_GNU_BUILD_ID, in hexadecimal digits; "" if it has none
	Layout  *Layout

	kind    elf.Type
	machine elf.Machine
	progs   []*elf.Prog
	stubs   []*elf.Section    // the procedure linkage table
	text    uint64            // file offset of .text, of a relocatable object
	symbols map[string]uint64 // that perf measures the kernel's addresses from
}

// NewBinary describes an ELF file, which stays open as long as it is used. It must be the binary
// itself: a separate file of debug information has other file offsets.
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

// kernelSymbols returns where the linker has put the symbols that perf measures the kernel's
// addresses from.
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

// sameBuildID compares build IDs. Some tools fill them with zeros up to 20 bytes.
func sameBuildID(a, b string) bool {
	trim := func(id string) string { return strings.TrimRight(strings.ToLower(id), "0") }
	return a != "" && b != "" && trim(a) == trim(b)
}

// named reports whether an input calls the binary so, going by the last part of the path.
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

// deleted is what the kernel adds to the path of a file that is gone, such as one that was compiled
// anew.
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

// Options say which samples of an input count. The zero value takes all of the binary's.
type Options struct {
	// Format is the format of the input, or Unknown to recognise it by its content.
	Format Format

	// Name selects the objects of the input that are the binary: those whose whole path it matches
	// somewhere. nil selects by build ID where the input has one, else by the last part of the
	// path.
	Name *regexp.Regexp

	// BuildID takes the place of the binary's own, in hexadecimal digits, if it is not "".
	BuildID string

	// PID selects the samples of one process of perf.data or perf script. 0 selects all processes.
	PID int32

	// Base is the address at which a process had loaded a position-independent binary. It is for
	// text of perf script without mappings: its addresses minus Base are addresses of the linker.
	// HasBase says that Base is set.
	Base    uint64
	HasBase bool

	// Contexts keeps samples of perf.data and perf script that have both a call stack and a branch
	// stack as they are, for create.ContextProfile: [Set.Traces]. It takes some hundred bytes for
	// each that is different.
	Contexts bool

	// Jumps adds the jumps that callgrind counts with --collect-jumps=yes to the branches of the
	// Set. Without it the branches of callgrind are calls alone, which is what a profile needs.
	Jumps bool
}

// A choice decides which objects of an input are the binary.
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

// ours reports whether an object is the binary. ids are the build IDs that the input has for its
// name.
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
