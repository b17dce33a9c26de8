package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

func printed(t testing.TB, r *afdo.Reader) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, Print(&out, r))
	return out.String()
}

func always(*naive.Unit) bool { return true }

func TestPrintExample(t *testing.T) {
	ids := strings.NewReplacer("(1:0:0)", "(0:0:0)", "(3:0:0)", "(1:0:0)")
	for _, compact := range []bool{false, true} {
		r := open(t, gen.RFCExample(compact))
		assert.Equal(t, ids.Replace(rfcExample(t)), printed(t, r))
	}
}

// Print writes the same text as the slow printer for any file, and parsing the text gives the
// content of the file.
func TestPrintRandom(t *testing.T) {
	refused := 0
	for seed := range uint64(testenv.Rounds(40, 400)) {
		data, truth := draw(seed, everything(seed%4 == 0))
		r := open(t, data)
		var out strings.Builder
		err := Print(&out, r)
		if hasQuote(truth) {
			require.ErrorIs(t, err, errQuote, "seed %d", seed)
			require.Empty(t, out.String(), "seed %d: nothing is written of what is refused", seed)
			refused++
			continue
		}
		require.NoError(t, err, "seed %d", seed)
		equalText(t, slowPrint(truth, always, func(int) bool { return true }), out.String())

		p := parse(t, out.String())
		want, err := truth.Canonical()
		require.NoError(t, err)
		require.Equal(t, want, meaning(p), "seed %d", seed)
		read, err := profile.Read(r)
		require.NoError(t, err)
		require.NoError(t, profile.Compare(read, p), "seed %d", seed)
		require.Equal(t, read.Summary, p.Summary, "seed %d", seed)
	}
	assert.NotZero(t, refused)
	assert.Less(t, refused, testenv.Rounds(20, 200))
}

func TestPrintUnitRandom(t *testing.T) {
	for seed := range uint64(testenv.Rounds(50, 150)) {
		data, truth := draw(seed, everything(false))
		if hasQuote(truth) {
			continue
		}
		for i, u := range units(t, open(t, data)) {
			var out strings.Builder
			require.NoError(t, PrintUnit(&out, open(t, data), u))
			chosen := func(unit int, _ *naive.Symbol) bool { return unit == i }
			checkPart(t, truth, i, chosen, out.String())
		}
	}
}

func TestPrintSymbolRandom(t *testing.T) {
	for seed := range uint64(testenv.Rounds(50, 150)) {
		data, truth := draw(seed, everything(false))
		if hasQuote(truth) {
			continue
		}
		for i, u := range units(t, open(t, data)) {
			for s, err := range u.Symbols() {
				require.NoError(t, err)
				var out strings.Builder
				require.NoError(t, PrintSymbol(&out, open(t, data), s))
				chosen := func(_ int, other *naive.Symbol) bool { return other.ID == uint32(s.ID()) }
				checkPart(t, truth, i, chosen, out.String())
			}
		}
	}
}

// checkPart checks the text of some symbols of one unit.
func checkPart(t *testing.T, truth *naive.File, unit int, chosen func(int, *naive.Symbol) bool, text string) {
	t.Helper()
	want := part(truth, chosen)
	// What was asked for comes first; callees follow by unit and ID.
	var main, others naive.File
	main.Summary = want.Summary
	for i, u := range want.Units {
		own, rest := u, u
		own.Symbols, rest.Symbols = nil, nil
		for _, s := range u.Symbols {
			if chosen(i, &s) {
				own.Symbols = append(own.Symbols, s)
			} else {
				rest.Symbols = append(rest.Symbols, s)
			}
		}
		sortByID(rest.Symbols)
		main.Units = append(main.Units, own)
		others.Units = append(others.Units, rest)
	}
	n := len(main.Units)
	main.Units = append(main.Units, others.Units...)
	needed := map[string]bool{truth.Units[unit].Path: true}
	for _, u := range main.Units {
		if len(u.Symbols) > 0 {
			needed[u.Path] = true
		}
	}
	withFile := func(u *naive.Unit) bool { return needed[u.Path] }
	equalText(t, slowPrint(&main, withFile, func(i int) bool { return i < n }), text)

	canonical, err := want.Canonical()
	require.NoError(t, err)
	require.Equal(t, canonical, meaning(parse(t, text)))
}

