package rebase

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// holderText is the source of a library. The tests do not add it to the sources.
const holderText = `namespace lib {
template <class T, int N> struct Pool { T t; T *of(int i) { return &t + i + N; } };
template <class T> struct Holder { T *held; T *get() const { return held; } template <class U> void set(U *u) { held = u; } };
template <class T, class U> T *swapped(T *t, U *) { return t; }
}
`

const retypedText = `#include <stddef.h>
#include "holder.h"
namespace shop {
template <class T, int N>
struct Pool {
	T items[N];
	Pool() {
		items[0] = T();
	}
	~Pool() {
		items[0] = T();
	}
	T *get(int i) {
		return &items[i % N];
	}
	template <class U> U as(U u) {
		return u;
	}
};
template <class T> struct Pool<T, 0> { int nothing() { return 0; } };
template <class T> T *first(Pool<T, 4> &p, Pool<T, 7> *q) {
	return q ? q->get(0) : p.get(0);
}
template <int N> int times(int a) {
	return a * N;
}
struct Cart {
	int sum(int from, long to) const;
	int none();
	static int count(const char *s);
	int plus(Pool<int, 4> &p, int n);
	int each(int a, char c) {
		auto add = [a](int b) {
			return a + b;
		};
		return add(c);
	}
};
int Cart::sum(int from, long to) const {
	int some = 3;
	return from + to;
}
int Cart::none() {
	return 1;
}
int Cart::count(const char *s) {
	return *s;
}
int Cart::plus(Pool<int, 4> &p, int n) {
	return *p.get(n);
}
}
`

// retypedUse is the end of each test program. It uses the functions and templates of the program.
const retypedUse = `
int main(int argc, char **argv) {
	shop::Cart c;
	shop::Pool<int, 4> p;
	shop::Pool<int, 7> q;
	shop::Pool<char, 0> none;
	lib::Pool<int, 3> other;
	lib::Holder<shop::Pool<int, 4>> held;
	held.set(&p);
	lib::swapped(&p, &q);
	return c.sum(argc, 2) + c.none() + c.count(*argv) + c.plus(*held.get(), 1) + c.each(argc, 'a') + *q.get(1) + *first(p, &q) +
		p.as('a') + none.nothing() + *other.of(argc) + shop::times<3>(argc);
}
`

