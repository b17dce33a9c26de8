package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// offlineDump is a shortened dump of GCC 16. In it, main calls outer in line 3, and outer contains
// small, inlined in line 2. The profile has samples of small under its name in debug info, and also
// of a copy inlined in line 7, where the dump has no call.
const offlineDump = `
main is defined in node int main(int, char**)/7
Node int other(int)/6 not in auto profile (_Z5otheri neither other)
Adding dwarf->symbol rename small -> _ZL5smalli
_ZL5smalli is defined in node int small(int)/5
_Z5outeri is defined in node int outer(int)/4

Matching gimple function int main(int, char**)/7 with auto profile: main
    0        arg argc
 basic block 2
      1             10 # DEBUG BEGIN_STMT
      2.1     no info  x = 3;
      3        inlined y = outer (x);
      4             20 return y;
Removing unmatched count 9:5

Matching gimple function int outer(int)/4 with auto profile: main:3 _Z5outeri
      1             10 x = 3;
      2        inlined small (x);
      5             10 return x;

Matching gimple function int small(int)/5 with auto profile: _Z5outeri:2 main:3 _ZL5smalli
      1             40 x = 3;
`

// offlineProfile returns the profile that the compile of offlineDump has read.
func offlineProfile() *profile.Profile {
	p := profile.New()
	var b profile.Body
	count := func(line, discriminator uint32, n uint64) { b.Count(line, discriminator, n) }
	count(1, 0, 1000)
	count(0, 0, 100) // where main begins
	count(9, 0, 100) // and ends
	count(2, 1, 50)  // a statement about which GCC knows nothing
	count(3, 4, 7)   // a discriminator that there is not
	b.Enter(3, 0, p.AddSymbol(0, "_Z5outeri"))
	b.Enter(2, 0, p.AddSymbol(0, "small"))
	count(1, 0, 2000)
	b.Leave()
	b.Enter(7, 0, p.AddSymbol(0, "small"))
	count(1, 0, 30)
	b.Leave()
	b.Leave()
	b.Enter(3, 0, p.AddSymbol(0, "_Z3wayv"))
	count(1, 0, 600)
	b.Leave()
	p.AddFunction(p.AddSymbol(0, "main"), profile.Function{Records: b.Records()})
	return p
}

func offlineCode(t *testing.T) *Code {
	c := &Code{Name: "a.cc", defined: make(map[string]bool)}
	require.NoError(t, c.readOffline(strings.NewReader(offlineDump)))
	return c
}

func TestOfflineDump(t *testing.T) {
	e := New(offlineProfile())
	e.Add(offlineCode(t))
	r := e.Report()
	assert.Equal(t, map[Reason]uint64{Found: 3000, Border: 200, NoStatement: 57, Inlined: 30, Nowhere: 600}, r.Reasons)
	assert.Equal(t, uint64(3887), r.Counts)
	assert.Equal(t, uint64(3000), r.Found)
	var names []string
	for _, f := range r.Functions {
		names = append(names, f.Name+": "+string(f.Reason))
	}
	assert.Equal(t, []string{"_Z3wayv: compiled nowhere", "main: no statement", "small: inlined otherwise"}, names)

	assert.False(t, slices.ContainsFunc(r.Functions, func(f Function) bool { return f.EntryUsed }), "there are no head counts")

	part := e.ReportPart()
	assert.Equal(t, uint64(3287), part.Counts)
	assert.Equal(t, uint64(600), part.Elsewhere)
}

// A compiler may use the head count of a function whose counts are all lost.
func TestEntryUsed(t *testing.T) {
	for head, want := range map[uint64]bool{0: false, 3: true} {
		p := profile.New()
		var b profile.Body
		b.Count(9, 0, 100)
		p.AddFunction(p.AddSymbol(0, "main"), profile.Function{HeadCount: head, Records: b.Records()})
		c := offlineCode(t)
		c.Compiler = "GCC 16"
		e := New(p)
		e.Add(c)
		r := e.Report()
		assert.Zero(t, r.Found)
		assert.Equal(t, want, r.Functions[0].EntryUsed)
	}
}