func units(t *testing.T, r *afdo.Reader) []*afdo.Unit {
	var units []*afdo.Unit
	for u, err := range r.Units() {
		require.NoError(t, err)
		units = append(units, u)
	}
	return units
}

// twoUnits returns a file that a test may change: f of a.c calls h of b.c, and has g of b.c
// inlined.
func twoUnits() *naive.File {
	return &naive.File{Units: []naive.Unit{
		{Path: "a.c", Start: 1, End: 3, Symbols: []naive.Symbol{
			{ID: 1, Name: "f", HasInfo: true, Head: 5, Locations: []naive.Location{
				gen.Count(1, 0, 2),
				{Type: naive.CalledFn, Line: 2, Targets: []naive.Target{{Callee: 11, Count: 3}}},
				gen.Inlined(3, 0, 10, gen.Count(4, 0, 5)),
			}},
			{ID: 2, Name: "unused"},
		}},
		{Path: "b.c", Start: 10, End: 13, Symbols: []naive.Symbol{
			{ID: 12, Name: "last", HasInfo: true, Timestamp: 4},
			{ID: 11, Name: "h"},
			{ID: 10, Name: "g"},
		}},
		{Start: 20, End: 20},
	}}
}

const emptySummary = `summary = {
  total_count = 0,
  max_count = 0,
  max_fn_count = 0,
  num_counts = 0,
  num_functions = 0,
  num_detailed_entries = 0,
  detailed_entries = {
  }
}
`

func TestPrintPart(t *testing.T) {
	const f = `
"f":0(1:5:0) = {
  locations = {
    1 = 2
  },
  callsites = {
    2 -> {11 = 3}
  },
  inlined = {
    3 = "g":1(10) = {
      locations = {
        4 = 5
      }
    }
  }
}
`
	const both = "filenames = {\n  \"a.c\",\n  \"b.c\"\n}\n\n" + emptySummary
	const onlyB = "filenames = {\n  \"b.c\"\n}\n\n" + emptySummary
	r := open(t, gen.Encode(twoUnits(), true))
	units := units(t, r)
	assert.Equal(t, both+f+"\n\"unused\":0(2:0:0) = {}\n"+"\n\"last\":1(12:0:4) = {}\n"+"\n\"h\":1(11:0:0) = {}\n", printed(t, r))

	for unit, want := range []string{
		both + f + "\n\"unused\":0(2:0:0) = {}\n" + "\n\"h\":1(11:0:0) = {}\n",
		onlyB + "\n\"last\":0(12:0:4) = {}\n" + "\n\"h\":0(11:0:0) = {}\n" + "\n\"g\":0(10:0:0) = {}\n",
		"filenames = {\n}\n\n" + emptySummary,
	} {
		var out strings.Builder
		require.NoError(t, PrintUnit(&out, r, units[unit]))
		assert.Equal(t, want, out.String())
	}

	for name, want := range map[string]string{
		"f":      both + f + "\n\"h\":1(11:0:0) = {}\n",
		"unused": "filenames = {\n  \"a.c\"\n}\n\n" + emptySummary + "\n\"unused\":0(2:0:0) = {}\n",
	} {
		s, err := units[0].Symbol(name)
		require.NoError(t, err)
		var out strings.Builder
		require.NoError(t, PrintSymbol(&out, r, s))
		assert.Equal(t, want, out.String())
	}
}

