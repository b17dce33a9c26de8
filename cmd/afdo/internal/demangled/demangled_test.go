package demangled

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/mangled"
)

func TestDemangled(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4shop4Cart3addERKNS_4ItemE":     "shop::Cart::add(shop::Item const&)",
		"_RNvC7mycrate3foo":                 "mycrate::foo",
		"_ZN3foo3bar17h05af221e174051e9E":   "foo::bar",
		"main":                              "main",
		"_Z":                                "_Z",
		"src/_ZN4shop4Cart3addERKNS_4ItemE": "src/_ZN4shop4Cart3addERKNS_4ItemE",
	} {
		assert.Equal(t, want, Name(name))
	}
	assert.Equal(t, "shop::Cart::add", Short("_ZN4shop4Cart3addERKNS_4ItemE"))
}

func TestSuffixesOfFiles(t *testing.T) {
	for name, want := range map[string]string{
		"parse.llvm.1234":                                "parse",
		"parse.__uniq.1234.llvm.5678":                    "parse",
		"_ZL5parsei.__uniq.1234":                         "parse(int)",
		"_ZL5parsei.__uniq.1234.part.0":                  "parse(int) [clone .part.0]",
		"parse.part.0":                                   "parse.part.0",
		"parse.llvm.ir":                                  "parse.llvm.ir",
		"parse.llvm.1x":                                  "parse.llvm.1x",
		"_ZN3foo3bar17h05af221e174051e9E.llvm.177700099": "foo::bar",
	} {
		assert.Equal(t, want, Name(name), name)
	}
}

func TestForms(t *testing.T) {
	const name = "_ZNSt6vectorIiSaIiEE12emplace_backIJiEEEvDpOT_"
	forms := InForms(func(form func(string) string) string { return "in " + form(name) })
	assert.Equal(t, []string{
		"in void std::vector<int, std::allocator<int> >::emplace_back<int>(int&&)",
		"in std::vector<int, std::allocator<int> >::emplace_back<int>",
		"in std::vector::emplace_back",
	}, slices.Collect(forms))
	for first := range forms {
		assert.Contains(t, first, "(int&&)")
		break
	}
}

func TestDemangledIsBounded(t *testing.T) {
	assert.Greater(t, len(Name(clitest.Exponential(20))), 20_000)
	assert.Len(t, Name(clitest.Exponential(100)), 1<<maxDemangledP)
	pointers := "_Z1f" + strings.Repeat("P", mangled.MaxLen) + "i"
	assert.Equal(t, pointers, Name(pointers), "too long to be worth the square of its length")
}

func TestDemangler(t *testing.T) {
	const text = `filenames = { "a.cc" } "_Z1fv":0(1:2:3) = { inlined = { 1 = "_Z1gi":0(2) = {} } } "cut _Z1fv`
	const want = `filenames = { "a.cc" } "f()":0(1:2:3) = { inlined = { 1 = "g(int)":0(2) = {} } } "`
	for step := 1; step <= len(text); step++ {
		var out strings.Builder
		d := NewWriter(&out)
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			written, err := d.Write([]byte(rest[:n]))
			require.NoError(t, err)
			require.Equal(t, n, written)
			rest = rest[n:]
		}
		require.Equal(t, want, out.String(), "%d bytes at a time", step)
	}
	_, err := (&Writer{w: clitest.FailingWriter{Err: iotest.ErrTimeout}}).Write([]byte("x"))
	assert.ErrorIs(t, err, iotest.ErrTimeout)
}
