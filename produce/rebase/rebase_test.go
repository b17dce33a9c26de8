package rebase

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
	"github.com/go-afdo/afdo/profile"
)

// A text is a source with numbered places: "@3" at the end of a line makes it place 3 of the
// function that contains the line. The source itself is without these marks.
type text struct {
	source string
	places map[int]int // lines by number
}

func newText(marked string) *text {
	t := &text{places: make(map[int]int)}
	var lines []string
	shift := 1
	for i, line := range strings.Split(marked, "\n") {
		var number int
		if n, _ := fmt.Sscanf(line, "#line %d", &number); n == 1 {
			shift = number - i - 1
		}
		line, mark, ok := strings.Cut(line, " @")
		if ok {
			var n int
			fmt.Sscan(mark, &n)
			t.places[n] = i + shift
			if strings.HasSuffix(mark, "\r") {
				line += "\r"
			}
		}
		lines = append(lines, line)
	}
	t.source = strings.Join(lines, "\n")
	return t
}

func sources(name, text string) *Sources {
	s := new(Sources)
	s.AddFile(name, []byte(text))
	return s
}

// countsOf returns the counts of a symbol by line.
func countsOf(p *profile.Profile, path, name string) map[int]int {
	counts := make(map[int]int)
	for f := range p.NumUnits() {
		if p.UnitPath(profile.UnitRef(f)) != path {
			continue
		}
		if s, ok := p.FindSymbol(profile.UnitRef(f), name); ok && p.Function(s) != nil {
			for _, r := range p.Function(s).Records {
				counts[int(r.Line)] += int(r.Count)
			}
		}
	}
	return counts
}

const cart = `#include "cart.h"

static int price(const struct item *i, int vat)
{ @1
	int sum = i->net; @2

	if (vat) @3
		sum += sum * vat / 100; @4
	return sum; @5
} @6

int total(struct cart *c)
{
	int sum = 0; @11
	struct item *i;

	for (i = c->first; i; i = i->next) { @12
		sum += price(i, c->vat); @13
		if (sum > LIMIT) @14
			fail(c, "too much"); @15
		log_item(i); @16
	}
	c->sum = sum; @17
	return sum; @18
} @19
`

