package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// found returns the functions in a text, each as a string with its scope, its names with their
// lines, and its last line.
func found(text string) []string {
	var list []string
	functions, _ := Outline([]byte(text))
	for _, f := range functions {
		var names []string
		for _, n := range f.Names {
			names = append(names, fmt.Sprintf("%s@%d", Join(n.Qualifier, n.Text), n.Line))
		}
		last := 1 + strings.Count(text[:f.End], "\n")
		list = append(list, fmt.Sprintf("%s %s..%d", f.Scope, strings.Join(names, "|"), last))
	}
	return list
}

func TestFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain":                {"int f(int a)\n{\n\treturn a;\n}\n", []string{" f@1..4"}},
		"declaration":          {"int f(int a);\nint g(void) {}\n", []string{" g@2..2"}},
		"name on its line":     {"static int\nf(int a)\n{\n}\n", []string{" f@2..4"}},
		"old style":            {"int f(a, b)\n\tint a;\n\tchar *b;\n{\n}\n", []string{" f@1..5"}},
		"in parentheses":       {"API int (lua_f) (int a) {\n}\n", []string{" lua_f@1..2"}},
		"specialisation":       {"template <> int Box::put<a::Item>(const a::Item &i) {\n}\n", []string{" Box::put@1..2"}},
		"class of template":    {"int a::Box<b::Item>::put(int i) {\n}\n", []string{" a::Box::put@1..2"}},
		"struct returned":      {"struct s *f(struct s *p)\n{\n}\n", []string{" f@1..3"}},
		"returns a pointer":    {"int (*pick(int k))(int)\n{\n}\nstatic T *(*n::C::get(void))[4] {\n}\nint (*v)(int) = f(*g(1)), h(*i);\n", []string{" pick@1..3", " n::C::get@4..5"}},
		"attribute":            {"__attribute__((noinline)) int f(void) {\n}\n", []string{" f@1..2"}},
		"macro in front":       {"MACRO(x)\nint f(void) {\n}\n", []string{" MACRO@1|f@2..3"}},
		"initialised":          {"int a[] = { f(1), 2 };\nint g(void) { return 1; }\n", []string{" g@2..2"}},
		"struct":               {"struct s {\n\tint a;\n} x;\nvoid f() { }\n", []string{" f@4..4"}},
		"method":               {"namespace n {\nclass C : public B<int> {\n\tint f() const {\n\t}\n};\n}\n", []string{"n::C f@3..4"}},
		"qualified":            {"int n::C::f(int) const\n{\n}\n", []string{" n::C::f@1..3"}},
		"constructor":          {"C::C(int a) : b{a}, c(a) {\n\tx();\n}\nC::~C() {\n}\n", []string{" C::C@1..3", " C::~C@4..5"}},
		"operators":            {"bool operator==(A a, B b) {\n}\nstruct F { int operator()(int a) {} };\nC::operator bool() const { }\n", []string{" operator==@1..2", "F operator()@3..3", " C::operator bool@4..4"}},
		"template":             {"template <class T, class U = X<(1 > 0)>>\nT C<T>::f(U u)\n{\n}\n", []string{" C::f@2..4"}},
		"lambda":               {"void f() {\n\tsort(a, [&](int x, int y) {\n\t\treturn x;\n\t});\n}\n", []string{" f@1..5", "f operator()@2..4"}},
		"no lambda":            {"void f() {\n\ta[1] = 2; int b[] = {1}; [[maybe_unused]] int c{};\n\tdelete[] p;\n}\n", []string{" f@1..4"}},
		"attribute in front":   {"[[nodiscard]] int f() {\n}\n", []string{" f@1..2"}},
		"branches":             {"int f() {\n#if A\n\tif (a) {\n#else\n\tif (b) {\n#endif\n\t}\n}\nint g() {}\n", []string{" f@1..8", " g@9..9"}},
		"branches close":       {"int f() {\n\tx();\n#if A\n}\n#else\n\ty();\n}\n#endif\nint g() {}\n", []string{" f@1..7", " g@9..9"}},
		"directives in a row":  {"int f() {\n#if A\n#if B\n\ta {\n#endif\n#else\n\tb {\n#endif\n\t}\n}\nint g() {}\n", []string{" f@1..10", " g@11..11"}},
		"attribute of a class": {"namespace n __attribute__((x)) {\nint f() {}\n}\n", []string{"n f@2..2"}},
		"macro of a namespace": {"namespace n VISIBLE(default) {\nint f() {}\ninline namespace a::b VISIBLE(x) {\nint g() {}\n}\n}\n", []string{"n f@2..2", "n::a::b g@4..4"}},
		"array of a type":      {"int *f() { return new int[2]{1, 2}; }\n", []string{" f@1..1"}},
		"digraphs":             {"int f() <% int a<:2:>; %>\nint g() {}\n", []string{" f@1..1", " g@2..2"}},
		"noise":                {"// int a() {\n/* int b() { */ int f() { char c = '{'; s = \"}{\"; r = R\"x(}{)y\" )x\"; }\nint g() {}\n", []string{" f@2..2", " g@3..3"}},
		"number":               {"int f() { return 1'000'000; }\nint g() {}\n", []string{" f@1..1", " g@2..2"}},
		"macro that defines":   {"#define F(x) int x() { \\\n  return 1; }\nint g() {}\n", []string{" g@3..3"}},
		"extern C":             {"extern \"C\" {\nint f() {\n}\n}\n", []string{" f@2..3"}},
		"line":                 {"#line 40 \"g.y\"\nint f()\n{\n}\n", []string{" f@40..4"}},
		"CRLF":                 {"int f()\r\n{\r\n}\r\nint g() {\r\n}\r\n", []string{" f@1..3", " g@4..5"}},
		"end missing":          {"int f() {\n\tx();\n", []string{" f@1..3"}},
		"too much closed":      {"}}})) int f() {\n}\n", []string{" f@1..2"}},
	} {
		assert.Equal(t, c.want, found(c.text), name)
	}
}

