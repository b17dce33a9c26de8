package slice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/profile"
)

// TestUnsure has texts in which any word may be the name of a class or namespace.
func TestUnsure(t *testing.T) {
	for text, want := range map[string]bool{
		"#define NS namespace A {\nNS void f() { } }":         true,
		"  # include <vector>":                                true,
		"#pragma GCC visibility push(default)\nint x;":        false,
		"# 1 \"a.h\" 1\n#line 7\nint x;":                      false,
		"class " + strings.Repeat("a ", 1<<12+1):              true,
		"struct A { };" + strings.Repeat("struct B;", 10_000): false,
	} {
		assert.Equal(t, want, textOf(text).anyScope, text[:20])
		assert.Equal(t, want, textOf(text+"\nclass B; int f();").mayDefine("_ZN1B1fEv"), text[:20])
	}
}

// TestOnlyMentioned has functions of classes that a text mentions but does not define. The text
// defines other functions with the same unqualified names.
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

// TestImplicit has functions that the compiler creates, whose names no text contains, and the words
// that a text must contain for each.
func TestImplicit(t *testing.T) {
	placed := "void *operator new(unsigned long, void *p) { return p; }\n"
	for symbol, texts := range map[string][2]string{ // one that defines it, and one that does not
		"_Znwm":                        {"void *operator new(unsigned long n) { return f(n); }", placed},
		"_ZdlPvm":                      {"void operator delete(void *p, unsigned long) { }", placed},
		"_ZnwmPv":                      {placed, "void *operator new(unsigned long, void *p);"},
		"_ZN1AdlEPvS1_":                {"struct A { void operator delete(void *, void *) { } };", "struct A { };"},
		"_ZnwmRKSt9nothrow_t":          {"struct nothrow_t; void *operator new(size_t n, const nothrow_t &) { return f(n); }", "struct nothrow_t;" + placed},
		"_ZnwmPvi":                     {"void *operator new(unsigned long, void *p, int) { return p; }", placed},
		"_ZdaPvS_":                     {"extern void f(void) asm(\"_ZdaPvS_\");", "int x;"},
		"_GLOBAL__sub_I_main":          {"int main() { }", "int f();"},
		"_GLOBAL__sub_I_my_file.cc":    {"# 1 \"src/my-file.cc\"\n", "# 1 \"src/file.cc\"\n"},
		"_GLOBAL__sub_I_na__ve":        {"int na\u00efve;", "int naive;"},
		"_GLOBAL__sub_I__ZN1A1xE":      {"struct A { static int x; };", "struct B { static int x; };"},
		"_GLOBAL__sub_I_00100_0_other": {"int x;", ""},
		"__tcf_0":                      {"struct A { ~A(); };", "int x = ~y;"},
		"__tcfkept":                    {"Kept kept[3];", "Kept others[3];"},
		"__tcf_ZN1A4keptE":             {"struct A { static A kept[2]; };", "struct B { static B kept[2]; };"},
		"get<N::Box<char, 3ul, 'x'> >": {"namespace N { template <class T> class Box; }", "namespace N { }"},
	} {
		assert.True(t, textOf(texts[0]).mayDefine(symbol), symbol)
		if texts[1] != "" {
			assert.False(t, textOf(texts[1]).mayDefine(symbol), symbol)
		}
	}
}

func TestTextCodes(t *testing.T) {
	text := textOf("struct S; namespace A { inline namespace B { struct T { int x; }; } } int f(struct S *s) { return s->x; } int g() __asm__(\"h\");", "#define M")
	assert.Equal(t, []string{"B"}, text.inlines["A"])
	assert.True(t, text.anyScope && text.isLabel("h") && text.words[wordHash("T")]&usedAsScope != 0 && text.words[wordHash("S")]&usedAsScope == 0)
	data := text.Encode()
	again, ok := DecodeText(data)
	assert.True(t, ok)
	assert.Equal(t, text, again)
	for n := range data {
		_, ok := DecodeText(data[:n])
		assert.False(t, ok, "%d bytes", n)
	}
	_, ok = DecodeText(append(data, 0))
	assert.False(t, ok)
}

func FuzzDecodeText(f *testing.F) {
	f.Add(textOf("int f(struct S *s) { return s->x; }").Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		text, ok := DecodeText(data)
		if !ok {
			return
		}
		again, ok := DecodeText(text.Encode())
		assert.True(t, ok)
		assert.Equal(t, text, again)
	})
}

func TestOnlyC(t *testing.T) {
	text := textOf(`typedef struct { int x; } *P; int run(void) { return 1; } int _Z3runv(void) { return 2; } int say(void) __asm__("_Z3sayv");`)
	for name, ofC := range map[string]bool{
		"run": true, "run.part.0": true, "_Z3runv": true, "_Z3sayv": true, "_GLOBAL__sub_I_run": true, "_ZGVbN4v_run": true,
		"operator==": false, "operator int": false, "_ZN10": false, "_Z3runIiEvv": false, "__static_initialization_and_destruction_0": false,
		"run<int>": false, "~run": false,
	} {
		text.OnlyC = false
		assert.True(t, text.mayDefine(name), name)
		text.OnlyC = true
		assert.Equal(t, ofC, text.mayDefine(name), name)
		r := requirementsOf(program.Symbol{Name: name})
		assert.Equal(t, ofC, text.satisfies(&r), name)
		again, ok := DecodeText(text.Encode())
		assert.True(t, ok)
		assert.Equal(t, ofC, again.mayDefine(name), name)
	}
}

// A slice for GCC omits inline functions of C that nothing in the text mentions, if GCC drops them.
func TestUnusedFunctions(t *testing.T) {
	p := profile.New()
	unit := p.AddUnit("/other/a.c")
	for _, name := range []string{"unused", "used", "putchar"} {
		p.AddFunction(p.AddSymbol(unit, name), profile.Function{HeadCount: 1})
	}
	program := FromProfile(p)
	for _, drops := range []bool{false, true} {
		text := textOf("static inline int unused(void) { return 1; } static inline int used(void) { return 2; }",
			"static inline int putchar(int c) { return c; } int f(void) { return used(); }")
		text.OnlyC = true
		if drops {
			text.DropsUnused = true
		}
		part, err := program.Select(Request{Text: text, Target: Version3})
		require.NoError(t, err)
		want := 3
		if drops {
			want = 2
		}
		assert.Equal(t, want, part.NumFunctions())
	}
}
