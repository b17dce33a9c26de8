package symbolize

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// everything returns a description of each span of the code of a binary, by the address of the
// span.
func everything(t testing.TB, binary string, opts ...Option) map[uint64]string {
	f, err := Open(binary, opts...)
	require.NoError(t, err)
	defer f.Close()
	all := make(map[uint64]string)
	for code, err := range f.Code(context.Background(), allSymbols(t, f)) {
		require.NoError(t, err)
		for _, s := range code.Spans {
			if s.Instance != nil {
				all[s.Low] = describeSpan(s)
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

// copyFile copies the file from to the path to.
func copyFile(t testing.TB, from, to string) {
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(t, os.WriteFile(to, data, 0o700))
}

// Code returns the same for debug info in the binary and for debug info in a separate file, at any
// path where debuggers look for that file.
func TestSeparateDebugFiles(t *testing.T) {
	testenv.NeedSweep(t)
	cxx := testenv.Tool(t, "g++")
	objcopy := testenv.Tool(t, "objcopy")
	prog := build(t, cxx, "-O2", "-g", "-Wl,--build-id=sha1")
	dir := filepath.Dir(prog)
	want := everything(t, prog)
	copyFile(t, prog, filepath.Join(dir, "whole"))
	runTool(t, dir, objcopy, "--only-keep-debug", "prog", "prog.debug")
	runTool(t, dir, objcopy, "--strip-all", "--add-gnu-debuglink=prog.debug", "prog", "linked")
	runTool(t, dir, objcopy, "--strip-all", "prog", "bare")
	bare := filepath.Join(dir, "bare")

	t.Run("debuglink", func(t *testing.T) { assert.Equal(t, want, everything(t, filepath.Join(dir, "linked"))) })
	t.Run("named", func(t *testing.T) {
		assert.Equal(t, want, everything(t, bare, DebugFile(filepath.Join(dir, "prog.debug"))))
	})
	t.Run("build ID", func(t *testing.T) {
		f, err := Open(bare)
		require.NoError(t, err)
		path, ok := buildIDPath(f.BuildID())
		require.True(t, ok)
		f.Close()
		copyFile(t, filepath.Join(dir, "prog.debug"), filepath.Join(dir, "debug", path))
		assert.Equal(t, want, everything(t, bare, debugDirs(filepath.Join(dir, "debug"))))
	})
	t.Run("compressed", func(t *testing.T) {
		for _, how := range []string{"zlib-gnu", "zlib-gabi"} {
			runTool(t, dir, objcopy, "--compress-debug-sections="+how, "prog", how)
			assert.Equal(t, want, everything(t, filepath.Join(dir, how)), how)
		}
	})
	t.Run("none", func(t *testing.T) {
		f, err := Open(bare)
		require.NoError(t, err)
		defer f.Close()
		for _, err := range f.Code(context.Background(), nil) {
			require.ErrorIs(t, err, ErrNoDebugInfo)
			assert.Contains(t, err.Error(), "looked for it at")
		}
	})
	t.Run("other checksum", func(t *testing.T) {
		file, err := os.OpenFile(filepath.Join(dir, "prog.debug"), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteString("x")
		require.NoError(t, err)
		file.Close()
		f, err := Open(filepath.Join(dir, "linked"))
		require.NoError(t, err)
		defer f.Close()
		assert.Empty(t, f.DebugPath())
	})
	t.Run("other build", func(t *testing.T) {
		other := build(t, cxx, "-O1", "-g", "-Wl,--build-id=sha1")
		_, err := Open(bare, DebugFile(other))
		require.ErrorIs(t, err, errOtherBuild)
	})
}

// Code returns the same after dwz has moved debug info that several units or files have in common.
func TestDWZ(t *testing.T) {
	testenv.NeedSweep(t)
	dwz := optional(t, "dwz")
	prog := build(t, testenv.Tool(t, "g++"), "-O2", "-g", "-Wl,--build-id=sha1")
	dir := filepath.Dir(prog)
	want := everything(t, prog)
	copyFile(t, prog, filepath.Join(dir, "one"))
	copyFile(t, prog, filepath.Join(dir, "two"))
	runTool(t, dir, dwz, "prog")
	assert.Equal(t, want, everything(t, prog))
	runTool(t, dir, dwz, "-m", "common", "one", "two")
	assert.Equal(t, want, everything(t, filepath.Join(dir, "one")))
	require.NoError(t, os.Rename(filepath.Join(dir, "common"), filepath.Join(dir, "gone")))
	f, err := Open(filepath.Join(dir, "one"))
	require.NoError(t, err)
	defer f.Close()
	for _, err := range f.Code(context.Background(), allSymbols(t, f)) {
		if err != nil {
			require.ErrorIs(t, err, ErrNoDebugInfo)
			assert.Contains(t, err.Error(), "common")
			return
		}
	}
	t.Fatal("the common file is not missed")
}

// Split units are found in .dwo files and in a .dwp package. If neither exists, Code returns only
// the lines.
func TestSplit(t *testing.T) {
	testenv.NeedSweep(t)
	clang := []string{"clang++-22", "/usr/lib/llvm-22/bin/clang++", "clang++"}
	for _, c := range []struct {
		version   string
		compilers []string
	}{{"-gdwarf-4", []string{"g++"}}, {"-gdwarf-5", clang}} { // llvm-dwp does not come to an end with g++'s version 5
		t.Run(c.version, func(t *testing.T) {
			prog := build(t, optional(t, c.compilers...), "-O2", "-g", "-gsplit-dwarf", c.version)
			dir := filepath.Dir(prog)
			want := everything(t, prog)
			moved, err := filepath.Glob(filepath.Join(dir, "*.dwo"))
			require.NoError(t, err)
			require.Len(t, moved, 2)
			t.Run("package", func(t *testing.T) {
				args := append([]string{"-o", "prog.dwp"}, moved...)
				runTool(t, dir, optional(t, "llvm-dwp-22", "/usr/lib/llvm-22/bin/llvm-dwp", "llvm-dwp"), args...)
				for _, name := range moved {
					require.NoError(t, os.Rename(name, name+".away"))
				}
				assert.Equal(t, want, everything(t, prog))
				for _, name := range moved {
					require.NoError(t, os.Rename(name+".away", name))
				}
				require.NoError(t, os.Remove(prog+".dwp"))
			})
			require.NoError(t, os.Remove(moved[0]))
			f, err := Open(prog)
			require.NoError(t, err)
			defer f.Close()
			missing := ""
			for code, err := range f.Code(context.Background(), allSymbols(t, f)) {
				require.NoError(t, err)
				if code.Unit != nil && code.Unit.Missing != "" {
					missing = code.Unit.Missing
					assert.NotEmpty(t, code.Spans)
				}
			}
			assert.Equal(t, moved[0], missing)
			require.NoError(t, os.Rename(moved[1], moved[0]))
			for _, err = range f.Code(context.Background(), allSymbols(t, f)) {
				if err != nil {
					break
				}
			}
			require.ErrorIs(t, err, errOtherBuild)
		})
	}
}

// With -fdebug-types-section, a relocatable file and a .dwo file contain many sections of the same
// name, one for each type. Code finds the section with the functions.
func TestTypesInSections(t *testing.T) {
	testenv.NeedSweep(t)
	gcc := optional(t, "g++")
	whole := build(t, gcc, "-O2", "-g")
	split := build(t, gcc, "-O2", "-g", "-gsplit-dwarf", "-fdebug-types-section")
	assert.Equal(t, everything(t, whole), everything(t, split))

	dir := filepath.Dir(whole)
	runTool(t, dir, gcc, "-w", "-O2", "-g", "-fdebug-types-section", "-c", "shapes.cc")
	f, err := Open(filepath.Join(dir, "shapes.o"))
	require.NoError(t, err)
	defer f.Close()
	known := 0
	for code, err := range f.Code(context.Background(), allSymbols(t, f)) {
		require.NoError(t, err)
		for _, s := range code.Spans {
			if s.Instance != nil {
				known++
			}
		}
	}
	assert.Greater(t, known, 100)
}

// In a relocatable file, the address of a function is its offset in the file.
func TestRelocatable(t *testing.T) {
	testenv.NeedSweep(t)
	dir := filepath.Dir(build(t, testenv.Tool(t, "g++"), "-O2", "-g"))
	runTool(t, dir, testenv.Tool(t, "g++"), "-w", "-O2", "-g", "-ffunction-sections", "-c", "other.cc", "-o", "other.o")
	f, err := Open(filepath.Join(dir, "other.o"))
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, elf.ET_REL, f.ELF().Type)
	lows := make(map[uint64]bool)
	for code, err := range f.Code(context.Background(), allSymbols(t, f)) {
		require.NoError(t, err)
		assert.False(t, lows[code.Symbol.Low])
		lows[code.Symbol.Low] = true
		require.NotEmpty(t, code.Spans, code.Symbol.Names)
		root := code.Spans[0].Instance.Chain()[0]
		assert.Contains(t, code.Symbol.Names[0], root.Function.Name)
		addr, ok := f.Address(code.Symbol.Low)
		assert.True(t, ok)
		assert.Equal(t, code.Symbol.Low, addr)
	}
	assert.GreaterOrEqual(t, len(lows), 2)
}

func TestClosed(t *testing.T) {
	f, err := Open(filepath.Join("testdata", tinyFiles[0]))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Close(), afdo.ErrClosed)
	require.NotErrorIs(t, afdo.ErrClosed, afdo.ErrMalformed)
}

// Code returns an error if debug info refers to the common file of dwz and the binary does not name
// that file, or if a folder has the file's name.
func TestNoCommonFile(t *testing.T) {
	dir := t.TempDir()
	data := gen.CommonNames("")
	path := filepath.Join(dir, "nameless")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	_, err := readAll(path)
	require.ErrorIs(t, err, errReference)
	require.ErrorIs(t, err, afdo.ErrMalformed)
	path = filepath.Join(dir, "named")
	require.NoError(t, os.WriteFile(path, gen.CommonNames("folder"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	_, err = readAll(path)
	require.ErrorIs(t, err, ErrNoDebugInfo)
}

// debugDirs replaces /usr/lib/debug, the default directory of separate debug files.
func debugDirs(dirs ...string) Option { return func(o *options) { o.dirs = dirs } }