// TestEdits checks edits with a known result: the count of each numbered place in the old text must
// be at the same place in the new text, and must be dropped if the new text has no such place.
func TestEdits(t *testing.T) {
	replaced := func(pairs ...string) string {
		text := cart
		for i := 0; i < len(pairs); i += 2 {
			require.Contains(t, text, pairs[i])
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	renamed := map[string]string{}
	for name, c := range map[string]struct {
		text  string
		names map[string]string // of functions that have others
	}{
		"same":           {cart, renamed},
		"insert":         {replaced("int sum = 0; @11", "int sum = 0; @11\n\tint n = 0;", "log_item(i); @16", "n++;\n\n\t\tlog_item(i); @16"), renamed},
		"comment":        {replaced("\tc->sum", "\t/* done,\n\t   at last */\n\tc->sum"), renamed},
		"delete":         {replaced("\tif (vat) @3\n", "", "\t\tlog_item(i); @16\n", ""), renamed},
		"change in line": {replaced("sum += price(i, c->vat); @13", "sum += price(i, c->country->vat); @13"), renamed},
		"swap":           {replaced("\tint sum = i->net; @2\n\n\tif (vat) @3\n\t\tsum += sum * vat / 100; @4\n", "\tif (vat) @3\n\t\tsum += sum * vat / 100; @4\n\tint sum = i->net; @2\n"), renamed},
		"indent":         {replaced("\tif (vat) @3\n\t\tsum += sum * vat / 100; @4\n", "\tif (i->taxed) {\n\t\tif ( vat ) @3\n\t\t\tsum += sum*vat / 100; @4\n\t}\n"), renamed},
		"moved down":     {strings.Replace(cart, "#include", "#include <stdio.h>\n\nint other(void) { return 1; }\n\n#include", 1), renamed},
		"rename":         {strings.ReplaceAll(cart, "total(", "cart_total("), map[string]string{"total": "cart_total"}},
		"rename both":    {strings.ReplaceAll(strings.ReplaceAll(cart, "total(", "cart_total("), "price(", "item_price("), map[string]string{"total": "cart_total", "price": "item_price"}},
		"split": {replaced("\t\tif (sum > LIMIT) @14\n\t\t\tfail(c, \"too much\"); @15\n\t\tlog_item(i); @16\n", "\t\tlimit(c, sum);\n\t\tlog_item(i); @16\n",
			"int total(", "static void limit(struct cart *c, int sum)\n{\n\tif (sum > LIMIT)\n\t\tfail(c, \"too much\");\n}\n\nint total("), renamed},
		"parameters":   {strings.NewReplacer("const struct item *i, int vat", "int vat, const struct item *i", "price(i, c->vat)", "price(c->vat, i)").Replace(cart), renamed},
		"macro":        {replaced("int sum = 0; @11", "BEGIN_FUNCTION(total); int sum = 0; @11", "return sum; @18", "END_FUNCTION;\n\treturn sum; @18"), renamed},
		"branches":     {replaced("\tif (vat) @3\n", "#ifdef TAXED\n\tif (i->taxed) {\n#else\n\t{\n#endif\n\tif (vat) @3\n", "\treturn sum; @5", "\t}\n\treturn sum; @5"), renamed},
		"CRLF":         {strings.ReplaceAll(cart, "\n", "\r\n"), renamed},
		"line":         {replaced("int total", "#line 7 \"cart.c\"\nint total", "\tc->sum", "#line 107 \"cart.c\"\n\tc->sum"), renamed},
		"other order":  {cart[strings.Index(cart, "int total"):] + "\n" + cart[:strings.Index(cart, "int total")], renamed},
		"twice inside": {replaced("\t\tlog_item(i); @16\n", "\t\tlog_item(i); @16\n\t\tlog_item(i);\n"), renamed},
	} {
		check := func(t *testing.T) { checkEdit(t, newText(c.text), c.names) }
		t.Run(name, check)
	}
}

// checkEdit moves a profile of the original text to an edited text and checks the counts of each
// place.
func checkEdit(t *testing.T, edited *text, names map[string]string) {
	old := newText(cart)
	functions := map[string][2]int{"price": {1, 6}, "total": {11, 19}} // the places of each
	decl := func(text, name string) int {
		at := strings.Index(text, "int "+name+"(")
		require.GreaterOrEqual(t, at, 0, name)
		line := 1 + strings.Count(text[:at], "\n")
		if i := strings.Index(text[:at], "#line"); i >= 0 {
			line = 6 + strings.Count(text[i:at], "\n")
		}
		return line
	}
	p := profile.New()
	unit := p.AddUnit("src/cart.c")
	for name, places := range functions {
		var b profile.Body
		for n := places[0]; n <= places[1]; n++ {
			b.Count(uint32(old.places[n]-decl(old.source, name)), 0, uint64(100+n))
		}
		p.AddFunction(p.AddSymbol(unit, name), profile.Function{HeadCount: 3, Records: b.Records()})
	}
	q, _, err := Profile(p, sources("cart.c", old.source), sources("cart.c", edited.source))
	require.NoError(t, err)
	for name, places := range functions {
		newName := name
		if names[name] != "" {
			newName = names[name]
		}
		want := map[int]int{}
		for n := places[0]; n <= places[1]; n++ {
			if line := edited.places[n]; line > 0 {
				want[line-decl(edited.source, newName)] = 100 + n
			}
		}
		assert.Equal(t, want, countsOf(q, "src/cart.c", newName), name)
	}
}

// TestRandomEdits inserts, deletes and moves lines. Afterwards each count is on the line with the
// same text, or dropped if that is gone, and no two counts are on one line.
func TestRandomEdits(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		lines := make([]string, 5+rng.IntN(60))
		for i := range lines {
			lines[i] = randomLine(rng, i)
		}
		edited := slices.Clone(lines)
		for range rng.IntN(12) {
			at := rng.IntN(len(edited))
			switch rng.IntN(3) {
			case 0:
				edited = slices.Insert(edited, at, randomLine(rng, 1000+rng.IntN(1000)))
			case 1:
				edited = slices.Delete(edited, at, at+1)
			case 2:
				line := edited[at]
				edited = slices.Delete(edited, at, at+1)
				edited = slices.Insert(edited, rng.IntN(len(edited)+1), line)
			}
			if len(edited) == 0 {
				edited = []string{"\treturn;"}
			}
		}
		write := func(lines []string) string { return "int f(void)\n{\n" + strings.Join(lines, "\n") + "\n}\n" }
		checkRandom(t, lines, edited, sources("a.c", write(lines)), sources("a.c", write(edited)))
	}
}

// randomLine returns a line of code, a comment or an empty line. Lines of code with different n
// differ, except braces.
func randomLine(rng *rand.Rand, n int) string {
	switch rng.IntN(8) {
	case 0:
		return ""
	case 1:
		return "\t// of nothing"
	case 2:
		return "\tcheck(a);"
	default:
		return fmt.Sprintf("\tx[%d] = g%d(a + %d);", n, n, n%7)
	}
}

func checkRandom(t *testing.T, lines, edited []string, old, new *Sources) {
	const body = 2 // lines before the first
	p := profile.New()
	var b profile.Body
	for i, line := range lines {
		if strings.Contains(line, ";") {
			b.Count(uint32(i+body), 0, uint64(i)+1)
		}
	}
	b.Count(0, 0, 1000)
	p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "f"), profile.Function{Records: b.Records()})
	q, _, err := Profile(p, old, new)
	require.NoError(t, err)
	got := countsOf(q, "a.c", "f")
	assert.Equal(t, 1000, got[0])
	delete(got, 0)
	place := make(map[string]int)
	for i, line := range edited {
		place[line] = i + body
	}
	found := 0
	for line, count := range got {
		from, to := lines[count-1], edited[line-body]
		if strings.Contains(from, "x[") && place[from] > 0 {
			require.Equal(t, from, to, "%q", strings.Join(edited, "\n"))
		}
		found++
	}
	for i, line := range lines {
		if strings.Contains(line, "x[") && place[line] > 0 {
			require.Equal(t, i+1, got[place[line]], "line %d", i)
		}
	}
	require.LessOrEqual(t, found, len(edited))
}

