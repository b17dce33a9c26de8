package rebase

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// Symbols get the inline namespaces of the new sources. This includes symbols of functions that are
// in no source, and namespaces in template arguments.
func TestInlineNamespaces(t *testing.T) {
	const text = "BEGIN\nint run(int a) {\n\tint b = a;\n\treturn b * 2;\n}\nEND\n"
	open := func(inner string) string {
		return "#define BEGIN namespace shop { \\\n inline namespace " + inner + " {\n" + text
	}
	for name, c := range map[string]struct {
		edited string
		want   string // the namespace in symbols, of which v1 is the old one
	}{
		"renamed":    {open("v12"), "3v12"},
		"by a macro": {"#define INNER v12\n" + open("INNER"), "3v12"},
		"pasted": {"#define MAJOR 12\n#if TAGS\n#define TAG _tag\n#else\n#define TAG // none\n#endif\n#define PASTE_(a, b) v ## b ## a\n#define PASTE(a, b) \\\n PASTE_(a, b)\n" +
			open("PASTE(TAG, \\\n MAJOR)"), "3v12"},
		"pasted of one of two numbers": {"#if A\n#define MAJOR 12\n#else\n#define MAJOR 13\n#endif\n#define PASTE(a) v ## a\n" + open("PASTE(MAJOR)"), "2v1"},
		"of itself":                    {"#define A B\n#define B A A\n" + open("A"), "2v1"},
		"the same":                     {open("v1"), "2v1"},
		"still there":                  {open("v12") + "// v1\n", "2v1"},
		"several":                      {open("v12") + open("v13"), "2v1"},
		"other parent":                 {strings.Replace(open("v12"), "shop", "cart", 1), "2v1"},
		"no namespaces":                {text, "2v1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := profile.New()
			symbols := []string{"_ZN4shop2v13runEi", "_ZNSt6vectorIN4shop2v14ItemESaIS2_EE4pushEv", "_ZN4shop4goneEv", "shop2v1"}
			for i, symbol := range symbols {
				path := "run.cc"
				if i == 1 {
					path = "vector.h"
				}
				var body profile.Body
				body.Count(1, 0, 10)
				p.AddFunction(p.AddSymbol(p.AddUnit(path), symbol), profile.Function{Records: body.Records()})
			}
			p.AddSymbol(p.AddUnit("run.cc"), "_ZN4shop2v14pickEv")
			q, _, err := Profile(p, sources("run.cc", open("v1")), sources("run.cc", c.edited))
			require.NoError(t, err)
			var got []string
			for s := range q.Functions() {
				got = append(got, q.SymbolName(s))
			}
			assert.Contains(t, got, strings.Replace(symbols[0], "2v1", c.want, 1))
			assert.Contains(t, got, strings.Replace(symbols[1], "2v1", c.want, 1))
			assert.Contains(t, got, "_ZN4shop4goneEv")
			assert.Contains(t, got, "shop2v1")
		})
	}
}
