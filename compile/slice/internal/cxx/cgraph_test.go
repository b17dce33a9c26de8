package cxx

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// headersC is a C source that includes the most common headers, declares functions, and defines
// one.
const headersC = `#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <math.h>
#include <string.h>
#include <stddef.h>
int d1(int), d2(char *, size_t), d3(const void *), d4(void);
extern void d5(void) __attribute__((nothrow)), d6(int x[]), d7(double (*)(int));
_Static_assert(sizeof(d1(1)) == sizeof(int), "text");
long d8(int, ...); char *d9(void); struct d *d10(struct d *); int (*d11(int))(void); void d12(max_align_t *);
int api(int x) { return x + 1; }
`

const headersCXX = `#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
namespace { struct S { explicit S(int x) : x(x) {} int get() const noexcept { return x; } int x; }; }
int api(int x) { return S(x).get(); }
`

// A parsed has the functions that GCC has found in a source.
type parsed struct {
	text     []byte          // after the preprocessor
	defines  map[string]bool // unqualified names of the functions that GCC has parsed
	analyzed map[string]bool // the functions that it has not dropped as unused
}

// These match the dump of GCC's call graph: the entry of a function that GCC did not drop as
// unused, and the entry of any function. The last one matches the name in a declaration in C.
var (
	analyzedIn  = regexp.MustCompile(`(?m)^(\w\S*?)/\d+ \(.*\)(?: @0x[0-9a-f]+)?\n  Type: function definition analyzed`)
	entryOfDump = regexp.MustCompile(`(?m)^(\w\S*?)/\d+ \(.*\)(?: @0x[0-9a-f]+)?\n  Type: function definition`)
	declaredInC = regexp.MustCompile(`\b(\w+)\s*\(`)
)

// parseByGCC compiles a source with GCC, which dumps its call graph.
func parseByGCC(t *testing.T, compiler, source string, flags ...string) parsed {
	t.Helper()
	text, err := exec.Command(compiler, append([]string{"-E", source}, flags...)...).Output()
	require.NoError(t, err, source)
	u := parsed{text, map[string]bool{}, map[string]bool{}}
	kept := dumpOfCalls(t, compiler, source, append([]string{"-O0", "-fkeep-inline-functions", "-fkeep-static-functions"}, flags...))
	for _, match := range entryOfDump.FindAllSubmatch(kept, -1) {
		name := string(match[1])
		if IsMangled(name) {
			name = KeyOf(name)
		}
		if name == ConversionKey || name == OddKey || strings.Contains(name, "::") {
			continue // not names of the text
		}
		u.defines[name] = true
	}
	if filepath.Ext(source) != ".c" {
		return u
	}
	for _, match := range analyzedIn.FindAllSubmatch(dumpOfCalls(t, compiler, source, append([]string{"-O1", "-flto"}, flags...)), -1) {
		u.analyzed[string(match[1])] = true
	}
	return u
}

// dumpOfCalls returns GCC's dump of the call graph of a source.
func dumpOfCalls(t *testing.T, compiler, source string, flags []string) []byte {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"-w", "-fdump-ipa-cgraph", "-dumpdir", dir + "/", "-S", "-o", os.DevNull, source}, flags...)
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	dumps, err := filepath.Glob(filepath.Join(dir, "*.cgraph"))
	require.NoError(t, err)
	require.Len(t, dumps, 1)
	dump, err := os.ReadFile(dumps[0])
	require.NoError(t, err)
	return dump
}

// compare compares the functions that Definitions finds in a source with those that GCC has found.
// It returns how many functions a text of C declares without a body, and for how many of these
// Definitions is wrong, because it reports them as defined.
func (u parsed) compare(t *testing.T, source string) (declared, wrong int) {
	t.Helper()
	found := map[string]bool{}
	notes := noNotes()
	notes.Function = func(name []byte) { found[string(name)] = true }
	Definitions(u.text, notes)
	for name := range u.defines {
		assert.True(t, found[name], "%s: %s is defined", source, name)
	}
	mentions := mentionedIn(u.text)
	for name := range u.analyzed {
		if mentioned, isWord := mentions[name]; isWord {
			assert.True(t, mentioned || MayBeCalledByGCC(name), "%s: %s is compiled", source, name)
		}
	}
	names := map[string]bool{}
	for _, match := range declaredInC.FindAllSubmatch(u.text, -1) {
		names[string(match[1])] = true
	}
	for name := range names {
		if u.defines[name] {
			continue
		}
		declared++
		if found[name] {
			wrong++
		}
	}
	return declared, wrong
}