// TestIdentity moves a profile to the same sources, which changes nothing.
func TestIdentity(t *testing.T) {
	p := profile.New()
	var b profile.Body
	unit := p.AddUnit("cart.c")
	price := p.AddSymbol(unit, "price")
	b.Count(65530, 7, 3) // before the declaration
	b.Count(500, 7, 3)   // behind the end
	b.Enter(6, 2, price)
	b.Count(2, 3, 9)
	b.Leave()
	p.AddFunction(p.AddSymbol(unit, "total"), profile.Function{HeadCount: 3, Timestamp: 9, Records: b.Records()})
	q, report, err := Profile(p, sources("cart.c", newText(cart).source), sources("cart.c", newText(cart).source))
	require.NoError(t, err)
	assert.Same(t, p, q)
	assert.Equal(t, report.Samples, report.Kept)
	for _, f := range report.Functions {
		assert.Equal(t, Unchanged, f.Outcome)
	}
}

// Counts before the declaration, such as those of macros, keep their line even if the function is
// edited.
func TestBeforeDeclaration(t *testing.T) {
	p := profile.New()
	var b profile.Body
	unit := p.AddUnit("cart.c")
	b.Count(65395, 0, 0)
	b.Count(65530, 7, 3)
	b.Count(3, 0, 5)
	p.AddFunction(p.AddSymbol(unit, "total"), profile.Function{HeadCount: 3, Records: b.Records()})
	edited := strings.Replace(cart, "int total(struct cart *c)\n{\n", "int total(struct cart *c)\n{\n\tcheck();\n", 1)
	q, report, err := Profile(p, sources("cart.c", newText(cart).source), sources("cart.c", newText(edited).source))
	require.NoError(t, err)
	assert.Equal(t, report.Samples, report.Kept)
	b.Reset()
	b.Count(65395, 0, 0)
	b.Count(65530, 7, 3)
	b.Count(4, 0, 5)
	total, _ := q.FindSymbol(q.AddUnit("cart.c"), "total")
	assert.Equal(t, b.Records(), q.Function(total).Records)
}