func TestFaultyUnits(t *testing.T) {
	good, bad := offlineCode(t), offlineCode(t)
	bad.Unprofiled()
	e := New(offlineProfile())
	e.Add(bad)
	r := e.Report()
	assert.Zero(t, r.Found)
	assert.Equal(t, uint64(3287), r.Reasons[Unprofiled])
	assert.Equal(t, Unprofiled, r.Units[0].Reason)
	e.Add(good)
	assert.Equal(t, uint64(3000), e.Report().Found, "the best of several compiles counts")
}

// If the compiles have no function of the profile, the report is about the whole profile.
func TestAnotherProgram(t *testing.T) {
	p := profile.New()
	var b profile.Body
	b.Count(1, 0, 5)
	p.AddFunction(p.AddSymbol(0, "f"), profile.Function{Records: b.Records()})
	e := New(p)
	e.Add(offlineCode(t))
	r := e.ReportPart()
	assert.Equal(t, uint64(5), r.Reasons[Nowhere])
	assert.Equal(t, uint64(5), r.Counts)
}

// linesDump is a dump of GCC 12 after it has inlined letter into inside, but not inside into main.
const linesDump = `
int main ()
{
  [words.c:42:2] # DEBUG BEGIN_STMT
  [words.c:46:16] _34 = inside (text_29, at_32, n_53);
}


int * n::box<int>::inside (const char * text, size_t at)
{
;;   starting at line 26
  [words.c:20:46] c.11_11 = (unsigned char) _2;
  [words.c:29:47 discrim 3] if (_3 < size_12(D))
}
`

func TestLinesDump(t *testing.T) {
	c := &Code{declared: map[string]declaration{
		"main": {"main", "/src/words.c", 40}, "_ZN1n3boxIiE6insideEv": {"inside", "/src/words.c", 25},
		"letter": {"letter", "/src/words.c", 20},
	}}
	require.NoError(t, c.readLines(strings.NewReader(linesDump)))
	c.shapes = []map[string]*shape{{"main": {first: 0, last: 12}}}
	inside := frame{"_ZN1n3boxIiE6insideEv", place{1, 0}, false}
	for _, test := range []struct {
		frames []frame
		want   Reason
	}{
		{[]frame{{"main", place{2, 0}, false}}, Found},
		{[]frame{{"main", place{3, 0}, false}}, NoStatement},
		{[]frame{{"main", place{12, 0}, false}}, Border},
		{[]frame{{"main", place{0, 0}, false}}, Border},
		{[]frame{{inside.name, place{4, 3}, false}}, Found},
		{[]frame{{inside.name, place{4, 0}, false}}, NoStatement},
		{[]frame{inside, {"letter", place{0, 0}, false}}, Found},
		{[]frame{{"main", place{6, 0}, false}, {"letter", place{0, 0}, false}}, Inlined},
		{[]frame{{"gone", place{1, 0}, false}}, Nowhere},
	} {
		assert.Equal(t, test.want, c.reasonFor(test.frames), "%v", test.frames)
	}
}

