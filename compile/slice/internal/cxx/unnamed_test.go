package cxx

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnnamedClasses(t *testing.T) {
	for text, want := range map[string]bool{
		"struct { int x; } a;":                                          true,
		"static const struct { int x; } a[] = { { 1 } };":               true,
		"union { int x; };":                                             true,
		"class : A::B<int> { } a;":                                      true,
		"struct : ::A::B, C { } a;":                                     true,
		"struct ::A::B { };":                                            false,
		"struct A::B : ::C::D { };":                                     false,
		"struct alignas(16) { } a;":                                     true,
		"struct [[gnu::aligned(16)]] { } a;":                            true,
		"struct __attribute__((aligned(sizeof(A{1})))) { } a;":          true,
		"namespace a::b { inline namespace c { struct { } x; } }":       true,
		"namespace { } namespace a = b; struct { } x;":                  true,
		"extern \"C\" { struct { } x; }":                                true,
		"extern \"C++\" struct { } x;":                                  true,
		"void f() { if (x) { } } struct { } x;":                         true,
		"template <template <class> class> struct A { }; struct { } x;": true,
		"using A = struct { };":                                         true,
		"typedef struct { } *A;":                                        true,
		"typedef struct { } A[1];":                                      true,
		"typedef struct { } (A);":                                       true,
		"typedef struct { } (*A)(int);":                                 true,
		"typedef struct { } const A;":                                   true,
		"typedef const struct { } A;":                                   true,
		"typedef struct { } __attribute__((packed)) A;":                 true,
		"typedef struct { struct { int y; } x; } *A;":                   true,
		"typedef A B; struct { } x;":                                    true,
		"} struct { } x;":                                               true,

		"struct A { };":                                                           false,
		"struct a::A<int> { };":                                                   false,
		"struct alignas(16) A final : B { };":                                     false,
		"struct [[a::b]] A { };":                                                  false,
		"class __attribute__((visibility(\"default\"))) A { };":                   false,
		"struct A { union { int x; }; struct { } y; };":                           false,
		"void f() { struct { } x; }":                                              false,
		"namespace a { void f() { struct { } x; } }":                              false,
		"extern \"C\" { void f(const char *) { struct { } x; } }":                 false,
		"typedef struct { } A;":                                                   false,
		"typedef struct { } A, *B, C[1];":                                         false,
		"typedef struct { struct { int y[3]; } x; } A;":                           false,
		"extern \"C\" { typedef union { } A; }":                                   false,
		"enum { a }; enum class A : int { b };":                                   false,
		"struct A f() { } struct A *x = { 0 };":                                   false,
		"void f(struct A *, union B b) { }":                                       false,
		"template <class> void f() { } template <class T, class> void g(T a) { }": false,
		"template <template <class> class T> void f() { }":                        false,
		"auto x = [] { struct { } y; return y; }();":                              false,
		"struct A x; int f() { }":                                                 false,
		"struct":                                                                  false, "struct {": true, "typedef struct {": false, "typedef struct { }": false,
	} {
		found := false
		notes := noNotes()
		notes.Scope = func(word []byte) { found = found || string(word) == UnnamedClass }
		Definitions([]byte(text), notes)
		assert.Equal(t, want, found, text)
	}
}

func TestScopesOfUnnamedClasses(t *testing.T) {
	for name, want := range map[string]bool{
		"_ZN8": true, "_ZNK10": true, "_ZN1N9": true, "_ZN12_GLOBAL__N_19": true, "_ZNSt8": true, "_ZNVKR8": true,
		"_Z1fI8": false, "_Z1fP8": false, "_ZN1N1fI8": false, "_ZN1N1fE8": false, "_Z1fv": false, "_ZN1a1bEv": false, "_ZN": false, "_Z8": false,
	} {
		found := false
		Scopes(name, func(scope string) bool {
			found = found || scope == UnnamedClass
			return true
		})
		assert.Equal(t, want, found, name)
	}
}
