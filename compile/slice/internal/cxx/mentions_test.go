package cxx

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mentionedIn returns the words of a text. The value says whether Definitions reports the word as
// mentioned.
func mentionedIn(text []byte) map[string]bool {
	words := map[string]bool{}
	notes := noNotes()
	notes.Word = func(word []byte, mentioned bool) { words[string(word)] = words[string(word)] || mentioned }
	Definitions(text, notes)
	return words
}

// unmentionedIn returns the functions in a text that Definitions never reports as mentioned.
func unmentionedIn(text string) string {
	words := mentionedIn([]byte(text))
	return strings.Join(slices.DeleteFunc(definitionsOf(text), func(name string) bool {
		mentioned, isWord := words[name]
		return mentioned || !isWord
	}), " ")
}

func TestUnmentioned(t *testing.T) {
	for text, want := range map[string]string{
		"static inline int f(int x) { return x; }":                                                         "f",
		"static inline int f(int x) { return x; } int g(void) { return f(1); }":                            "",
		"static __inline__ int f(int); static __inline int f(int x) { return x; } int (*p)(int);":          "f",
		"static inline int f(int x) { return x; } int (*p)(int) = f;":                                      "",
		"static inline int f(int x) { return x; } int (*p[])(int) = { f };":                                "",
		"static inline int f(int x) { return f(x); }":                                                      "",
		"inline int f(int x) { return x; }":                                                                "",
		"extern inline int f(int x) { return x; }":                                                         "",
		"static int f(int x) { return x; }":                                                                "",
		"extern __inline int __attribute__((__gnu_inline__)) f(int x) { return x; }":                       "f",
		"extern inline __attribute__((gnu_inline)) int f(int x) { return x; } int f(int x) { }":            "",
		"static inline __attribute__((used)) void f(void) { }":                                             "",
		"static void f(void) __attribute__((constructor)); static inline void f(void) { }":                 "",
		"static inline void f(void) { } static inline [[gnu::used]] void g(void) { }":                      "f",
		"static inline void f(void) { } void g(void) __attribute__((alias(\"f\")));":                       "",
		"static inline void f(void) { }\n#pragma weak g = f\n":                                             "",
		"static inline void f(int *p) { } void g() { int x __attribute__((cleanup(f))); }":                 "",
		"static inline int f(void) { return 1; } static char a[sizeof(f())];":                              "",
		"static inline int f(void) { return 1; } typeof(f()) a; int g(void) __asm__(\"f\");":               "",
		"static inline int f(a) int a; { return a; }":                                                      "",
		"static inline int (f)(int a) { return a; }":                                                       "",
		"static inline int f(int a) { return g(a); } static inline int g(int a) { return a; } ;":           "f",
		"static inline struct s { int x; } f(void) { } static inline struct s g(void) { }":                 "g",
		"int g(void) { int x = 1; } static inline int f(void) { return 1; } static inline int h(void) { }": "f h",
		"int x = 1; static inline int f(void) { } int *p = (int[]){1}, y = f(); int z = 2;":                "",
		"int x = 1, f(void); static inline int f(void) { }":                                                "",
	} {
		assert.Equal(t, want, unmentionedIn(text), text)
	}
}

func TestMayBeCalledByGCC(t *testing.T) {
	for _, name := range []string{"putchar", "sqrtf", "ceilf", "log2l", "sqrtf128x", "lgammaf_r", "fputs_unlocked", "memset", "__udivti3"} {
		assert.True(t, MayBeCalledByGCC(name), name)
	}
	for _, name := range []string{"tolower", "luaV_execute", "f", "_mm_add_ps", "atoi"} {
		assert.False(t, MayBeCalledByGCC(name), name)
	}
}
