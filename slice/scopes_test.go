package slice

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
		notes.scope = func(word []byte) { found = append(found, string(word)) }
		notes.unsure = func() { t.Error(text) }
		definitions([]byte(text), notes)
		slices.Sort(found)
		assert.Equal(t, want, strings.Join(slices.Compact(found), " "), text)
	}
}

// TestUnsure has texts of which any word may be that of a scope.
func TestUnsure(t *testing.T) {
	for text, want := range map[string]bool{
		"#define NS namespace A {\nNS void f() { } }":         true,
		"  # include <vector>":                                true,
		"#pragma GCC visibility push(default)\nint x;":        false,
		"# 1 \"a.h\" 1\n#line 7\nint x;":                      false,
		"class " + strings.Repeat("a ", maxHeadWords+1):       true,
		"struct A { };" + strings.Repeat("struct B;", 10_000): false,
	} {
		assert.Equal(t, want, textOf(text).unsure, text[:20])
		assert.Equal(t, want, textOf(text+"\nclass B; int f();").mayDefine("_ZN1B1fEv"), text[:20])
	}
}

func TestScopesOf(t *testing.T) {
	for name, want := range map[string]string{
		"_Z1fv":          "",
		"_ZN1A1fEv":      "A",
		"_ZN1A1fE1B":     "A",
		"_ZN1A1fEN1B1CE": "A B",
		"_ZNSt6vectorI1ASaIS0_EE9push_backERKS0_": "vector",
		"_ZN1AIN1B1CEE1D1fEv":                     "A B D",
		"_ZN1AC2Ev":                               "A",
		"_ZN1AD0Ev":                               "A",
		"_ZN1ApLERKS_":                            "A",
		"_ZN1AB3tag1fB5otherEv":                   "A",
		"_ZN12_GLOBAL__N_11A1fEv":                 "A",
		"_ZNK9__gnu_cxx17__normal_iteratorIP1A1BE4baseEv": "__gnu_cxx __normal_iterator",
		"_ZZN1A1fEvENKUlvE_clEv":                          "A",
		"_ZZZN1A1fEvENKUlvE_clEvEN1L3runEv":               "A L",
		"_ZNK1A1bMUlvE_clEv":                              "A",
		"_ZNK1bIiEUlvE_clEv":                              "",
		"_ZNK1A1bIiEUlvE_clEv":                            "A",
		"_ZN1AcvN1B1CEEv":                                 "", // not understood
		"_ZNK1A1BcvN1C1DEEv":                              "A",
		"_Z1fI1SENT_1A1BE":                                "",
		"_Z1fI1SEN1AIT_E1B1CE":                            "A",
		"_ZN1AI1SE1B1fIiEEN1CIT_E1D1EENS4_1F1GE":          "A B C",
		"_Z1fIiEvN1A1B1C1DE":                              "A",
		"_Z1fIiEvNSt1A1B1CE":                              "A",
		"_Z1fIiEvNSaIT_E1A1BE":                            "",
		"_ZN1A1BIiE3runITnDav14nobodyKnowsEEvv":           "A B",
		"_ZThn16_N1A3runEv":                               "",
		"_Z":                                              "", "_Znonsense": "", "_ZN1A": "",
	} {
		var found []string
		scopesOf(name, func(scope string) bool {
			found = append(found, scope)
			return true
		})
		slices.Sort(found)
		assert.Equal(t, want, strings.Join(found, " "), name)
	}
}

// TestOnlyMentioned has functions of classes that a text mentions, and defines functions of whose
// names.
func TestOnlyMentioned(t *testing.T) {
	text := textOf("class Known { int run() { return 1; } }; class Mentioned; void use(Mentioned *m);")
	assert.True(t, text.mayDefine("_ZN5Known3runEv"))
	assert.True(t, text.mayDefine("_Z3runP9Mentioned"))
	assert.False(t, text.mayDefine("_ZN9Mentioned3runEv"))

	// Types may be the compiler's own, scopes are not.
	assert.True(t, text.mayDefine("_ZN5Known3runEP13__va_list_tag"))
	assert.False(t, text.mayDefine("_ZN3__15Known3runEv"))

	// A function may have a name of another scope for the assembler.
	labelled := textOf("int f(void) __asm__(\"_ZN5shelf\" \"3runEv\");\n#pragma redefine_extname g _ZN3bin3runEv\n")
	for _, name := range []string{"_ZN5shelf3runEv", "_ZN3bin3runEv"} {
		assert.True(t, labelled.mayDefine(name), name)
		assert.Contains(t, labelled.names(), "run")
	}
}