func TestLines(t *testing.T) {
	hashes := func(text string) map[int32]uint64 {
		f, _ := Outline([]byte(text))
		require.Len(t, f, 1, text)
		lines := make(map[int32]uint64)
		for _, l := range f[0].Lines([]byte(text), 0) {
			lines[l.Offset] = l.Hash
		}
		return lines
	}
	want := hashes("int f(int a)\n{\n\tg(a, 1);\n\n\treturn a;\n}\n")
	assert.Len(t, want, 5)
	assert.NotContains(t, want, int32(3), "an empty line")
	for name, text := range map[string]string{
		"space":       "int f( int a )\n  {\n  g( a,1 ) ;\n\t\n\treturn\ta;\n  }\n",
		"comments":    "long f(int a) // this\n{ /* and\n*/ g(a, 1); // that\n// nothing\n\treturn a;\n}\n",
		"CRLF":        "int f(int a)\r\n{\r\n\tg(a, 1);\r\n\r\n\treturn a;\r\n}\r\n",
		"line number": "\n\n#line 7 \"x.y\"\nint f(int a)\n{\n#line 9 \"x.y\"\n\tg(a, 1);\n#line 11 \"x.y\"\n\treturn a;\n}\n",
	} {
		assert.Equal(t, want, hashes(text), name)
	}
	assert.NotEqual(t, want, hashes("int f(int a)\n{\n\tg(a, 2);\n\n\treturn a;\n}\n"))
	other := hashes("#line 7 \"x.y\"\nint f(int a)\n{\n#line 3 \"other.h\"\n\tg(a, 1);\n#line 11 \"x.y\"\n\treturn a;\n}\n")
	assert.NotContains(t, other, int32(2), "a line of another file")
	assert.Equal(t, want[4], other[4])
}

