package rebase

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

// counted returns a profile of a function f in a.c. Line n after the opening brace has count n+1 if
// it is a line of code.
func counted(lines []string) *profile.Profile {
	p := profile.New()
	var b profile.Body
	for i, line := range lines {
		if strings.Contains(line, ";") {
			b.Count(uint32(i+2), 0, uint64(i)+1)
		}
	}
	p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "f"), profile.Function{HeadCount: 1, Records: b.Records()})
	return p
}

func functionOf(lines []string) *Sources {
	return sources("a.c", "int f(void)\n{\n"+strings.Join(lines, "\n")+"\n}\n")
}

// declaredInA returns the declaration of f, in a.c.
func declaredInA(_, symbol string) (Declaration, bool) {
	return Declaration{Symbol: symbol, File: "a.c", Line: 1}, true
}

// TestRandomEditsOfMarks inserts and deletes lines of a source whose old text is unknown. The line
// fingerprints (marks) in the profile suffice to move nearly all counts to the line with the same
// text, and no two counts to one line. An unchanged function stays as it is.
func TestRandomEditsOfMarks(t *testing.T) {
	right, all := 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 9))
		lines := make([]string, 10+rng.IntN(80))
		for i := range lines {
			lines[i] = fmt.Sprintf("\tvalue%d = compute%d(a);", rng.IntN(1000), rng.IntN(1000))
			if rng.IntN(6) == 0 {
				lines[i] = "\t// of nothing"
			}
		}
		p := counted(lines)
		if p.Function(0) == nil || len(p.Function(0).Records) == 0 {
			continue
		}
		functions, known := functionOf(lines).Remember(p, declaredInA)
		require.Equal(t, []int{1, 1}, []int{functions, known})
		same, report, err := Profile(p, nil, functionOf(lines))
		require.NoError(t, err)
		require.Same(t, p, same)
		require.Equal(t, Unchanged, report.Functions[0].Outcome)

		edited := slices.Clone(lines)
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(edited))
			if rng.IntN(3) == 0 {
				edited = slices.Delete(edited, at, at+1)
			} else {
				edited = slices.Insert(edited, at, fmt.Sprintf("\tinserted%d = more%d(b);", rng.IntN(1000), rng.IntN(1000)))
			}
		}
		q, _, err := Profile(p, nil, functionOf(edited))
		require.NoError(t, err)
		seen := make(map[int]bool)
		for line, count := range countsOf(q, "a.c", "f") {
			require.False(t, seen[count], "a count at two lines, or two at one")
			seen[count] = true
			all++
			if edited[line-2] == lines[count-1] {
				right++
			}
		}
		back, _, err := Profile(q, nil, functionOf(edited))
		require.NoError(t, err)
		require.Same(t, q, back, "it remembers the new sources")
	}
	assert.Greater(t, float64(right), 0.97*float64(all), "%d of %d", right, all)
}

// The line fingerprints (marks) of a function are not used if they say that lines with samples have
// no code.
func TestMarksThatContradict(t *testing.T) {
	lines := []string{"\ta();", "\tb();", "\tc();"}
	p := counted(lines)
	_, _, err := Profile(p, nil, functionOf(lines))
	require.ErrorIs(t, err, ErrNoSources)
	p.SetMarks(0, profile.Marks{5, 0, 0, 0, 0, 5})
	_, report, err := Profile(p, nil, functionOf(lines))
	require.ErrorIs(t, err, ErrNothing)
	assert.Equal(t, Unknown, report.Functions[0].Outcome)
	p.SetMarks(0, profile.Marks{})
	_, _, err = Profile(p, nil, functionOf(lines))
	require.ErrorIs(t, err, ErrNothing, "samples of several states of the sources")
}

// TestRememberRefuses checks functions for which Remember must store no line fingerprints (marks).
func TestRememberRefuses(t *testing.T) {
	lines := []string{"\ta();", "\tb();", "\tc();"}
	for name, c := range map[string]struct {
		text     string
		declared Declaration
	}{
		"no such file":    {"int f(void)\n{\n\ta();\n\tb();\n\tc();\n}\n", Declaration{"f", "b.c", 1}},
		"no such line":    {"int f(void)\n{\n\ta();\n\tb();\n\tc();\n}\n", Declaration{"f", "a.c", 2}},
		"a macro's name":  {"DEFINE(f)\n{\n\ta();\n\tb();\n\tc();\n}\n", Declaration{"f", "a.c", 1}},
		"not these lines": {"int f(void)\n{\n\n\n\n}\n", Declaration{"f", "a.c", 1}},
		"no text":         {"\x00\xff\x00f(", Declaration{"f", "a.c", 1}},
	} {
		p := counted(lines)
		_, known := sources("a.c", c.text).Remember(p, func(string, string) (Declaration, bool) { return c.declared, true })
		assert.Zero(t, known, name)
		assert.False(t, p.HasMarks(), name)
	}
}

