package bbmap_test

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// shape is a C++ source whose functions have every kind of block: calls, landing pads, tail calls,
// a switch and a block that never returns.
const shape = `
int called(int);
[[noreturn]] void stop();
struct Guard { ~Guard() { called(0); } };
int loop(int n, int *a) {
  int s = 0;
  for (int i = 0; i < n; i++) { Guard g; if (a[i] > s) s += called(a[i]); else if (a[i] == 77) stop(); }
  return called(s);
}
int choose(int n, int (*f)(int)) {
  switch (n) {
  case 0: return called(1); case 1: return called(4) * 2; case 2: return n - called(3);
  case 3: return called(n) + called(n + 1); case 4: return f(7) + 2; case 5: return f(9);
  }
  return -1;
}
`

// The package decodes the maps of object files of all kinds as llvm-readobj does.
func TestReadobj(t *testing.T) {
	clang, readobj := testenv.Tool(t, "clang-22"), testenv.Tool(t, "llvm-readobj-22")
	dir := t.TempDir()
	source := filepath.Join(dir, "shape.cc")
	require.NoError(t, os.WriteFile(source, []byte(shape), 0o666))
	list := filepath.Join(dir, "list")
	require.NoError(t, os.WriteFile(list, []byte("v1\nf _Z4loopiPi\nc 0 1\n"), 0o666))
	ways := [][]string{
		{"-O2", "-mllvm", "-emit-bb-hash", "-fbasic-block-sections=list=" + list, "-mllvm", "-pgo-analysis-map=all"},
		{"-O2", "--target=aarch64-linux-gnu", "-ffunction-sections"},
		{"-O0"}, {"-Os", "-mllvm", "-pgo-analysis-map=func-entry-count", "-mllvm", "-basic-block-address-map-skip-bb-entries"},
	}
	for _, flags := range ways[:testenv.Rounds(1, len(ways))] {
		out := filepath.Join(dir, "shape.o")
		run(t, clang, append(flags, "-fbasic-block-address-map", "-c", source, "-o", out)...)
		compareReadobj(t, readobj, out)
	}
}

// The package decodes the maps of programs in C and C++, and of their object files, as llvm-readobj
// does.
func TestReadobjPrograms(t *testing.T) {
	testenv.NeedSweep(t)
	root := os.Getenv("AFDO_SOURCES")
	if root == "" {
		t.Skip("AFDO_SOURCES is not set: there are no source packages")
	}
	clang, readobj := testenv.Tool(t, "clang-22"), testenv.Tool(t, "llvm-readobj-22")
	for pattern, flags := range map[string][]string{
		"lua5.4*/src/l*.c":    {"-O2"},
		"leveldb*/db/*.cc":    {"-O2", "-std=c++17", "-mllvm", "-emit-bb-hash"},
		"leveldb*/table/*.cc": {"-O3", "-std=c++17"},
		"leveldb*/util/*.cc":  {"-O1", "-std=c++17", "-mllvm", "-pgo-analysis-map=all"},
	} {
		sources, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "lua5.4-deb-multiarch.h"), []byte("#define DEB_HOST_MULTIARCH \"any\"\n"), 0o666))
		for _, source := range testenv.Some(sources, 10) {
			if strings.Contains(source, "test") || strings.Contains(source, "_bench") || strings.Contains(source, "windows") || strings.HasSuffix(source, "luac.c") {
				continue
			}
			out := filepath.Join(dir, filepath.Base(source)+".o")
			top := filepath.Dir(filepath.Dir(source))
			command := append(flags, "-fbasic-block-address-map", "-fPIC", "-DLEVELDB_PLATFORM_POSIX=1", "-DHAVE_FDATASYNC=1", "-DHAVE_FULLFSYNC=0", "-DHAVE_O_CLOEXEC=1", "-DHAVE_CRC32C=0", "-DHAVE_SNAPPY=0", "-I", dir, "-I", top, "-I", filepath.Join(top, "include"), "-c", source, "-o", out)
			run(t, clang, command...)
			compareReadobj(t, readobj, out)
		}
		objects, err := filepath.Glob(filepath.Join(dir, "*.o"))
		require.NoError(t, err)
		if len(objects) > 0 {
			program := filepath.Join(dir, "program")
			run(t, clang, append(objects, "-fuse-ld=lld", "-shared", "-Wl,--noinhibit-exec", "-o", program)...)
			compareReadobj(t, readobj, program)
		}
	}
}

func run(t *testing.T, name string, args ...string) string {
	var complaints strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), complaints.String())
	return string(out)
}

// compareReadobj compares the maps of all functions of a file with the output of llvm-readobj.
func compareReadobj(t *testing.T, readobj, path string) {
	var want []string
	skipped := "" // the line that ends the counts, which the package does not return
	for line := range strings.Lines(run(t, readobj, "--bb-addr-map", path)) {
		field := strings.TrimSpace(line)
		switch {
		case skipped != "":
			if line == skipped {
				skipped = ""
			}
		case field == "PGO analyses {":
			skipped = strings.Replace(line, "PGO analyses {", "}", 1)
		case strings.HasPrefix(line, " ") && !strings.HasPrefix(field, "Name: "): // else it is not about one function
			want = append(want, field)
		}
	}
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	functions, err := read(f)
	if len(want) == 0 {
		require.ErrorIs(t, err, bbmap.ErrNoMap, path)
		return
	}
	require.NoError(t, err)
	var got []string
	for _, one := range functions {
		got = append(got, describe(one)...)
	}
	require.Len(t, got, len(want), path)
	for i := range want {
		if want[i] != got[i] {
			require.Equal(t, want[i], got[i], "%s: line %d", path, i)
		}
	}
}

// describe returns the lines that llvm-readobj prints for the map of a function, without
// indentation.
func describe(f *bbmap.Function) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	say("Function {")
	say("At: 0x%X", f.Ranges[0].Address)
	say("BB Ranges [")
	for _, r := range f.Ranges {
		say("{")
		say("Base Address: 0x%X", r.Address)
		say("BB Entries [")
		for _, b := range r.Blocks {
			describeBlock(say, f, b)
		}
		say("]")
		say("}")
	}
	say("]")
	say("}")
	return lines
}

func describeBlock(say func(string, ...any), f *bbmap.Function, b bbmap.Block) {
	say("{")
	say("ID: %d", b.ID)
	say("Offset: 0x%X", b.Offset)
	if len(b.Calls) > 0 {
		say("Callsite End Offsets: %s", strings.ReplaceAll(fmt.Sprint(b.Calls), " ", ", "))
	}
	if f.Features&bbmap.Hashes != 0 {
		say("Hash: 0x%X", b.Hash)
	}
	say("Size: 0x%X", b.Size)
	for i, name := range []string{"HasReturn", "HasTailCall", "IsEHPad", "CanFallThrough", "HasIndirectBranch"} {
		word := "No"
		if b.Flags&(1<<i) != 0 {
			word = "Yes"
		}
		say("%s: %s", name, word)
	}
	say("}")
}