func FuzzFunctions(f *testing.F) {
	f.Add("int f(int a)\n{\n\treturn a;\n}\n")
	f.Add("#if A\nC::C() : a{1} {\n#else\n{[](){\n#endif\n}\n#line 3 \"x\"\ntemplate<class T> operator()(")
	f.Add("R\"(/*\\\n'")
	f.Add("template <class T, int N = (1 > 0), typename... A> class Box; template <class T> void f(T t, int (*g)(int) = {1, 2}, ...) {}")
	f.Fuzz(func(t *testing.T, text string) {
		functions, templates := Outline([]byte(text))
		for _, d := range templates {
			require.NotEmpty(t, d.Name)
			d.Parameters()
		}
		for _, fn := range functions {
			require.NotEmpty(t, fn.Names)
			require.LessOrEqual(t, fn.End, len(text))
			for i, n := range fn.Names {
				require.NotEmpty(t, n.Text)
				require.Less(t, n.Start, len(text))
				fn.ParameterList([]byte(text), n)
				seen := map[int32]bool{}
				for _, l := range fn.Lines([]byte(text), i) {
					require.NotZero(t, l.Hash)
					require.NotNil(t, l.Words)
					if fn.File == "" && !strings.Contains(text, "#") {
						require.False(t, seen[l.Offset], "two lines of one number")
						seen[l.Offset] = true
						require.GreaterOrEqual(t, l.Offset, int32(0))
					}
				}
			}
		}
	})
}

func TestTemplates(t *testing.T) {
	const text = `namespace a { inline namespace v1 {
template <class T, int N = (1 > 0), template <class, class...> class C = std::map, typename... Args> class Box;
template <> class Box<int> { int n; };
template <class T> class Box<T *> { template <typename U> void put(U u, std::size_t (*f)(int, int) = nullptr, ...) {} };
} }
template <class T>
class a::Box { friend class Other; };
template <class T> friend struct Box;
template <int I> int a::S::of(int) { return I; }
struct S { template <long N> S(int (&a)[N], const T *b = {1, 2}) {} template <class> friend class Box; };
void lost(
`
	functions, templates := Outline([]byte(text))
	var got []string
	for _, d := range templates {
		got = append(got, fmt.Sprintf("%s %s %v %q", d.Scope, d.Name, d.Class, d.Parameters()))
	}
	assert.Equal(t, []string{
		`a::v1 Box true [{"class T" ""} {"int N" "( 1 > 0 )"} {"template < class , class . . . > class C" "std : : map"} {"typename . . . Args" ""}]`,
		`a::v1::Box put false [{"typename U" ""}]`,
		`a::S of false [{"int I" ""}]`,
		`S S false [{"long N" ""}]`,
	}, got)
	var lists []string
	for _, f := range functions {
		list, ok := f.ParameterList([]byte(text), f.Names[0])
		lists = append(lists, fmt.Sprintf("%s %v %q", f.Names[0].Text, ok, list))
	}
	assert.Equal(t, []string{
		`put true [{"U u" ""} {"std : : size_t ( * f ) ( int , int )" "nullptr"} {". . ." ""}]`,
		`of true [{"int" ""}]`,
		`S true [{"int ( & a ) [ N ]" ""} {"const T * b" "{ 1 , 2 }"}]`,
	}, lists)
}

// The fingerprint (mark) of a line stays the same if a formatter moves the statement after a
// condition to the next line.
func TestMarksOfFormattedLines(t *testing.T) {
	mark := func(line string) Mark {
		f := Function{Names: []Name{{}}, End: len(line)}
		lines := f.Lines([]byte(line), 0)
		require.Len(t, lines, 1, line)
		return lines[0].Mark
	}
	for line, same := range map[string]string{
		"if (a) continue;":                    "if (a)",
		"if (!find (a)) return something;":    "if (!find (a))",
		"} else if (a > b) { ready = true; }": "} else if (a > b) {",
		"while (has (next)) count_them ();":   "while (has (next))",
		"else finished = true;":               "finished = true;",
		"return find (a);":                    "find (a);",
	} {
		assert.Equal(t, mark(same), mark(line), line)
	}
	assert.Equal(t, mark("for (;;)"), mark("for (;;) {"))
	assert.NotEqual(t, mark("break;"), mark("return;"))
	assert.Equal(t, mark("if (1) work ();"), mark("if (1)"))
	assert.Equal(t, mark("value = other;"), mark("int value = x;"), "the longest word")
}