// The names of functions are found in dumps of Ada, Fortran and C++, which spell them differently
// than debug info. In C++, parentheses may come before the name.
func TestLinesOfOtherLanguages(t *testing.T) {
	for symbol, test := range map[string]struct{ name, header string }{
		"__grid_MOD_smooth":  {"smooth", "void smooth (real(kind=4)[0:D.4258] * restrict a, integer(kind=4) & restrict n)"},
		"MAIN__":             {"p", "void p ()"},
		"_Z4picki":           {"pick", "int (*<T367f>) (int) pick (int k)"},
		"_Z4callPFiiE":       {"call", "int call (int (*<T36a>) (int) f)"},
		"fib_":               {"fib", "integer(kind=4) fib (integer(kind=4) & restrict n)"},
		"stack__push":        {"stack__push", "void stack.push (integer x)"},
		"_D3mod2dd1S1gMFiZi": {"g", "int g (struct S & this, int n)"},
		"main.T.add":         {"main.T.add", "int main.T.add (struct T * t, int k)"},
		"main._omp_fn.0":     {"main._omp_fn.0", "void main._omp_fn.0 (struct .omp_data_s.1 & restrict .omp_data_i)"},
	} {
		c := &Code{declared: map[string]declaration{symbol: {test.name, "/src/a", 1}}}
		require.NoError(t, c.readLines(strings.NewReader(test.header+"\n{\n  [a:3:7] _1 = _2 + 1;\n")))
		assert.Equal(t, Found, c.reasonFor([]frame{{symbol, place{2, 0}, false}}), symbol)
		assert.Equal(t, NoStatement, c.reasonFor([]frame{{symbol, place{3, 0}, false}}), symbol)
	}
}

// GCC 12 uses the last count of a line for the whole line. It uses no count of a function that was
// inlined in a call with a discriminator.
func TestBlocksOfALine(t *testing.T) {
	p := profile.New()
	letter := p.AddSymbol(0, "letter")
	var b profile.Body
	b.Count(2, 0, 1)
	b.Count(2, 1, 20)
	b.Count(2, 4, 300)
	b.Enter(2, 0, letter)
	b.Count(2, 0, 4000)
	b.Leave()
	b.Enter(2, 1, letter)
	b.Count(2, 0, 50000)
	b.Leave()
	p.AddFunction(p.AddSymbol(0, "work"), profile.Function{Records: b.Records()})
	for noBlocks, want := range map[bool]map[Reason]uint64{
		true: {Found: 4300, OneBlock: 50021}, false: {Found: 54001, NoStatement: 320},
	} {
		c := &Code{noBlocks: noBlocks, lines: make(map[site]bool), anywhere: make(map[line]bool),
			declared: map[string]declaration{"work": {File: "/src/words.c", Line: 40}, "letter": {File: "/src/words.c", Line: 20}}}
		c.addLine("work", "words.c", place{42, 0})
		c.addLine("work", "words.c", place{22, 0})
		e := New(p)
		e.Add(c)
		assert.Equal(t, want, e.Report().Reasons)
	}
}

const remarks = `--- !Analysis
Pass:            sample-profile-impl
Name:            AppliedSamples
DebugLoc:        { File: 'src/table.c', Line: 119, Column: 28 }
Function:        _Z5tablev
Args:
  - String:          'Applied '
  - NumSamples:      '2048'
  - LineOffset:      '3'
  - String:          .
  - Discriminator:   '1'
...
--- !Passed
Pass:            sample-profile-inline
Name:            Inlined
DebugLoc:        { File: src/table.c, Line: 120, Column: 3 }
Function:        _Z5tablev
...
--- !Analysis
Pass:            sample-profile-impl
Name:            AppliedSamples
DebugLoc:        { File: '/a/folder/whose/name/is/long/it''s, Line: 3/table.c', 
                   Line: 121, Column: 3 }
Function:        '_Z5tablev'
Args:
  - NumSamples:      '7'
    DebugLoc:        { File: other.c, Line: 9, Column: 0 }
...
--- !Analysis
Name:            AppliedSamples
DebugLoc:        { File: "src/\xE4.c", Line: 4, 
                   Column: 3 }
Function:        main
...
`

func TestRemarks(t *testing.T) {
	c := new(Code)
	require.NoError(t, c.readRemarks(strings.NewReader(remarks)))
	assert.Equal(t, map[site]bool{
		{"table", line{"table.c", place{119, 1}}}: true,
		{"table", line{"table.c", place{121, 0}}}: true,
		{"main", line{"\xe4.c", place{4, 0}}}:     true,
	}, c.lines)
}

