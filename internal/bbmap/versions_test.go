package bbmap_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// writeShape writes the source shape to a temporary file and returns its path.
func writeShape(t *testing.T) string {
	source := filepath.Join(t.TempDir(), "shape.cc")
	require.NoError(t, os.WriteFile(source, []byte(shape), 0o666))
	return source
}

// New refuses a program that llvm-bolt has written, because llvm-bolt moves code without updating
// the map.
func TestAfterBOLT(t *testing.T) {
	object := filepath.Join(t.TempDir(), "shape.o")
	run(t, testenv.Tool(t, "clang-22"), "-fbasic-block-address-map", "-DWITHOUT_LIBRARY", "-c", writeShape(t), "-o", object)
	run(t, testenv.Tool(t, "objcopy"), "--add-section", ".note.bolt_info="+os.DevNull, object)
	f, err := elf.Open(object)
	require.NoError(t, err)
	defer f.Close()
	_, err = bbmap.New(f)
	require.ErrorIs(t, err, afdo.ErrVersion)
	require.ErrorContains(t, err, "record the program that llvm-bolt read")
}

// The package decodes the maps of object files with 32 and 64 bits in both byte orders, and of
// files that linkers make of two object files: a library, and a relocatable file as for a kernel
// module.
func TestReadobjTargets(t *testing.T) {
	testenv.NeedSweep(t)
	clang, readobj, lld := testenv.Tool(t, "clang-22"), testenv.Tool(t, "llvm-readobj-22"), testenv.Tool(t, "ld.lld-22")
	source := writeShape(t)
	for _, target := range []string{"x86_64-linux-gnu", "x86_64-linux-gnux32", "aarch64-linux-gnu", "aarch64_be-linux-gnu", "aarch64-linux-gnu_ilp32"} {
		object := filepath.Join(t.TempDir(), "shape.o")
		other, module, library := object+"2", object+".ko", object+".so"
		compile := func(out string, flags ...string) {
			run(t, clang, append(flags, "--target="+target, "-O2", "-fPIC", "-fbasic-block-address-map", "-c", source, "-o", out)...)
			compareReadobj(t, readobj, out)
		}
		compile(object, "-ffunction-sections")
		compile(other, "-Dloop=loop2", "-Dchoose=choose2", "-mllvm", "-emit-bb-hash")
		if target == "aarch64-linux-gnu_ilp32" { // lld does not link it
			continue
		}
		run(t, lld, "-r", object, other, "-o", module)
		compareReadobj(t, readobj, module)
		if target == "x86_64-linux-gnu" {
			run(t, testenv.Tool(t, "ld.bfd"), "-r", object, other, "-o", module)
			compareReadobj(t, readobj, module)
		}
		run(t, lld, "-shared", "-z", "notext", object, other, "-o", library)
		compareReadobj(t, readobj, library)
	}
}

// Relocations of i386 have their addends in the relocated fields, which llvm-readobj cannot read.
// So the map of an object file for i386 is compared with the map of the library that is linked of
// it.
func TestI386(t *testing.T) {
	testenv.NeedSweep(t)
	clang, readobj, lld := testenv.Tool(t, "clang-22"), testenv.Tool(t, "llvm-readobj-22"), testenv.Tool(t, "ld.lld-22")
	object := filepath.Join(t.TempDir(), "shape.o")
	library := object + ".so"
	run(t, clang, "-m32", "-O2", "-fPIC", "-fbasic-block-address-map", "-c", writeShape(t), "-o", object)
	run(t, lld, "-shared", "-z", "notext", object, "-o", library)
	compareReadobj(t, readobj, library)
	inObject, inLibrary := readFile(t, object), readFile(t, library)
	require.Len(t, inObject, len(inLibrary))
	f, err := elf.Open(object)
	require.NoError(t, err)
	defer f.Close()
	linked, err := elf.Open(library)
	require.NoError(t, err)
	defer linked.Close()
	for i, one := range inObject {
		assert.Equal(t, inLibrary[i].Ranges[0].Blocks, one.Ranges[0].Blocks)
		name := symbolAt(t, f, one.Ranges[0].Section, one.Ranges[0].Address)
		assert.NotEmpty(t, name)
		assert.Equal(t, name, symbolAt(t, linked, 0, inLibrary[i].Ranges[0].Address))
	}
}

// readFile returns copies of all functions of a file.
func readFile(t *testing.T, path string) []*bbmap.Function {
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	functions, err := read(f)
	require.NoError(t, err)
	return functions
}

// symbolAt returns the name of the function at an offset of a section, or at an address if section
// is 0.
func symbolAt(t *testing.T, f *elf.File, section int, value uint64) string {
	symbols, err := f.Symbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value == value && (section == 0 || int(s.Section) == section) {
			return s.Name
		}
	}
	return ""
}

// The package decodes version 2, which older clangs write, and refuses the versions before it.
func TestOldClangs(t *testing.T) {
	testenv.NeedSweep(t)
	source, readobj := writeShape(t), testenv.Tool(t, "llvm-readobj-22")
	for _, flag := range []string{"-fbasic-block-sections=labels", "-fbasic-block-address-map"} {
		for _, way := range [][]string{{"-O2"}, {"-O2", "-m32", "-fno-pic"}, {"-O0", "--target=aarch64-linux-gnu"}} {
			object := filepath.Join(t.TempDir(), "shape.o")
			run(t, testenv.Tool(t, "clang-19"), append(way, flag, "-c", source, "-o", object)...)
			functions := readFile(t, object)
			require.NotEmpty(t, functions)
			assert.EqualValues(t, 2, functions[0].Version)
			if !slices.Contains(way, "-m32") { // llvm-readobj cannot read its relocations
				compareReadobj(t, readobj, object)
			}
		}
	}
	for _, clang := range []string{"clang-14", "clang-16"} {
		object := filepath.Join(t.TempDir(), "shape.o")
		run(t, testenv.Tool(t, clang), "-O2", "-fbasic-block-sections=labels", "-c", source, "-o", object)
		f, err := elf.Open(object)
		require.NoError(t, err)
		_, err = read(f)
		assert.ErrorIs(t, err, afdo.ErrVersion, clang)
		require.NoError(t, f.Close())
	}
}

