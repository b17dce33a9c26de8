package textfmt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// head is the beginning of a text up to its symbols. It has 13 lines.
const head = `filenames = {
  "a.c",
  "b.c"
}
summary = {
  total_count = 1,
  max_count = 2,
  max_fn_count = 3,
  num_counts = 4,
  num_functions = 5,
  num_detailed_entries = 0,
  detailed_entries = {}
}
`

// rfcExample returns the example of RFC 5.3.
func rfcExample(t testing.TB) string {
	text, err := os.ReadFile("testdata/rfc-example.txt")
	require.NoError(t, err)
	return string(text)
}

// An fn is a function in a notation that is easy to read in tests.
type fn struct {
	file      string
	name      string
	headCount uint64
	timestamp uint64
	body      func(c *composer)
}

// A composer writes function bodies, with callees given by name.
type composer struct {
	p *profile.Profile
	profile.Body
}

func (c *composer) ref(file, name string) profile.SymbolRef {
	return c.p.AddSymbol(c.p.AddUnit(file), name)
}

func compose(fns ...fn) *profile.Profile {
	p := profile.New()
	for _, f := range fns {
		c := composer{p: p}
		if f.body != nil {
			f.body(&c)
		}
		p.AddFunction(c.ref(f.file, f.name), profile.Function{
			HeadCount: f.headCount,
			Timestamp: f.timestamp,
			Records:   c.Records(),
		})
	}
	return p
}

func parse(t testing.TB, text string) *profile.Profile {
	t.Helper()
	p, err := Parse(strings.NewReader(text))
	require.NoError(t, err)
	return p
}

func TestParseExample(t *testing.T) {
	p := parse(t, rfcExample(t))

	want := compose(
		fn{file: "/home/user/test.c", name: "bubble_sort", body: func(c *composer) {
			for _, line := range []struct {
				line, discriminator uint32
				count               uint64
			}{
				{0, 0, 0}, {1, 0, 0}, {2, 0, 34}, {3, 0, 31}, {4, 1, 659399}, {4, 2, 659399}, {5, 0, 23},
				{6, 0, 218844}, {7, 0, 218844}, {8, 0, 218844}, {9, 0, 218844}, {13, 0, 31},
			} {
				c.Count(line.line, line.discriminator, line.count)
			}
		}},
		fn{file: "/home/user/test.c", name: "sort_array", body: func(c *composer) {
			c.Count(0, 0, 0)
			c.Enter(1, 0, c.ref("/usr/include/bits/stdio2.h", "printf"))
			c.Count(0, 0, 0)
			c.Count(2, 0, 0)
			c.Leave()
			c.Count(2, 0, 0)
			c.Count(3, 0, 0)
			for _, at := range [][2]uint32{{3, 1}, {3, 3}, {4, 0}, {4, 1}, {6, 0}, {7, 0}} {
				c.Count(at[0], at[1], 29)
			}
		}},
	)
	require.NoError(t, profile.Compare(want, p))
	assert.Equal(t, p.Summarize(), p.Summary, "the example's summary is that of its records")
	assert.Equal(t, uint64(2194467), p.Summary.TotalCount)
	assert.Equal(t, afdo.SummaryEntry{Cutoff: 700000, MinCount: 218844, NumCounts: 6}, p.Summary.Entries[7])
}

