package samples

import (
	"debug/elf"
	"encoding/hex"
	"path"
	"path/filepath"
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
	b := &Binary{Path: name, BuildID: hex.EncodeToString(elfid.BuildID(f)), Layout: layout, kind: f.Type, machine: f.Machine, progs: f.Progs}
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