// The package decodes random maps as llvm-readobj does: of every version, with any optional fields,
// for 32 and 64 bits and both byte orders.
func TestVersions(t *testing.T) {
	testenv.NeedSweep(t)
	yaml2obj, readobj := testenv.Tool(t, "yaml2obj-22"), testenv.Tool(t, "llvm-readobj-22")
	r := rand.New(rand.NewPCG(1, 2))
	for i, layout := range []string{"ELFCLASS64 ELFDATA2LSB EM_X86_64", "ELFCLASS32 ELFDATA2LSB EM_386", "ELFCLASS64 ELFDATA2MSB EM_AARCH64", "ELFCLASS32 ELFDATA2MSB EM_ARM"} {
		var class, order, machine string
		_, err := fmt.Sscan(layout, &class, &order, &machine)
		require.NoError(t, err)
		var text, counts bytes.Buffer
		fmt.Fprintf(&text, "--- !ELF\nFileHeader:\n  Class: %s\n  Data: %s\n  Type: ET_EXEC\n  Machine: %s\nSections:\n", class, order, machine)
		fmt.Fprint(&text, "  - Name: .llvm_bb_addr_map\n    Type: SHT_LLVM_BB_ADDR_MAP\n    Entries:\n")
		for range testenv.Rounds(200, 1000) {
			writeRandomFunction(&text, &counts, r)
		}
		fmt.Fprintf(&text, "    PGOAnalyses:\n%s", counts.String())
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		cmd := exec.Command(yaml2obj, "-", "-o", path)
		cmd.Stdin = &text
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		compareReadobj(t, readobj, path)
	}
}

// writeRandomFunction writes the map of a function as YAML to text, and its counts to counts.
func writeRandomFunction(text, counts *bytes.Buffer, r *rand.Rand) {
	version := 2 + r.IntN(4)
	features := bbmap.Features(r.IntN(256)) &^ bbmap.NoBlocks
	if version < 5 {
		features &^= bbmap.PostLinkCounts
	}
	if version < 4 {
		features &^= bbmap.Hashes
	}
	if version < 3 {
		features &^= bbmap.CallSites
	}
	fmt.Fprintf(text, "      - Version: %d\n        Feature: %#x\n        BBRanges:\n", version, uint16(features))
	separator := "      - "
	if features&bbmap.EntryCount != 0 {
		fmt.Fprintf(counts, "%sFuncEntryCount: %d\n", separator, r.Uint64N(1<<40))
		separator = "        "
	}
	hasCounts := features&(bbmap.Frequencies|bbmap.Probabilities) != 0
	switch {
	case hasCounts:
		fmt.Fprintln(counts, separator+"PGOBBEntries:")
	case features&bbmap.EntryCount == 0:
		fmt.Fprintln(counts, separator+"{}")
	}
	ranges := 1
	if features&bbmap.SeveralRanges != 0 {
		ranges = 1 + r.IntN(3)
	}
	for range ranges {
		fmt.Fprintf(text, "          - BaseAddress: %#x\n            BBEntries:\n", r.Uint32N(1<<30))
		for range 1 + r.IntN(5) {
			fmt.Fprintf(text, "              - ID: %d\n                AddressOffset: %#x\n                Size: %#x\n                Metadata: %#x\n",
				r.Uint32N(1<<20), r.Uint32N(1<<r.IntN(20)), r.Uint32N(1<<r.IntN(20)), r.IntN(32))
			if features&bbmap.CallSites != 0 {
				fmt.Fprintf(text, "                CallsiteEndOffsets: [ %d, %d ]\n", r.IntN(200), r.IntN(200))
			}
			if features&bbmap.Hashes != 0 {
				fmt.Fprintf(text, "                Hash: %#x\n", r.Uint64())
			}
			if hasCounts {
				writeRandomCounts(counts, features, r)
			}
		}
	}
}

// writeRandomCounts writes the counts and successors of a block as YAML.
func writeRandomCounts(counts *bytes.Buffer, features bbmap.Features, r *rand.Rand) {
	separator := "          - "
	say := func(format string, args ...any) {
		fmt.Fprintf(counts, separator+format+"\n", args...)
		separator = "            "
	}
	postLink := features&bbmap.PostLinkCounts != 0
	if features&bbmap.Frequencies != 0 {
		say("BBFreq: %d", r.Uint64N(1<<50))
		if postLink {
			say("PostLinkBBFreq: %d", r.Uint32())
		}
	}
	if features&bbmap.Probabilities == 0 {
		return
	}
	say("Successors:")
	for range 1 + r.IntN(3) {
		fmt.Fprintf(counts, "              - ID: %d\n                BrProb: %#x\n", r.Uint32N(1<<20), r.Uint32N(1<<31))
		if postLink {
			fmt.Fprintf(counts, "                PostLinkBrFreq: %d\n", r.Uint32())
		}
	}
}