// TestInlined moves an inlined body: its counts move with the lines of the inlined function, which
// is in a header, and its call moves with the lines of the caller.
func TestInlined(t *testing.T) {
	const header = "static inline int twice(int a)\n{\n\tint b = add(a, a);\n\treturn b;\n}\n"
	const unit = "int f(int a)\n{\n\tlog(a);\n\treturn twice(a);\n}\nint g(int a)\n{\n\treturn twice(a) + 1;\n}\n"
	p := profile.New()
	twice := p.AddSymbol(p.AddUnit("/b/h.h"), "twice")
	var b profile.Body
	b.Enter(3, 4, twice)
	b.Count(2, 0, 10)
	b.Call(2, 0, p.AddSymbol(profile.UnknownUnit, "add"), 10)
	b.Count(3, 1, 11)
	b.Leave()
	f := p.AddSymbol(p.AddUnit("/b/u.c"), "f")
	p.AddFunction(f, profile.Function{Records: b.Records()})
	b.Reset()
	b.Enter(2, 0, twice)
	b.Count(3, 1, 7)
	b.Leave()
	p.AddFunction(p.AddSymbol(p.AddUnit("/b/u.c"), "g"), profile.Function{Records: b.Records()})

	old, new := sources("u.c", unit), sources("u.c", strings.NewReplacer("\tlog", "\tint c;\n\tlog", "twice(a) + 1", "other()").Replace(unit))
	old.AddFile("h.h", []byte(header))
	new.AddFile("h.h", []byte(strings.Replace(header, "\treturn", "\tcheck(b);\n\treturn", 1)))
	q, report, err := Profile(p, old, new)
	require.NoError(t, err)

	f, _ = q.FindSymbol(q.AddUnit("/b/u.c"), "f")
	twice, _ = q.FindSymbol(q.AddUnit("/b/h.h"), "twice")
	add, _ := q.FindSymbol(profile.UnknownUnit, "add")
	b.Reset()
	b.Enter(4, 4, twice)
	b.Count(2, 0, 10)
	b.Call(2, 0, add, 10)
	b.Count(4, 1, 11)
	b.Leave()
	assert.Equal(t, b.Records(), q.Function(f).Records)
	assert.Empty(t, countsOf(q, "/b/u.c", "g"))
	assert.Equal(t, "twice", report.Functions[0].Symbol)
	assert.Equal(t, Function{"/b/h.h", "twice", Moved, "/b/h.h", "twice", 28, 28}, report.Functions[0])
}

// TestOverloads moves a profile of several functions with one name. Their classes, parameters and
// lines distinguish them.
func TestOverloads(t *testing.T) {
	const old = `struct A { int get(int a) {
	return one(a);
} };
struct B { int get(int a) {
	return two(a);
}
int get(const char *s) {
	return three(s);
} };
`
	moved := "\n" + strings.Replace(old, "\treturn three", "\tlog(s);\n\treturn three", 1)
	p := profile.New()
	u := p.AddUnit("a.cc")
	for name, n := range map[string]uint64{"_ZN1A3getEi": 1, "_ZN1B3getEi": 2, "_ZN1B3getEPKc": 3} {
		var b profile.Body
		b.Count(1, 0, n)
		p.AddFunction(p.AddSymbol(u, name), profile.Function{Records: b.Records()})
	}
	q, _, err := Profile(p, sources("a.cc", old), sources("a.cc", moved))
	require.NoError(t, err)
	assert.Equal(t, map[int]int{1: 1}, countsOf(q, "a.cc", "_ZN1A3getEi"))
	assert.Equal(t, map[int]int{1: 2}, countsOf(q, "a.cc", "_ZN1B3getEi"))
	assert.Equal(t, map[int]int{2: 3}, countsOf(q, "a.cc", "_ZN1B3getEPKc"))
}

