package slice

import (
	"debug/dwarf"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestEmitted compiles texts of C++ to find out which functions they define. A slice must contain
// all of these that are in the profile.
func TestEmitted(t *testing.T) {
	testenv.NeedSweep(t)
	compilers := []string{"g++", "g++-16", "clang++-22"}
	sources := []string{"emitted/scopes.cc", "emitted/dependent.cc", "cxx/main.cc", "cxx/draw.cc", "odd-cxx/odd.cc"}
	for _, compiler := range compilers {
		for _, source := range sources {
			if compiler == "clang++-22" && source == "odd-cxx/odd.cc" { // that is for GCC alone
				continue
			}
			t.Run(compiler+" "+source, func(t *testing.T) {
				testenv.Optional(t, compiler)
				text := new(Text)
				text.Add(outputOf(t, compiler, "-std=c++20", "-E", filepath.Join("testdata", source)))
				assert.False(t, text.anyScope)
				object := filepath.Join(t.TempDir(), "o.o")
				command := []string{compiler, "-std=c++20", "-g", "-O0", "-c", "-o", object, filepath.Join("testdata", source)}
				gcc := !strings.HasPrefix(compiler, "clang")
				if gcc {
					command = append(command, "-fkeep-inline-functions", "-fkeep-static-functions")
				}
				outputOf(t, command...)
				functions := functionsIn(t, object)
				if gcc { // clang has no names of templates that are not mangled
					functions = append(functions, templatesIn(t, object)...)
				}
				assert.Greater(t, len(functions), 20)
				names := make(map[string]bool)
				for _, name := range text.names() {
					names[name] = true
				}
				for _, function := range functions {
					if function == "__clang_call_terminate" { // without debug information, of any file
						continue
					}
					assert.True(t, names[cxx.KeyOf(function)], function)
					assert.True(t, text.mayDefine(function), function)
				}
			})
		}
	}
}

func outputOf(t *testing.T, command ...string) []byte {
	cmd := exec.Command(command[0], command[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, "%q: %s", command, said.String())
	return out
}

// TestEmittedC compiles texts of C to find out which functions they define, including those that
// compilers create for vectors and for code that runs before main. A slice must contain all of
// these that are in the profile.
func TestEmittedC(t *testing.T) {
	testenv.NeedSweep(t)
	sources, err := filepath.Glob(filepath.Join("testdata", "*", "*.c"))
	require.NoError(t, err)
	for _, compiler := range []string{"gcc", "gcc-16"} {
		for _, source := range sources {
			t.Run(compiler+" "+source, func(t *testing.T) {
				testenv.Optional(t, compiler)
				flags := []string{compiler, "-std=gnu17", "-w", "-fopenmp", "-fsanitize=address", "-O2", "-fkeep-inline-functions", "-fkeep-static-functions"}
				text := new(Text)
				text.Add(outputOf(t, append(flags, "-E", source)...))
				text.OnlyC = true
				object := filepath.Join(t.TempDir(), "o.o")
				outputOf(t, append(flags, "-c", "-o", object, source)...)
				functions := functionsIn(t, object)
				assert.NotEmpty(t, functions)
				for _, function := range functions {
					assert.True(t, text.mayDefine(function), function)
				}
			})
		}
	}
}

// functionsIn returns the names of the functions that an object file defines.
func functionsIn(t *testing.T, path string) (names []string) {
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	symbols, err := file.Symbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// templatesIn returns the names of those functions in the debug info of an object file that are
// instances of templates.
func templatesIn(t *testing.T, path string) (names []string) {
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	data, err := file.DWARF()
	require.NoError(t, err)
	r := data.Reader()
	for {
		e, err := r.Next()
		require.NoError(t, err)
		if e == nil {
			return names
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if e.Tag == dwarf.TagSubprogram && strings.IndexByte(name, '<') > len("~") {
			names = append(names, name)
		}
	}
}
