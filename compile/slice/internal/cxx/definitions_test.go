package cxx

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func noNotes() Notes {
	none := func([]byte) {}
	return Notes{none, func([]byte, bool) {}, none, none, func(_, _ []byte) {}, func() {}}
}

func definitionsOf(text string) []string {
	var names []string
	notes := noNotes()
	notes.Function = func(name []byte) { names = append(names, string(name)) }
	Definitions([]byte(text), notes)
	slices.Sort(names)
	return slices.Compact(names)
}

func TestDefinitions(t *testing.T) {
	for text, want := range map[string]string{
		"int f(int x) { return g(x); }":                                                 "f",
		"static void catch(int s) { } int throw(int x) { return x; }":                   "catch throw", // of C
		"static inline int\nf (void)\n{\n}":                                             "f",
		"int f(int);":                                                                   "",
		"int (*p)(int) = f; int a[] = { g(1), h(2) };":                                  "",
		"int x = f(1) + g(2);":                                                          "",
		"void f() { if (g(x)) { h(); } while (k()) {} }":                                "f",
		"int f() __attribute__((cold)) { }":                                             "f",
		"int A::f(int x) const noexcept(g(x)) -> int { }":                               "f",
		"A::A(int x) : a(x), b{f(x)} { }":                                               "A a",
		"A::~A() { } B::~ B() { }":                                                      "~A ~B",
		"template <class T> T f(T x) { }":                                               "T f ~T",
		"template <> int f<int>(int x) { }":                                             "f",
		"int f<a, g<b>>(int x) { }":                                                     "f",
		"A A::operator+(A b) { } A::operator()(int) { }":                                "operator() operator+",
		"bool operator<(A, A) { } A* operator->() { }":                                  "operator-> operator<",
		"int operator [] (int) { }":                                                     "operator[]",
		"A::operator int() { }":                                                         "int",
		"int operator and(A, A) { } A operator\n|= (A, A) { }":                          "operator&& operator|=",
		"int operator [ ] (int) { } A::operator+<int>(A) { }":                           "operator+ operator[]",
		"int operator<::>(int) <% int a<:3:>; g(1); %> h() { }":                         "h operator[]",
		"A<::B> f() { } A::compl A() { }":                                               "f ~A",
		"int (__attribute__((cold)) f)(int) { } int ((g))(A x) { }":                     "f g int",
		"auto f() -> if_t<N == 3 && M >= 4> { }":                                        "f",
		"void f<(a > b)>(int) { } void f<(a < b)>(int) { }":                             "f",
		"int (*f(int))[3] { } int g() { h(({ int k(z) int z; { } 1; })); }":             "f g int k",
		"int (*(*f(int k, int (*g)(int)))(int))(int) { }":                               "f int",
		"struct alignas(2 * 8) S { }; struct [[a, b]] T { };":                           "S T a alignas b ~S ~T ~a ~alignas ~b",
		"typedef struct { } *P, S;":                                                     "P S ~P ~S",
		"int a\\u00e9b() { } int \\U000000e9() { } \\u{e9}c() { }":                      "aéb é éc",
		`int f() asm("\x66o\157.1") ; int g() asm(R"x(k)x");`:                           "foo k",
		`int f() asm("a\x{62}\o{143}\u00e9" R"(d)");`:                                   "abcéd",
		`int f() asm("\x66o\n\`:                                                         "",
		`int f() __asm__("a" "b.c"); int g() asm("_ZN1A1kEv");`:                         "_ZN1A1kEv ab k",
		`int operator""_km(int) { }`:                                                    `_km`,
		"auto l = [&](int k) { return k; };":                                            "_FUN operator()",
		"call(a, [&](int k) mutable { return g(k); }, h(1));":                           "_FUN operator()",
		"int (f)(int x) { }":                                                            "f int",
		"void (*f(int x))(int) { }":                                                     "f void",
		"int f(a, b) int a; char *b; { }":                                               "f",
		"int f(int) const; int g() { }":                                                 "g",
		"int f(a, b) const char *a; volatile int b; { }":                                "f",
		"int f() const volatile; int g() { }":                                           "g",
		"typedef __typeof__(nullptr) nullptr_t; int f(int); int g() { }":                "g",
		"typedef int a(int) T; int f(int); int g() { }":                                 "g",
		"_Atomic(int) x; typeof(x) y; _Alignas(8) int z; int f(int); int g() { }":       "g",
		"struct S { explicit(true) operator T(); int f(); }; int g() { }":               "S g ~S",
		"typedef struct { int x; } S;":                                                  "S ~S",
		"typedef struct { struct { int x; } in; } S; f x;":                              "S ~S",
		"typedef struct { typedef int T; typedef struct { T x; } *P, Q; T y; } S; f x;": "P Q S ~P ~Q ~S",
		"struct [[nodiscard]] S { };":                                                   "S nodiscard ~S ~nodiscard",
		"struct A::S { };":                                                              "A S ~A ~S",
		"void* operator new(size_t n) throw(bad) { } void operator delete(void*);":      "operator new",
		"void operator delete [] (void* p, size_t) noexcept { }":                        "operator new",
		"void* operator new<::>(size_t, void* p) { } void A::operator\ndelete(void*) ;": "operator new(placement)",
		"void operator delete(void*, void *) { }":                                       "operator new(placement)",
		"void* operator new(size_t, void** p) { }":                                      "operator new",
		"void* operator new(size_t, T, void* p) { } void (operator delete)(void*) { }":  "operator new void",
		"template <class... A> void* operator new(size_t, A... a) { }":                  "operator new",
		"S& S::f() = default; S g() = delete;":                                          "f",
		`int f(int) __asm__("g"); int f(int x) { }`:                                     "f g",
		"#pragma redefine_extname f g\nint f() { }":                                     "f g pragma redefine_extname",
		"int a[3] = {1}; a[f(1)](2);":                                                   "",
		"struct S { int f() { } int g(); };":                                            "S f ~S",
		"union __attribute__((packed)) U { };":                                          "U __attribute__ packed ~U ~__attribute__ ~packed",
		"class API C : public B { };":                                                   "API C ~API ~C",
		"// int f() {\nint g() { }":                                                     "g",
		"// int f() \\\n {\nint g() { }":                                                "g",
		"/* int f() { */ int g() { }":                                                   "g",
		"#define F(x) int f() { \\\n } int g() { }\nint h() { }":                        "h",
		"  # if f() {\nint h() { }":                                                     "h",
		`char *s = "int f() {\" int g() {"; int h() { }`:                                "h",
		`char c = '"'; int h() { } char d = '\'';`:                                      "h",
		"auto s = R\"x(int f() { )\" )x\"; int h() { }":                                 "h",
		`auto s = u8R"(int f() { )"; int h() { }`:                                       "h",
		"int n = 1'000'000; int h() { }":                                                "h",
		"int f(int a, int g(int), int (*k)(int)) { }":                                   "f",
		"int f(int x = g()) { }":                                                        "f",
		"bool f(int x) { return a < b; } int g(c d) { }":                                "f g",
		"))) int f() { }":                                                               "f",
		"int f(int a,\n#if X\nint b) {\n#else\nint c) {\n#endif\n}":                     "f",
		"f(": "", "'": "", `"\`: "", "/*": "", `R"(`: "", `R"`: "", "operator": "", "#\\": "", "": "",
	} {
		assert.Equal(t, want, strings.Join(definitionsOf(text), " "), text)
	}
}

// TestDefinitionsHostile reads texts that consist of nothing but opening parentheses, or of another
// character that nests.
func TestDefinitionsHostile(t *testing.T) {
	for _, part := range []string{"f(", "f<", "f()", "(", "{", "[](", "operator", "~", "class a ", "'", `"`, `R"(`, "/*", "#\\\n"} {
		t.Run(part, func(t *testing.T) {
			text := strings.Repeat(part, 1<<16)
			n, notes := 0, noNotes()
			notes.Function = func([]byte) { n++ }
			notes.Scope = notes.Function
			Definitions([]byte(text), notes)
			assert.LessOrEqual(t, n, 2*len(text), part)
		})
	}
}

func FuzzDefinitions(f *testing.F) {
	f.Add([]byte("int f(int x) { return [&](int k) { return k; }(g<int>(x)); }"))
	f.Add([]byte("A::~A() : a(1) { R\"x(y)x\"; '\\''; operator<<(1); }"))
	f.Fuzz(func(t *testing.T, text []byte) {
		seen := func(name []byte) {
			if len(name) == 0 || len(name) > len(text)+len("operator()") {
				t.Errorf("a name of %d bytes in a text of %d", len(name), len(text))
			}
		}
		Definitions(text, Notes{seen, func(word []byte, _ bool) { seen(word) }, seen, seen, func(outer, name []byte) { seen(outer); seen(name) }, func() {}})
	})
}

func BenchmarkDefinitions(b *testing.B) {
	text, err := os.ReadFile("definitions.go")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Definitions(text, noNotes())
	}
}