// TestOverloadsInOrder moves a profile of functions with one name that differ only in the order of
// their parameters.
func TestOverloadsInOrder(t *testing.T) {
	const old = `inline Vec cross(const Vec &a, float s)
{
	return Vec(a.y * s);
}
inline Vec cross(float s, const Vec &a)
{
	return Vec(s * a.y);
}
`
	moved := strings.Replace(strings.Replace(old, "{", "// why\n{\n", 1), "s * a.y", "- s * a.y", 1)
	p := profile.New()
	u := p.AddUnit("v.h")
	for name, n := range map[string]uint64{"_Z5crossRK3Vecf": 1, "_Z5crossfRK3Vec": 2} {
		var b profile.Body
		b.Count(2, 0, n)
		p.AddFunction(p.AddSymbol(u, name), profile.Function{Records: b.Records()})
	}
	q, _, err := Profile(p, sources("v.h", old), sources("v.h", moved))
	require.NoError(t, err)
	assert.Equal(t, map[int]int{4: 1}, countsOf(q, "v.h", "_Z5crossRK3Vecf"))
	assert.Equal(t, map[int]int{2: 2}, countsOf(q, "v.h", "_Z5crossfRK3Vec"))
}

// TestOtherFile moves a function to another file.
func TestOtherFile(t *testing.T) {
	total := strings.Index(cart, "int total")
	old := sources("src/cart.c", newText(cart).source)
	new := sources("src/cart.c", newText(cart[:total]).source)
	new.AddFile("src/total.c", []byte(newText(cart[total:]).source))
	p := profile.New()
	u := p.AddUnit("/build/src/cart.c")
	for name, n := range map[string]uint64{"price": 1, "total": 2} {
		var b profile.Body
		b.Count(2, 0, n)
		p.AddFunction(p.AddSymbol(u, name), profile.Function{Records: b.Records()})
	}
	q, _, err := Profile(p, old, new)
	require.NoError(t, err)
	assert.Equal(t, map[int]int{2: 1}, countsOf(q, "/build/src/cart.c", "price"))
	assert.Equal(t, map[int]int{2: 2}, countsOf(q, "/build/src/total.c", "total"))
}

// TestDeclarations adds declarations as from a binary. They determine which function a symbol is,
// whatever the text looks like, and a function with a changed signature keeps its counts.
func TestDeclarations(t *testing.T) {
	const text = "DEFINE(get)\nint C<T>::get(int a)\n{\n\treturn one(a);\n}\n"
	old, new := sources("a.cc", text), sources("a.cc", "\n"+strings.Replace(text, "int a)\n{", "long a)\n{\n\tlog(a);", 1))
	old.Declare([]Declaration{{"_ZN1CIiE3getEi", "/b/a.cc", 2}})
	new.Declare([]Declaration{{"_ZN1CIiE3getEl", "/b/a.cc", 3}, {"_ZN1CIcE3getEl", "/b/a.cc", 3}, {"_Z4gonev", "/b/other.cc", 7}})
	p := profile.New()
	var b profile.Body
	b.Count(2, 0, 5)
	p.AddFunction(p.AddSymbol(p.AddUnit("/b/a.cc"), "_ZN1CIiE3getEi"), profile.Function{Records: b.Records()})
	q, report, err := Profile(p, old, new)
	require.NoError(t, err)
	assert.Equal(t, map[int]int{3: 5}, countsOf(q, "/b/a.cc", "_ZN1CIiE3getEl"))
	assert.Equal(t, Renamed, report.Functions[0].Outcome)
}