// compareUnits compares the functions that Definitions and GCC find in all sources of a project.
// most is the largest allowed percentage of functions without a body that Definitions reports as
// defined.
func compareUnits(t *testing.T, compiler string, most int, sources []string, flags ...string) {
	t.Helper()
	declared, wrong := 0, 0
	for _, source := range sources {
		d, w := parseByGCC(t, compiler, source, flags...).compare(t, filepath.Base(source))
		declared, wrong = declared+d, wrong+w
	}
	t.Logf("%s: %d of %d functions without a body are taken for defined, in %d units", compiler, wrong, declared, len(sources))
	assert.LessOrEqual(t, 100*wrong, most*declared)
}

// Definitions finds all functions in GCC's call graph. In C it finds hardly any other function,
// because each would add its samples to a slice.
func TestDefinitionsOfGCC(t *testing.T) {
	dir := t.TempDir()
	for _, lang := range []struct {
		name, text, compiler string
		most                 int
	}{{"a.c", headersC, "gcc", 1}, {"a.cc", headersCXX, "g++", mostInCXX}} {
		source := filepath.Join(dir, lang.name)
		require.NoError(t, os.WriteFile(source, []byte(lang.text), 0o600))
		for _, version := range []string{"-16", "-12"}[:testenv.Rounds(1, 2)] {
			compareUnits(t, testenv.Tool(t, lang.compiler+version), lang.most, []string{source})
		}
	}
}

// mostInCXX is the largest percentage of functions without a body that Definitions may report as
// defined in C++. It is higher than for C, because GCC's call graph does not contain templates that
// the unit does not instantiate.
const mostInCXX = 60

// TestDefinitionsOfProjects compares Definitions with GCC's call graph on the sources of Debian
// packages.
func TestDefinitionsOfProjects(t *testing.T) {
	testenv.NeedSweep(t)
	root := os.Getenv("AFDO_SOURCES")
	if root == "" {
		t.Skip("AFDO_SOURCES is not set: there are no source packages")
	}
	config := t.TempDir() // what the projects' own builds write
	require.NoError(t, os.Mkdir(filepath.Join(config, "port"), 0o700))
	for path, text := range map[string]string{
		"lua5.4-deb-multiarch.h": "#define DEB_HOST_MULTIARCH \"any\"\n",
		"port/port_config.h":     "#define HAVE_FDATASYNC 1\n#define HAVE_O_CLOEXEC 1\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(config, path), []byte(text), 0o600))
	}
	for _, p := range []struct {
		compiler, folder, sources, flags string
		most                             int
	}{
		{"gcc", "lua5.4-*", "src/l*.c", "-DLUA_USE_POSIX -ICONFIG", 1},
		{"gcc", "lz4-*", "lib/lz4*.c programs/*.c", "-ILIB", 1},
		{"g++", "leveldb-*", "table/*.cc", "-DLEVELDB_PLATFORM_POSIX=1 -DLEVELDB_HAS_PORT_CONFIG_H=1 -ICONFIG -IROOT -IROOT/include", mostInCXX},
	} {
		roots, err := filepath.Glob(filepath.Join(root, p.folder))
		require.NoError(t, err)
		require.NotEmpty(t, roots, p.folder)
		var sources []string
		for pattern := range strings.FieldsSeq(p.sources) {
			found, err := filepath.Glob(filepath.Join(roots[0], pattern))
			require.NoError(t, err)
			sources = append(sources, found...)
		}
		sources = slices.DeleteFunc(sources, func(path string) bool {
			return strings.Contains(path, "_test") || strings.Contains(path, "windows") || strings.Contains(path, "testutil")
		})
		flags := strings.Fields(strings.NewReplacer("ROOT", roots[0], "LIB", roots[0]+"/lib", "CONFIG", config).Replace(p.flags))
		for _, version := range []string{"-12", "-16"} {
			compareUnits(t, testenv.Tool(t, p.compiler+version), p.most, testenv.Some(sources, 2), flags...)
		}
	}
}
