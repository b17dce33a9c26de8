package slice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// unnamed are declarations of a variable x, whose class has a constructor and a destructor. The
// value says whether GCC treats the class as one without a name.
var unnamed = map[string]bool{
	"struct { S s; } x;":                                           true,
	"static struct { S s; } x[2];":                                 true,
	"class : S { } x;":                                             true,
	"struct __attribute__((aligned(16))) { S s; } x;":              true,
	"struct alignas(16) { S s; } x;":                               true,
	"struct [[gnu::aligned(16)]] { S s; } x;":                      true,
	"namespace a { namespace { struct { S s; } x; } } using a::x;": true,
	"inline namespace b { struct { S s; } x; }":                    true,
	"extern \"C++\" { struct { S s; } x; }":                        true,
	"typedef struct { S s; } X[1]; X x;":                           true,
	"typedef struct { S s; } *P; static P q; static auto x = *q;":  true,
	"typedef const struct { S s; } X; X x;":                        true,

	"typedef struct { S s; } X; X x;":               false,
	"typedef struct { S s; } X, *P; X x;":           false,
	"struct A { struct { S s; } x; } x;":            false,
	"struct A { S s; } x;":                          false,
	"void f() { struct { S s; } x; } int x = 0;":    false,
	"struct A final : S { } x;":                     false,
	"typedef struct { struct { S s; } s; } X; X x;": false,
}

// TestEmittedUnnamed compiles declarations to find out which classes GCC treats as unnamed. Slices
// of these sources must contain the profile's functions of unnamed classes, and slices of other
// sources must not.
func TestEmittedUnnamed(t *testing.T) {
	gxx := testenv.Tool(t, "g++")
	for source, want := range unnamed {
		if !testenv.Sweep() && len(source) > 26 {
			continue
		}
		t.Run(source, func(t *testing.T) {
			source := "struct S { S(); ~S(); S(const S &); };\n" + source
			file := filepath.Join(t.TempDir(), "a.cc")
			object := strings.TrimSuffix(file, "cc") + "o"
			require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
			text := new(Text)
			if testenv.Sweep() {
				text.Add(outputOf(t, gxx, "-std=c++17", "-E", file))
			} else { // which includes nothing
				text.Add([]byte("# 1 \"" + file + "\"\n" + source))
			}
			outputOf(t, gxx, "-std=c++17", "-O0", "-c", "-o", object, file)
			found := false
			for _, function := range functionsIn(t, object) {
				assert.True(t, text.mayDefine(function), function)
				found = found || strings.Contains(function, "._anon_")
			}
			assert.Equal(t, want, found)
			assert.Equal(t, want, text.hasScope(cxx.UnnamedClass))
			assert.Equal(t, want, text.mayDefine("_ZNK10._anon_157clIjEEvT_"))
		})
	}
}