func TestNothing(t *testing.T) {
	p := profile.New()
	var b profile.Body
	b.Count(2, 0, 5)
	p.AddFunction(p.AddSymbol(p.AddUnit("cart.c"), "total"), profile.Function{Records: b.Records()})
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, s := range map[string][2]*Sources{
		"no old ones":    {{}, sources("cart.c", newText(cart).source)},
		"no new ones":    {sources("cart.c", newText(cart).source), {}},
		"no text":        {sources("cart.c", string(noise)), sources("cart.c", string(noise))},
		"another file":   {sources("trolley.c", newText(cart).source), sources("cart.c", newText(cart).source)},
		"other contents": {sources("cart.c", newText(cart).source), sources("cart.c", "int other(void)\n{\n\treturn 1;\n}\n")},
	} {
		q, report, err := Profile(p, s[0], s[1])
		assert.ErrorIs(t, err, ErrNothing, name)
		assert.Nil(t, q, name)
		assert.Len(t, report.Functions, 1, name)
	}
}

// TestSpelledParameters checks the words in parameters that spell finds in symbols, including const
// methods and instances of templates.
func TestSpelledParameters(t *testing.T) {
	for _, symbol := range []string{
		"_ZN4Cart5totalERKN4shop4ItemE", "_ZNK4Cart5totalERKN4shop4ItemE", "_ZNK4Cart5totalIN4shop4ItemEEEiRKT_", "_ZNKR4Cart5totalERKN4shop4ItemE",
	} {
		assert.ElementsMatch(t, outline.Words([]byte("shop::Item const&")), spell(symbol).params, symbol)
	}
}

// TestLocalNames checks that a function that is local to its unit keeps its mangled symbol,
// although debug info only has its unqualified name.
func TestLocalNames(t *testing.T) {
	const symbol = "_ZN4shop12_GLOBAL__N_15totalEi"
	c := change{use: use{symbol: symbol}, spelled: spell(symbol), new: &function{symbol: "total"}}
	c.new.name.Text = "total"
	assert.Equal(t, symbol, c.renamed())
	c.new.symbol, c.new.name.Text = "sum", "sum"
	assert.Equal(t, "_ZN4shop12_GLOBAL__N_13sumEi", c.renamed())
}

// AddFolder reads files that sources include, whatever their names are, and ignores other files
// without a source's extension.
func TestFolderWithIncludedFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/a.c":       "#if A\n #  include \"../parts/find.ch\" // of all\n#endif\nint a(void) { return find(1); }",
		"parts/find.ch": "#include<parts/more>\nint find(int n) { return n; }", "parts/more": "int more(void) { return 2; }",
		"parts/page.js": "function page(a) { return a }", "notes.txt": "#include \"page.js\"",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	var s Sources
	require.NoError(t, s.AddFolder(dir))
	assert.ElementsMatch(t, []string{"a", "find", "more"}, slices.Collect(maps.Keys(s.byName)))
}

// AddFolder skips folders that are marked as a cache, and hidden folders.
func TestFolderWithoutCaches(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"src/a.c": "int a(void) { return 1; }", "copy/src/a.c": "int a(void) { return 2; }", ".git/src/b.c": "int b(void) { return 3; }",
		"copy/CACHEDIR.TAG": cacheTag + "\n", "lib/c.c": "int c(void) { return 4; }", "lib/CACHEDIR.TAG": "of another kind",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	var s Sources
	require.NoError(t, s.AddFolder(dir))
	var paths []string
	for _, f := range s.files {
		paths = append(paths, f.path)
	}
	assert.Equal(t, []string{"lib/c.c", "src/a.c"}, paths)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "CACHEDIR.TAG"), []byte(cacheTag), 0o666))
	require.NoError(t, s.AddFolder(dir), "which was asked for itself")
	assert.Len(t, s.files, 4)
}
