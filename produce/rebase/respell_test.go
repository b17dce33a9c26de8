package rebase

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// A class gets another template parameter and another inline namespace, which macros open. With
// debug info, all symbols that mention the class are replaced by the new ones. This includes
// symbols of functions in no source, and of two instances that differ little.
func TestRespelledSymbols(t *testing.T) {
	const text = "BEGIN\ntemplate <class T> struct Box {\n\tBox() {\n\t\tcount++;\n\t}\n\tint get(int a) {\n\t\tint b = a;\n\t\treturn b * 2;\n\t}\n};\nEND\n"
	edited := strings.Replace(text, "class T", "class T, int N = 0", 1)
	old, new := sources("box.h", text), sources("box.h", edited)
	renamed := map[string]string{
		"_ZN3lib2v13BoxIiE3getEi":               "_ZN3lib2v23BoxIiLi0EE3getEi",
		"_ZN3lib2v13BoxIlE3getEi":               "_ZN3lib2v23BoxIlLi0EE3getEi",
		"_ZN3lib2v13BoxIiEC1Ev":                 "_ZN3lib2v23BoxIiLi0EEC1Ev",
		"_ZN3lib2v13BoxIiEC2Ev":                 "_ZN3lib2v23BoxIiLi0EEC2Ev",
		"_ZSt8_DestroyIN3lib2v13BoxIiEEEvPT_":   "_ZSt8_DestroyIN3lib2v23BoxIiLi0EEEEvPT_",
		"_ZSt8_DestroyIN3lib2v13BoxIcEEEvPT_":   "_ZSt8_DestroyIN3lib2v13BoxIcEEEvPT_", // the new program has none
		"_ZSt4moveIRiEONSt16remove_referenceIT": "_ZSt4moveIRiEONSt16remove_referenceIT",
	}
	old.Declare([]Declaration{
		{"_ZN3lib2v13BoxIiEC4Ev", "/b/box.h", 3}, {"_ZN3lib2v13BoxIiE3getEi", "/b/box.h", 6}, {"_ZN3lib2v13BoxIlE3getEi", "/b/box.h", 6},
	})
	new.Declare([]Declaration{
		{"_ZN3lib2v23BoxIiLi0EEC4Ev", "/b/box.h", 3}, {"_ZN3lib2v23BoxIlLi0EE3getEi", "/b/box.h", 6}, {"_ZN3lib2v23BoxIiLi0EE3getEi", "/b/box.h", 6},
		{"_ZSt8_DestroyIN3lib2v23BoxIiLi0EEEEvPT_", "/usr/include/construct.h", 9}, {"_ZSt8_DestroyIN3lib2v23BoxIlLi0EEEEvPT_", "/usr/include/construct.h", 9},
	})
	p := profile.New()
	for symbol := range renamed {
		path := "/b/box.h"
		if strings.HasPrefix(symbol, "_ZSt") {
			path = "/usr/include/construct.h"
		}
		var b profile.Body
		b.Count(1, 0, 5)
		p.AddFunction(p.AddSymbol(p.AddUnit(path), symbol), profile.Function{Records: b.Records()})
	}
	q, _, err := Profile(p, old, new)
	require.NoError(t, err)
	for was, want := range renamed {
		found := false
		for s := range q.Functions() {
			found = found || q.SymbolName(s) == want
		}
		assert.True(t, found, "%s is not %s", was, want)
	}
}