// TestRetypedSymbols changes templates and parameters in a text. It compares the symbols that
// retype makes from the old ones with those of compilers.
func TestRetypedSymbols(t *testing.T) {
	for name, edits := range map[string][]string{
		"the same":                 {"return a * N;", "return N * a;"},
		"type of a parameter":      {"template <class T, int N>\nstruct", "template <class T, size_t N>\nstruct", "template <class T> struct Pool<T, 0>", "template <class T> struct Pool<T, size_t(0)>"},
		"of a function's template": {"template <int N> int times", "template <unsigned char N> int times"},
		"more of a template":       {"template <class T, int N>\nstruct", "template <class T, int N, class Base = void, bool Checked = true, unsigned Step = 8>\nstruct"},
		"more of a function": {"long to)", "long to, bool all, size_t step)", "c.sum(argc, 2)", "c.sum(argc, 2, true, 3)", "int none()", "int none(unsigned short a)", "int Cart::none()", "int Cart::none(unsigned short)", "c.none()", "c.none(3)",
			"int n)", "int n, double d)", "held.get(), 1)", "held.get(), 1, 2)", "char c)", "char c, int more = 1)"},
		"pointers and references": {"long to)", "long to, int &out, const char *name, int &again, char *, const char *)", "c.sum(argc, 2)", "c.sum(argc, 2, argc, *argv, argc, *argv, *argv)", "count(const char *s)", "count(const char *s, const char *t, const int *, int &, const int *)", "c.count(*argv)", "c.count(*argv, *argv, &argc, argc, &argc)"},
		"more references":         {"long to)", "long to, int &&out, const int &name, int &again)", "c.sum(argc, 2)", "c.sum(argc, 2, 3, 4, argc)"},
		"less of a function":      {"(int from, long to)", "(int from)", "from + to", "from", "c.sum(argc, 2)", "c.sum(argc)"},
		"none of a function":      {"(int from, long to)", "()", "from + to", "1", "c.sum(argc, 2)", "c.sum()"},
		"type in a function":      {"int from, long to", "unsigned from, const size_t to", "int n)", "long long n)", "#include <stddef.h>", "#include <cstddef>"},
		"both":                    {"template <class T, int N>\nstruct", "template <class T, long N, int M = 5>\nstruct", "int n)", "int n, bool all)", "held.get(), 1)", "held.get(), 1, true)"},
	} {
		for _, compiler := range []string{"g++", "clang++-22"}[:testenv.Rounds(1, 2)] {
			t.Run(name+" "+compiler, func(t *testing.T) {
				edit := strings.NewReplacer(edits...)
				now := edit.Replace(retypedText) + edit.Replace(retypedUse)
				p := profile.New()
				for _, symbol := range symbolsOfText(t, compiler, retypedText+retypedUse) {
					path := "/b/shop.cc"
					if strings.HasPrefix(symbol, "_ZN3lib") {
						path = "/usr/include/holder.h"
					}
					var b profile.Body
					b.Count(1, 0, 5)
					p.AddFunction(p.AddSymbol(p.AddUnit(path), symbol), profile.Function{Records: b.Records()})
				}
				q, _, err := Profile(p, sources("shop.cc", retypedText+retypedUse), sources("shop.cc", now))
				require.NoError(t, err)
				assert.ElementsMatch(t, symbolsOfText(t, compiler, now), slices.Collect(symbolsOf(usesOf(q))))
			})
		}
	}
}

// knownSymbols caches the results of symbolsOfText by compiler and text.
var knownSymbols = make(map[[2]string][]string)

// symbolsOfText returns the symbols of the functions that a compiler generates for a text.
func symbolsOfText(t *testing.T, compiler, text string) []string {
	key := [2]string{compiler, text}
	if knownSymbols[key] == nil {
		knownSymbols[key] = compiledSymbols(t, compiler, text)
	}
	return knownSymbols[key]
}

func compiledSymbols(t *testing.T, compiler, text string) (symbols []string) {
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "shop.cc"), filepath.Join(dir, "shop.o")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "holder.h"), []byte(holderText), 0o666))
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	out, err := exec.Command(testenv.Tool(t, compiler), "-O0", "-c", "-o", binary, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	f, err := elf.Open(binary)
	require.NoError(t, err)
	defer f.Close()
	list, err := f.Symbols()
	require.NoError(t, err)
	for _, s := range list {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && strings.HasPrefix(s.Name, "_Z") {
			symbols = append(symbols, s.Name)
		}
	}
	return symbols
}

// TestRetypeScopes retypes templates of one name in several namespaces, some of which macros may
// open. Only symbols of templates whose functions are in the text change.
func TestRetypeScopes(t *testing.T) {
	const text = "template <class T, int N> struct Pool {\n\tint get(int a) {\n\t\tint b = a;\n\t\treturn b;\n\t}\n};\n"
	edited := strings.Replace(text, "int N", "long N", 1)
	for symbol, want := range map[string]string{
		"_ZN4PoolIiLi3EE3getEi":            "_ZN4PoolIiLl3EE3getEi",
		"_ZN4shop4PoolIiLi3EE3getEi":       "_ZN4shop4PoolIiLl3EE3getEi",
		"_ZN5other3runEN3lib4PoolIiLi3EEE": "_ZN5other3runEN3lib4PoolIiLi3EEE",
		"_ZNSt4PoolIiLi3EE3putEi":          "_ZNSt4PoolIiLi3EE3putEi",
	} {
		p := profile.New()
		var b profile.Body
		b.Count(2, 0, 5)
		path := "shop.h"
		if strings.HasSuffix(symbol, "EEE") || strings.HasPrefix(symbol, "_ZNSt") {
			path = "/usr/include/lib.h"
		}
		p.AddFunction(p.AddSymbol(p.AddUnit(path), symbol), profile.Function{Records: b.Records()})
		p.AddFunction(p.AddSymbol(p.AddUnit("shop.h"), "_ZN4PoolIiLi7EE3getEi"), profile.Function{Records: b.Records()})
		q, _, err := Profile(p, sources("shop.h", text), sources("shop.h", edited))
		require.NoError(t, err)
		assert.Contains(t, slices.Collect(symbolsOf(usesOf(q))), want)
	}
}