func TestParseGrammar(t *testing.T) {
	deep := func(c *composer) {
		c.Enter(1, 2, c.ref("a.c", "g"))
		c.Enter(3, 0, c.ref("b.c", "h"))
		c.Count(4, 0, 5)
		c.Leave()
		c.Leave()
	}
	tests := map[string]struct {
		symbols string
		want    *profile.Profile
	}{
		"none":                {"", compose()},
		"without info":        {`"f":0(7:0:0) = {}`, compose(fn{file: "a.c", name: "f"})},
		"head count":          {`"f":0(7:1:0) = {}`, compose(fn{file: "a.c", name: "f", headCount: 1})},
		"timestamp":           {`"f":0(7:0:2) = {}`, compose(fn{file: "a.c", name: "f", timestamp: 2})},
		"unknown file":        {`"f":-1(7:1:2) = {}`, compose(fn{name: "f", headCount: 1, timestamp: 2})},
		"largest numbers":     {`"f":1(4294967295:18446744073709551615:018446744073709551615) = {}`, compose(fn{file: "b.c", name: "f", headCount: 1<<64 - 1, timestamp: 1<<64 - 1})},
		"one name, two files": {`"f":0(1:1:0) = {} "f":1(2:2:0) = {}`, compose(fn{file: "a.c", name: "f", headCount: 1}, fn{file: "b.c", name: "f", headCount: 2})},
		"two IDs of a symbol": {`"f":0(1:1:9) = {} "f":0(2:2:8) = {}`, compose(fn{file: "a.c", name: "f", headCount: 3, timestamp: 8})},
		"location": {`"f":0(1:0:0)={locations={16777215.65535=18446744073709551615}}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) { c.Count(1<<24-1, 1<<16-1, 1<<64-1) }})},
		"location with white space": {"\t\"f\"\r\n:\v0\f( 1 : 0 : 0 ) = { locations = { 1 . 2 = 3 } } ",
			compose(fn{file: "a.c", name: "f", body: func(c *composer) { c.Count(1, 2, 3) }})},
		"records of one location add up": {`"f":0(1:0:0) = {locations = {1 = 2, 1.0 = 3}}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) { c.Count(1, 0, 5) }})},
		"sections of one kind add up": {`"f":0(1:0:0) = {locations = {1 = 2}, locations = {1 = 3, 0 = 1}}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) { c.Count(0, 0, 1); c.Count(1, 0, 5) }})},
		"empty sections": {`"f":0(1:1:0) = {locations = {}, callsites = {}, inlined = {}}`, compose(fn{file: "a.c", name: "f", headCount: 1})},
		"call": {`"g":1(9:0:0) = {} "f":0(1:0:0) = {callsites = {1 -> {9 = 3}}}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) { c.Call(1, 0, c.ref("b.c", "g"), 3) }})},
		"calls ahead of the callees": {`"f":0(1:0:0) = {callsites = {1.2->{8=3,9=4,1=5,8=1}}} "h":0(2:0:0) = {callsites = {0 -> {9 = 1}}} "g":1(9:0:0) = {} "h":-1(8:0:0) = {}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) {
				c.Call(1, 2, c.ref("", "h"), 4)
				c.Call(1, 2, c.ref("b.c", "g"), 4)
				c.Call(1, 2, c.ref("a.c", "f"), 5)
			}}, fn{file: "a.c", name: "h", body: func(c *composer) { c.Call(0, 0, c.ref("b.c", "g"), 1) }})},
		"call of what is inlined later": {`"f":0(1:0:0) = {callsites = {1 -> {9 = 3}}, inlined = {1 = "g":1(9) = {}}}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) {
				c.Call(1, 0, c.ref("b.c", "g"), 3)
				c.Enter(1, 0, c.ref("b.c", "g"))
				c.Leave()
			}})},
		"nested":          {`"f":0(1:0:0) = {inlined = {1.2 = "g":0(2) = {inlined = {3 = "h":1(3) = {locations = {4 = 5}}}}}}`, compose(fn{file: "a.c", name: "f", body: deep})},
		"nested, in bits": {`"f":0(1:0:0) = {inlined = {1.2 = "g":0(2) = {inlined = {3 = "h":1(3) = {}}, inlined = {3 = "h":1(4) = {locations = {4 = 2}}, 3 = "h":1(3) = {locations = {4 = 3}}}}}}`, compose(fn{file: "a.c", name: "f", body: deep})},
		"sections in any order": {`"f":0(1:0:0) = {inlined = {1 = "f":0(1) = {}}, callsites = {0 -> {1 = 1}}, locations = {0 = 1}}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) {
				c.Count(0, 0, 1)
				c.Call(0, 0, c.ref("a.c", "f"), 1)
				c.Enter(1, 0, c.ref("a.c", "f"))
				c.Leave()
			}})},
		"section after an inlined one": {`"f":0(1:0:0) = {inlined = {1 = "g":0(2) = {inlined = {}, locations = {2 = 3}}}, locations = {4 = 5}}`,
			compose(fn{file: "a.c", name: "f", body: func(c *composer) {
				c.Enter(1, 0, c.ref("a.c", "g"))
				c.Count(2, 0, 3)
				c.Leave()
				c.Count(4, 0, 5)
			}})},
		"odd names": {"\"\":0(1:1:0) = {} \"{}\\\n,=\":0(2:2:0) = {} \"\xff\x00\":0(3:3:0) = {}",
			compose(fn{file: "a.c", name: "", headCount: 1}, fn{file: "a.c", name: "{}\\\n,=", headCount: 2}, fn{file: "a.c", name: "\xff\x00", headCount: 3})},
		"unknown section of a symbol": {`"f":0(1:1:0) = {branches = {1.5 -> {"}", {{}}, "{\"} ; é \x00}, locations = {0 = 1}, v2 = {}}`,
			compose(fn{file: "a.c", name: "f", headCount: 1, body: func(c *composer) { c.Count(0, 0, 1) }})},
		"unknown section of an inlined body": {`"f":0(1:0:0) = {inlined = {1.2 = "g":0(2) = {a_ = {"{"}, inlined = {3 = "h":1(3) = {locations = {4 = 5}, b = {}}}}}}`,
			compose(fn{file: "a.c", name: "f", body: deep})},
		"unknown sections at top level": {`extra = { "}" "{{{" "f":0(9:1:1) = {} } "f":0(1:1:0) = {} more_2={}`, compose(fn{file: "a.c", name: "f", headCount: 1})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := parse(t, head+test.symbols)
			require.NoError(t, profile.Compare(test.want, p))
			assert.Equal(t, &afdo.Summary{TotalCount: 1, MaxCount: 2, MaxFunctionCount: 3, NumCounts: 4, NumFunctions: 5}, p.Summary)

			p, err := Parse(iotest.OneByteReader(strings.NewReader(head + test.symbols)))
			require.NoError(t, err, "byte by byte")
			require.NoError(t, profile.Compare(test.want, p), "byte by byte")
		})
	}
}