// prints returns the three functions that print: Print of the file, PrintUnit of its first unit,
// and PrintSymbol of that unit's first symbol.
func prints(t *testing.T, r *afdo.Reader) map[string]func(w io.Writer) error {
	u := units(t, r)[0]
	var first afdo.Symbol
	for s := range u.Symbols() {
		first = s
		break
	}
	return map[string]func(w io.Writer) error{
		"Print":       func(w io.Writer) error { return Print(w, r) },
		"PrintUnit":   func(w io.Writer) error { return PrintUnit(w, r, u) },
		"PrintSymbol": func(w io.Writer) error { return PrintSymbol(w, r, first) },
	}
}

// Print reports a fault before it writes anything.
func TestPrintRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(f *naive.File)
		errs   []error
		msg    string
		fine   string // the function that does not come upon the fault
	}{
		"quote in the symbol": {func(f *naive.File) { f.Units[0].Symbols[0].Name = `f"1"` }, []error{errQuote},
			`textfmt: name "f\"1\"": the text form cannot express a name with a double quote`, ""},
		"quote in a called one":   {func(f *naive.File) { f.Units[1].Symbols[1].Name = `"` }, []error{errQuote}, "", ""},
		"quote in an inlined one": {func(f *naive.File) { f.Units[1].Symbols[2].Name = `"` }, []error{errQuote}, "", ""},
		"quote in another":        {func(f *naive.File) { f.Units[0].Symbols[1].Name = `"` }, []error{errQuote}, "", "PrintSymbol"},
		"quote in the path":       {func(f *naive.File) { f.Units[0].Path = `"` }, []error{errQuote}, "", ""},
		"quote in another's path": {func(f *naive.File) { f.Units[1].Path = `"` }, []error{errQuote}, "", ""},
		"name too long": {func(f *naive.File) { f.Units[0].Symbols[0].Name = strings.Repeat("x", MaxName+1) }, []error{afdo.ErrUnrepresentable},
			`textfmt: name "` + strings.Repeat("x", 200) + `"... of 1048577 bytes: the format cannot hold it`, ""},
		"unknown target": {func(f *naive.File) { f.Units[0].Symbols[0].Locations[1].Targets[0].Callee = 4 }, []error{afdo.ErrMalformed, afdo.ErrSymbol},
			"textfmt: malformed profile: no unit has the callee's symbol ID 4: bad symbol", ""},
		"unknown inlined function": {func(f *naive.File) { f.Units[0].Symbols[0].Locations[2].Callee = 4 }, []error{afdo.ErrMalformed, afdo.ErrSymbol}, "", ""},
		"gap in a unit": {func(f *naive.File) {
			f.Units[1].End = 20
			f.Units[0].Symbols[0].Locations[2].Callee = 19
		}, []error{afdo.ErrMalformed, afdo.ErrSymbol}, "", ""},
	}
	for name, test := range tests {
		f := twoUnits()
		test.change(f)
		for function, call := range prints(t, open(t, gen.Encode(f, true))) {
			t.Run(name+"/"+function, func(t *testing.T) {
				var out strings.Builder
				err := call(&out)
				if test.fine == function {
					require.NoError(t, err)
					return
				}
				for _, want := range test.errs {
					assert.ErrorIs(t, err, want)
				}
				if test.msg != "" {
					assert.EqualError(t, err, test.msg)
				}
				assert.Empty(t, out.String())
			})
		}
	}
}

func TestPrintMalformed(t *testing.T) {
	l := gen.Lay(twoUnits(), true)
	info := &l.Sections[4]
	info.Data = info.Data[:len(info.Data)-1]
	for function, call := range prints(t, open(t, l.Bytes())) {
		var out strings.Builder
		err := call(&out)
		require.ErrorIs(t, err, afdo.ErrMalformed, function)
		var format *afdo.FormatError
		require.ErrorAs(t, err, &format, function)
		assert.Equal(t, 4, format.Section, function)
		assert.Equal(t, 1, strings.Count(err.Error(), "afdo:"), "%s", err)
		assert.Empty(t, out.String(), function)
	}

	// What is not asked for is not looked at.
	r := open(t, l.Bytes())
	all := units(t, r)
	require.NoError(t, PrintUnit(io.Discard, r, all[1]))
	unused, err := all[0].Symbol("unused")
	require.NoError(t, err)
	require.NoError(t, PrintSymbol(io.Discard, r, unused))
}

