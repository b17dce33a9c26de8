package cxx

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScopes(t *testing.T) {
	for text, want := range map[string]string{
		"struct A { };":                                             "A",
		"struct A;":                                                 "",
		"struct A *f(); class B *p;":                                "",
		"void f(struct A *p) { }":                                   "",
		"class A final : public B<C>, virtual D { };":               "A B C D final public virtual",
		"union alignas(sizeof(int[2])) U { };":                      "U alignas int sizeof",
		"struct alignas(sizeof(A{1})) B { };":                       "A B alignas sizeof",
		"struct [[a::b(\"{\")]] A { };":                             "A a b",
		"namespace A::inline B { }":                                 "A B inline",
		"namespace { } using namespace A;":                          "",
		"template <class T> using A [[a]] = B<T>; struct C { };":    "A C a",
		"template <class T> requires F<T> using A = struct { };":    "A",
		"struct C { using D = B; public: using E = B; using F::g;":  "C",
		"using A = struct { int n; }; using B = C; struct D { };":   "A D",
		"namespace A = B::C; { using A::b; struct D { }; }":         "D",
		"namespace A = B::C; struct D { };":                         "D",
		"template <class T, class U> void f(T a) { }":               "",
		"template <class T> struct A<T *, int> { };":                "A T int",
		"template <template <class> class T> int f();":              "",
		"template class A<B>; extern template class C;":             "",
		"friend class A; friend struct B;":                          "",
		"typedef struct A B; struct C { };":                         "C",
		"typedef struct { typedef A B; void f() { } } C, *D; A x;":  "C D",
		"typedef struct { struct A { } b; A c; } *D, E;":            "A D E",
		"struct { int x; } typedef A; B c;":                         "A",
		"struct A { } b; A c() { }":                                 "A",
		"typedef enum { x } E; F f;":                                "E",
		"enum class A { };":                                         "A",
		"enum A { };":                                               "",
		"struct A : decltype([] { return 1; }()) { };":              "A decltype return",
		"// struct A {\n/* struct B { */ \"struct C {\" struct D {": "D",
		"struct A\n# 7 \"a.h\"\n{":                                  "A",
		"class":                                                     "", "struct (": "", "typedef": "", "} typedef": "", "struct A": "",
	} {
		var found []string
		notes := noNotes()
		notes.Scope = func(word []byte) {
			if string(word) != UnnamedClass {
				found = append(found, string(word))
			}
		}
		notes.AnyScope = func() { t.Error(text) }
		Definitions([]byte(text), notes)
		slices.Sort(found)
		assert.Equal(t, want, strings.Join(slices.Compact(found), " "), text)
	}
}

func TestInlineNamespaces(t *testing.T) {
	for text, want := range map[string]string{
		"namespace a { inline namespace b { } }":                           "a b",
		"namespace a { inline namespace b { inline namespace c { } } }":    "a b b c",
		"namespace a { } inline namespace b { }":                           "",
		"namespace a { int x; inline namespace b { } }":                    "",
		"namespace a { namespace b { } inline namespace c { } }":           "",
		"namespace a { inline int b() { } }":                               "",
		"namespace a { inline namespace b __attribute__((x(\"y\"))) { } }": "",
		"namespace a = c; inline namespace b { }":                          "",
		"struct a { inline namespace b { } }":                              "",
		"namespace a { // said\n/* twice */ inline\nnamespace b\n{\n}\n}":  "a b",
	} {
		var got []string
		notes := noNotes()
		notes.Inline = func(outer, name []byte) { got = append(got, string(outer), string(name)) }
		Definitions([]byte(text), notes)
		assert.Equal(t, want, strings.Join(got, " "), text)
	}
}