func TestParseSymbolWithoutInfo(t *testing.T) {
	p := parse(t, head+`"f":0(7:0:0) = {} "g":0(8:0:0) = {locations = {0 = 0}}`)
	f, ok := p.FindSymbol(p.AddUnit("a.c"), "f")
	require.True(t, ok)
	assert.Nil(t, p.Function(f))
	g, ok := p.FindSymbol(p.AddUnit("a.c"), "g")
	require.True(t, ok)
	assert.NotNil(t, p.Function(g), "a count of 0 is a record")
}

func TestParseHead(t *testing.T) {
	const entries = `summary = {total_count = 10, max_count = 9, max_fn_count = 8, num_counts = 7, num_functions = 6,
		num_detailed_entries = 2, detailed_entries = {{cutoff = 10000, min_count = 5, num_counts = 4}, {cutoff=4294967295,min_count=0,num_counts=1}}}`
	want := &afdo.Summary{TotalCount: 10, MaxCount: 9, MaxFunctionCount: 8, NumCounts: 7, NumFunctions: 6, Entries: []afdo.SummaryEntry{
		{Cutoff: 10000, MinCount: 5, NumCounts: 4},
		{Cutoff: 1<<32 - 1, MinCount: 0, NumCounts: 1},
	}}
	for name, text := range map[string]string{
		"plain":                   `filenames = {"x"} ` + entries,
		"no file names":           `filenames={}` + entries,
		"the unknown file listed": `filenames = {"x", ""}` + entries,
		"unknown sections":        `version = {4} filenames = {"x"} between = {{}} later={}` + entries + `end={}`,
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, want, parse(t, text).Summary)
		})
	}

	p := parse(t, `filenames = {"x", ""}`+entries+`"f":1(1:1:0) = {} "f":-1(2:1:0) = {}`)
	require.NoError(t, profile.Compare(compose(fn{name: "f", headCount: 2}), p), "the empty name and -1 are one file")
}

func TestParseDeepNesting(t *testing.T) {
	for name, inner := range map[string]string{
		"known callees":   `locations = {0 = 7}`,
		"unknown callees": `callsites = {0 -> {5 = 7}}`,
	} {
		t.Run(name, func(t *testing.T) {
			depth := testenv.Rounds(20_000, 1_000_000)
			if name == "unknown callees" {
				depth = testenv.Rounds(20_000, 100_000)
			}
			text := io.MultiReader(
				strings.NewReader(head+`"f":0(1:0:0) = {inlined = {`),
				strings.NewReader(strings.Repeat(`1="g":0(2)={inlined={`, depth)),
				strings.NewReader(`2 = "h":1(3) = {`+inner+`}`),
				strings.NewReader(strings.Repeat(`}}`, depth)),
				strings.NewReader(`}} "h":0(5:0:0) = {}`))
			p, err := Parse(text)
			require.NoError(t, err)
			f, _ := p.FindSymbol(p.AddUnit("a.c"), "f")
			records := p.Function(f).Records
			require.Len(t, records, depth+2)
			assert.Equal(t, profile.KindInlined, records[depth].Kind)
			assert.Equal(t, uint64(1), records[depth].Count)
			assert.Equal(t, uint64(depth+1), records[0].Count)
			assert.Equal(t, uint64(7), records[depth+1].Count)

			var out strings.Builder
			require.NoError(t, PrintProfile(&out, p))
			assert.Less(t, out.Len(), depth*100, "indentation is bounded")
			again, err := Parse(strings.NewReader(out.String()))
			require.NoError(t, err)
			require.NoError(t, profile.Compare(p, again))
		})
	}
}

