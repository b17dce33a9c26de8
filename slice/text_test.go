package slice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestUnsure has texts of which any word may be that of a scope.
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

func TestTextCodes(t *testing.T) {
	text := textOf("struct S; namespace A { struct T { int x; }; } int f(struct S *s) { return s->x; } int g() __asm__(\"h\");", "#define M")
	assert.True(t, text.anyScope && text.isLabel("h") && text.words[wordHash("T")] && !text.words[wordHash("S")])
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