// TestRetypeOfMany checks the limits of retype with as many overloads as symbols, each with one
// parameter more, with all template names in one symbol, and with macros that have many expansions.
func TestRetypeOfMany(t *testing.T) {
	many := testenv.Rounds(200, 1000)
	p := profile.New()
	unit := p.AddUnit("a.cc")
	add := func(symbol string) {
		var b profile.Body
		b.Count(1, 0, 5)
		p.AddFunction(p.AddSymbol(unit, symbol), profile.Function{Records: b.Records()})
	}
	var text, macros strings.Builder
	for i := range many {
		fmt.Fprintf(&text, "void f(struct A%d *a) {\n\treturn;\n}\ntemplate <long N> struct T%d { void g() {\n\treturn;\n} };\n", i, i)
		add(fmt.Sprintf("_Z1fP5B%04d", i))
	}
	symbol := "_Z1gv"
	for i := range 200 {
		symbol = fmt.Sprintf("%sN%d%sILi%dEEE", symbol[:len(symbol)-1], len(fmt.Sprint("T", i)), fmt.Sprint("T", i), i) + "v"
	}
	add(symbol)
	for i := range 40 {
		fmt.Fprintf(&macros, "#define M%d M%d ## M%d\n#define M%d x\n", i, i+1, i+1, i)
	}
	macros.WriteString("namespace a { inline namespace M0 {\n} }\n")
	add("_ZN1a1bE1cv")
	_, report, err := Profile(p, sources("a.cc", text.String()), sources("a.cc", strings.ReplaceAll(text.String(), " *a", " *a, int n")+macros.String()))
	require.NoError(t, err)
	assert.NotEmpty(t, report.Functions)
}

// FuzzRetype changes symbols to the types of a text. If a symbol can be demangled, its result can
// be, too.
func FuzzRetype(f *testing.F) {
	f.Add("_ZN4shop5firstIiEEPT_RNS_4PoolIS1_Li4EEEPNS3_IS1_Li7EEE", "template <class T, long N, class B = void> struct Pool { T *first(Pool<T, 4> &p, int n) {\n\treturn 0;\n}\n};")
	f.Add("_ZN4shop3runEi", "namespace shop { void run(unsigned a, bool b) {\n\treturn a;\n} }")
	f.Add("_ZN4shop2v13runEi", "#define V(a) v ## a\n#define B V(C)\n#define C 2\nnamespace shop { inline namespace B { void run(int a) {\n\treturn a;\n} }")
	f.Fuzz(func(t *testing.T, symbol, text string) {
		p := profile.New()
		var b profile.Body
		b.Count(1, 0, 5)
		p.AddFunction(p.AddSymbol(p.AddUnit("a.cc"), symbol), profile.Function{Records: b.Records()})
		p.SetMarks(0, []outline.Mark{3, 4, 5})
		q, _, err := Profile(p, nil, sources("a.cc", text))
		if err != nil || treeOf(symbol) == nil {
			return
		}
		for s := range symbolsOf(usesOf(q)) {
			assert.NotNil(t, treeOf(s), s)
		}
	})
}