func TestParseDeepUnknownSection(t *testing.T) {
	const depth = 1_000_000
	text := head + "new = {" + strings.Repeat("{", depth) + strings.Repeat("}", depth) + `} "f":0(1:1:0) = {}`
	require.NoError(t, profile.Compare(compose(fn{file: "a.c", name: "f", headCount: 1}), parse(t, text)))

	_, err := Parse(strings.NewReader(head + "new =\n {" + strings.Repeat("{\n", depth)))
	assert.Equal(t, faultAt(position{15, 2}, afdo.ErrTruncated, "%s", `missing "}" for this "{"`), err)
}

// Tokens are parsed correctly if the lexer's buffer ends anywhere within them.
func TestParseAcrossBuffers(t *testing.T) {
	const body = `"name
of \xff two lines":-1(12345:678:9) = { locations = { 11.22 = 33 }, callsites = { 44 -> { 12345 = 55 } } } !`
	start := len(head) + 1
	for pad := bufferSize - start - len(body); pad <= bufferSize-start+2; pad++ {
		text := head + strings.Repeat(" ", pad) + "\n" + body
		_, err := Parse(strings.NewReader(text))
		require.Equal(t, faultAt(position{16, 107}, afdo.ErrSyntax, "%s", `expected a symbol, found "!"`), err, "%d", pad)

		p := parse(t, strings.TrimSuffix(text, "!"))
		f, ok := p.FindSymbol(profile.UnknownUnit, "name\nof \\xff two lines")
		require.True(t, ok)
		require.Equal(t, &profile.Function{HeadCount: 678, Timestamp: 9, Records: []profile.Record{
			{Line: 11, Discriminator: 22, Count: 33},
			{Line: 44, Kind: profile.KindCall, Callee: f, Count: 55},
		}}, p.Function(f))
	}
}

func TestParseLongNames(t *testing.T) {
	longest := strings.Repeat("x", MaxName)
	p := parse(t, head+`"`+longest+`":0(1:1:0) = {} `+longest+` = {}`)
	require.NoError(t, profile.Compare(compose(fn{file: "a.c", name: longest, headCount: 1}), p))

	for text, want := range map[string]error{
		head + "\n" + `"` + longest + `x":0(1:1:0) = {}`: faultAt(position{15, 1}, afdo.ErrOverflow, "%s", "symbol name is longer than 1048576 bytes"),
		head + ` ` + longest + `x = {}`:                  faultAt(position{14, 2}, afdo.ErrOverflow, "%s", "keyword is longer than 1048576 bytes"),
		`filenames = {"a", "` + longest + `y`:            faultAt(position{1, 19}, afdo.ErrOverflow, "%s", "file name is longer than 1048576 bytes"),
	} {
		_, err := Parse(strings.NewReader(text))
		assert.Equal(t, want, err)
		assert.ErrorIs(t, err, afdo.ErrOverflow)
	}
}

func TestParseReadErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := Parse(io.MultiReader(strings.NewReader(head+"\n\"f"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	assert.EqualError(t, err, "textfmt: line 15: broken pipe")

	_, err = Parse(stuckReader{})
	require.ErrorIs(t, err, io.ErrNoProgress)

	p, err := Parse(iotest.DataErrReader(strings.NewReader(head)))
	require.NoError(t, err)
	assert.Zero(t, p.NumSymbols())
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func TestSyntaxError(t *testing.T) {
	_, err := Parse(strings.NewReader("filenames = [\n"))
	assert.EqualError(t, err, `textfmt: line 1, column 13: bad syntax: expected "{", found "["`)
	var syntax *afdo.FormatError
	require.ErrorAs(t, fmt.Errorf("reading: %w", err), &syntax)
	assert.Equal(t, 13, syntax.Column)
	assert.ErrorIs(t, err, afdo.ErrMalformed)
}