func TestPlaceOf(t *testing.T) {
	for line, want := range map[uint32]int{3: 3, 65535: -1, 70000: 70000} {
		assert.Equal(t, place{want, 2}, placeOf(&profile.Record{Line: line, Discriminator: 2}))
	}
}

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]place{"3": {3, 0}, "-2": {-2, 0}, "3.17": {3, 17}} {
		at, ok := parsePlace(text)
		assert.True(t, ok)
		assert.Equal(t, want, at)
		assert.Equal(t, text, at.String())
	}
	at, ok := parsePlace("65501.1")
	assert.True(t, ok)
	assert.Equal(t, place{-35, 1}, at, "a line before the declaration")
	c := &Code{plain: map[string]string{}}
	assert.Equal(t, "loop:-34 mix", c.plainPath("loop:65502 mix"))
	_, ok = parsePlace("x")
	assert.False(t, ok)
	assert.Equal(t, place{-1, 2}, placeOf(&profile.Record{Line: 1<<16 - 1, Discriminator: 2}))
}

func shapeOf(alone bool, lines ...int) *shape {
	s := &shape{alone: alone}
	for _, l := range lines {
		s.add(l)
	}
	return s
}

func TestShapes(t *testing.T) {
	was := shapeOf(true, 0, 1, 2, 3, 5, 8)
	moved := func(s *shape, callee string, line int) *shape { s.addCall(callee, line); return s }
	for what, test := range map[string]struct {
		was, now *shape
		want     Reason
	}{
		"same":                         {was, shapeOf(true, 0, 1, 2, 3, 5, 8), Found},
		"a line without code":          {was, shapeOf(true, 0, 1, 3, 5, 8), Found},
		"three lines in the middle":    {was, shapeOf(true, 0, 1, 2, 3, 4, 5, 6, 8, 11), Edited},
		"a line less":                  {was, shapeOf(true, 0, 1, 2, 4, 7), Edited},
		"two lines before the name":    {was, shapeOf(true, 2, 3, 4, 5, 7, 10), Declared},
		"only a part of it, inlined":   {shapeOf(false, 1, 2, 3), was, Found},
		"another line of a call":       {moved(shapeOf(true, 0, 1, 4, 5), "f", 4), moved(shapeOf(true, 0, 1, 4, 5), "f", 1), Edited},
		"the same line of a call":      {moved(shapeOf(true, 0, 1, 4), "f", 4), moved(shapeOf(true, 0, 1, 4), "f", 4), Found},
		"too short to have a shape":    {shapeOf(true, 0, 1), shapeOf(true, 0, 3), Found},
		"lines of an inlined function": {shapeOf(false, 1, 2, 3, 4, 6), shapeOf(true, 0, 1, 2, 3, 7, 9), Edited},
	} {
		assert.Equal(t, test.want, test.was.change(test.now), what)
	}
}

// A static function is not taken for the function of the same name in another file. Only if the
// profile's file is not compiled, the function may have moved to the other file.
func TestNamesakes(t *testing.T) {
	p := profile.New()
	var b profile.Body
	b.Count(2, 0, 100)
	b.Count(5, 0, 10)
	p.AddFunction(p.AddSymbol(p.AddUnit("/src/html.c"), "render"), profile.Function{Records: b.Records()})
	code := func(name string, at int) *Code {
		c := &Code{Name: name, source: "/src/" + name, declared: map[string]declaration{"render": {"render", "/src/" + name, 20}}, lines: make(map[site]bool), anywhere: make(map[line]bool)}
		c.addLine("render", name, place{at, 0})
		return c
	}
	html, xml := code("html.c", 22), code("xml.c", 25)
	e := New(p)
	e.Add(xml)
	r := e.ReportPart()
	assert.Equal(t, Tally{110, 10, map[Reason]uint64{Found: 10, NoStatement: 100}}, r.Units[0].Tally)
	e.Add(html)
	r = e.ReportPart()
	assert.Zero(t, r.Units[0].Counts)
	assert.Equal(t, r.Tally, r.Units[1].Tally)
	assert.Equal(t, Tally{110, 100, map[Reason]uint64{Found: 100, NoStatement: 10}}, r.Units[1].Tally)
}