// A failingReaderAt fails after a given number of reads.
type failingReaderAt struct {
	io.ReaderAt
	reads atomic.Int64
}

func (f *failingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if f.reads.Add(-1) < 0 {
		return 0, errBroken
	}
	return f.ReaderAt.ReadAt(p, off)
}

// Printing returns an error if any of its reads fails.
func TestPrintReadErrors(t *testing.T) {
	f := twoUnits()
	// Opening reads the begin and the end of a file: with these names, neither has the second unit.
	long := strings.Repeat("x", 300_000)
	f.Units[0].Symbols[1].Name = long
	f.Units = slices.Insert(f.Units, 2, naive.Unit{Path: "c.c", Start: 13, End: 14, Symbols: []naive.Symbol{{ID: 13, Name: long}}})
	data := gen.Encode(f, false)
	for _, function := range []string{"Print", "PrintUnit", "PrintSymbol"} {
		t.Run(function, func(t *testing.T) {
			failures := 0
			for n := 0; ; n++ {
				src := &failingReaderAt{ReaderAt: bytes.NewReader(data)}
				src.reads.Store(1000)
				r, err := afdo.NewReader(src, int64(len(data)))
				require.NoError(t, err)
				call := prints(t, r)[function]
				src.reads.Store(int64(n))
				err = call(io.Discard)
				if err == nil {
					break
				}
				require.ErrorIs(t, err, errBroken, "%s, read %d", function, n)
				failures++
			}
			assert.NotZero(t, failures, function)
		})
	}
}

// Units with the same path have the same file ID in the text, because the list of file names may
// contain a path only once.
func TestPrintUnitsOfOnePath(t *testing.T) {
	f := twoUnits()
	f.Units[1].Path = "a.c"
	r := open(t, gen.Encode(f, true))
	want, err := profile.Read(r)
	require.NoError(t, err)
	require.NoError(t, profile.Compare(want, parse(t, printed(t, r))))
}

func TestPrintClosed(t *testing.T) {
	r := open(t, gen.RFCExample(true))
	calls := prints(t, r)
	require.NoError(t, r.Close())
	for function, call := range calls {
		assert.ErrorIs(t, call(io.Discard), afdo.ErrClosed, function)
	}
}

type brokenWriter struct{ left int }

var errBroken = errors.New("disk full")

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestPrintWriteErrors(t *testing.T) {
	r := open(t, gen.Big(100, true))
	p, err := profile.Read(r)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, Print(&out, r))
	for _, left := range []int{0, out.Len() / 2, out.Len() - 1} {
		for function, call := range prints(t, r) {
			if function == "Print" || left == 0 {
				assert.Equal(t, errBroken, call(&brokenWriter{left}), function)
			}
		}
		assert.Equal(t, errBroken, PrintProfile(&brokenWriter{left / 2}, p))
	}
	require.NoError(t, Print(&brokenWriter{out.Len()}, r))
}

// Printing deeply nested bodies takes linear time. Quadratic time would take hours.
func TestPrintDeepNesting(t *testing.T) {
	for _, compact := range []bool{false, true} {
		depth := testenv.Rounds(20_000, 100_000)
		if compact {
			depth = testenv.Rounds(20_000, 1_000_000)
		}
		r := open(t, gen.Nested(depth, compact))
		text := printed(t, r)
		assert.Less(t, len(text), 100*depth)
		want, err := profile.Read(r)
		require.NoError(t, err)
		require.NoError(t, profile.Compare(want, parse(t, text)))
	}
}