// TestUnchangedFile moves two functions whose lines have the same fingerprints (marks). If the hash
// of its file is unchanged, a function keeps its records exactly. A function of a changed file is
// moved. The new profile has marks of both.
func TestUnchangedFile(t *testing.T) {
	const twice = "#if A\nint f(void)\n{\n\t// of nothing\n\ta();\n\tb();\n\tc();\n}\n#else\nint f(void)\n{\n\ta();\n\tb();\n\tc();\n}\n#endif\n"
	const other = "int g(void)\n{\n\tfirst();\n\tsecond();\n\tthird();\n}\n"
	lines := []string{"\ta();", "\tb();", "\tc();"}
	p := counted(lines)
	var b profile.Body
	b.Count(2, 0, 7)
	g := p.AddSymbol(p.AddUnit("b.c"), "g")
	p.AddFunction(g, profile.Function{Records: b.Records()})
	both := func(a, b string) *Sources {
		s := sources("a.c", a)
		s.AddFile("b.c", []byte(b))
		return s
	}
	_, known := both(twice, other).Remember(p, func(_, symbol string) (Declaration, bool) {
		if symbol == "g" {
			return Declaration{symbol, "b.c", 1}, true
		}
		return Declaration{symbol, "a.c", 10}, true
	})
	require.Equal(t, 2, known)

	same, report, err := Profile(p, nil, both(twice, other))
	require.NoError(t, err)
	assert.Same(t, p, same)
	assert.Equal(t, Unchanged, report.Functions[0].Outcome)

	edited := both(twice, strings.Replace(other, "\tfirst", "\n\tzeroth();\n\tfirst", 1))
	q, report, err := Profile(p, nil, edited)
	require.NoError(t, err)
	assert.Equal(t, countsOf(p, "a.c", "f"), countsOf(q, "a.c", "f"))
	assert.Equal(t, map[int]int{4: 7}, countsOf(q, "b.c", "g"))
	assert.Equal(t, []Outcome{Moved, Unchanged}, []Outcome{report.Functions[0].Outcome, report.Functions[1].Outcome})
	again, _, err := Profile(q, nil, edited)
	require.NoError(t, err)
	assert.Same(t, q, again, "it remembers both files")

	q, _, err = Profile(p, nil, both("\n"+twice, other))
	require.NoError(t, err)
	assert.NotEqual(t, countsOf(p, "a.c", "f"), countsOf(q, "a.c", "f"), "the marks alone do not tell")
}

// Remember stores no line fingerprints (marks) for functions that together have at most a
// thousandth of the samples, wherever they are inlined.
func TestRareFunctions(t *testing.T) {
	const text = "int hot(void)\n{\n\ta();\n}\nint outer(void)\n{\n\thot();\n}\nint cold(void)\n{\n\ta();\n}\nint colder(void)\n{\n\ta();\n}\nint never(void)\n{\n\ta();\n}\n"
	for name, c := range map[string]struct {
		cold, colder uint64
		known        []string
	}{
		"both rare":       {7, 3, []string{"hot", "outer"}},
		"together no":     {8, 3, []string{"cold", "hot", "outer"}},
		"one is not":      {11, 3, []string{"cold", "hot", "outer"}},
		"none":            {12, 11, []string{"cold", "colder", "hot", "outer"}},
		"more than there": {math.MaxUint64, 3, []string{"cold"}},
	} {
		p := profile.New()
		unit := p.AddUnit("a.c")
		add := func(symbol string, count uint64) {
			var b profile.Body
			b.Count(2, 0, count)
			p.AddFunction(p.AddSymbol(unit, symbol), profile.Function{Records: b.Records()})
		}
		var b profile.Body
		b.Enter(2, 0, p.AddSymbol(unit, "hot"))
		b.Count(2, 0, 10_000)
		b.Leave()
		p.AddFunction(p.AddSymbol(unit, "outer"), profile.Function{Records: b.Records()})
		add("cold", c.cold)
		add("colder", c.colder)
		add("never", 0)
		lines := map[string]int{"hot": 1, "outer": 5, "cold": 9, "colder": 13, "never": 17}
		functions, known := sources("a.c", text).Remember(p, func(_, symbol string) (Declaration, bool) {
			return Declaration{symbol, "a.c", lines[symbol]}, true
		})
		var got []string
		for s := range p.NumSymbols() {
			if ref := profile.SymbolRef(s); p.Marks(ref) != nil {
				got = append(got, p.SymbolName(ref))
			}
		}
		slices.Sort(got)
		assert.Equal(t, c.known, got, name)
		assert.Equal(t, []int{len(c.known), len(c.known)}, []int{functions, known}, name)
	}
}

// Functions in an amalgamated file belong to the files that "#line" names, and their line
// fingerprints (marks) are stored for these files. If such a file itself was added, too, it is
// preferred.
func TestAmalgamation(t *testing.T) {
	lines := []string{"int a = first(1);", "while (a < 10)", "a += second(a);", "return a;"}
	p := counted(lines)
	text := "int other;\n#line 1 \"src/a.c\"\nint f(void)\n{\n" + strings.Join(lines, "\n") + "\n}\n#line 1 \"b.c\"\nint g(void) { return 1; }\n"
	s := sources("all.c", text)
	require.True(t, s.Has("a.c"))
	require.True(t, s.Has("b.c"))
	functions, known := s.Remember(p, declaredInA)
	require.Equal(t, []int{1, 1}, []int{functions, known})
	edited := sources("all.c", strings.Replace(text, "while", "check(a);\nwhile", 1))
	moved, report, err := Profile(p, nil, edited)
	require.NoError(t, err)
	require.Equal(t, 1, len(report.Functions))
	require.NotSame(t, p, moved)

	s.AddFile("a.c", []byte("int f(void);\n"))
	functions, known = s.Remember(p, declaredInA)
	require.Equal(t, []int{1, 0}, []int{functions, known}, "the file itself has no such function")
}