// If thousands of symbols share one section of samples, printing fails, because the text would be
// thousands of times as long as the file.
func TestPrintSharedFunctions(t *testing.T) {
	const n = 2000
	f := &naive.File{Units: []naive.Unit{{Path: "a.c", End: n}, {Start: n, End: n}}}
	for i := range n {
		f.Units[0].Symbols = append(f.Units[0].Symbols, naive.Symbol{ID: uint32(i), Name: fmt.Sprint(i)})
	}
	first := &f.Units[0].Symbols[0]
	first.HasInfo = true
	for line := range uint32(1000) {
		first.Locations = append(first.Locations, gen.Count(line, 0, 1))
	}
	l := gen.Lay(f, true)
	_, names := gen.UnitSections(f, 0)
	rows := &gen.Enc{Compact: true}
	rows.U32(n)
	for i := range uint32(n) {
		rows.U32(i)
		rows.U32(i)
		rows.U32(uint32(names) + 1)
	}
	l.Sections[names].Data = rows.Buf
	r := open(t, l.Bytes())
	var out strings.Builder
	require.ErrorIs(t, Print(&out, r), afdo.ErrLimit)
	require.ErrorIs(t, PrintUnit(&out, r, units(t, r)[0]), afdo.ErrLimit)
	assert.Empty(t, out.String())

	s, err := units(t, r)[0].Symbol("150")
	require.NoError(t, err)
	require.NoError(t, PrintSymbol(&out, r, s))
	assert.Equal(t, 1000, strings.Count(out.String(), " = 1,\n")+strings.Count(out.String(), " = 1\n"))
}

func TestMaxText(t *testing.T) {
	assert.Equal(t, int64(textFree), maxText(0))
	assert.Equal(t, int64(textFree+1024*1024), maxText(1024))
	assert.Positive(t, maxText(1<<63-1))

	var out strings.Builder
	w := boundedWriter{w: &out, left: 5}
	_, err := w.Write([]byte("12345"))
	require.NoError(t, err)
	_, err = w.Write([]byte("6"))
	require.ErrorIs(t, err, afdo.ErrLimit)
	assert.Equal(t, "12345", out.String())
}

// The number of allocations does not depend on the number of records of a function.
func TestPrintAllocations(t *testing.T) {
	count := func(records int) float64 {
		f := twoUnits()
		locations := f.Units[0].Symbols[0].Locations
		for len(f.Units[0].Symbols[0].Locations) < records {
			f.Units[0].Symbols[0].Locations = append(f.Units[0].Symbols[0].Locations, locations...)
		}
		r := open(t, gen.Encode(f, true))
		return testing.AllocsPerRun(5, func() { require.NoError(t, Print(io.Discard, r)) })
	}
	few, many := count(100), count(20_000)
	assert.Less(t, many-few, 60.0, "only what grows by doubling may differ")
	assert.Less(t, few, 200.0)

	// Nor does it depend on how often a symbol is named.
	perUnit := func(units int) float64 {
		r := open(t, gen.Big(units, true))
		return testing.AllocsPerRun(3, func() { require.NoError(t, Print(io.Discard, r)) }) / float64(units)
	}
	assert.Less(t, perUnit(1000), 40.0, "a unit's tables, twice, and its names")
}

func TestPrintCorpus(t *testing.T) {
	for _, name := range []string{"libgui.v4c", "libgui.v4"}[:testenv.Rounds(1, 2)] {
		r := corpus(t, name)
		text := printed(t, r)
		t.Logf("%s: %d bytes of text for %d", name, len(text), r.Size())
		want, err := profile.Read(r)
		require.NoError(t, err)
		got := parse(t, text)
		require.NoError(t, profile.Compare(want, got))
		require.Equal(t, want.Summary, got.Summary)

		var out strings.Builder
		require.NoError(t, PrintProfile(&out, want))
		require.NoError(t, profile.Compare(want, parse(t, out.String())))

		// The units' own texts together say the same.
		merged := profile.New()
		for _, u := range units(t, r) {
			out.Reset()
			require.NoError(t, PrintUnit(&out, r, u))
			merged.Merge(parse(t, out.String()))
		}
		require.NoError(t, profile.Compare(want, merged))
	}
}
