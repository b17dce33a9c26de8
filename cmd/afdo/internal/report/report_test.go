package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

func all() Options {
	return Options{Source: "some.afdo", Format: "v4", Functions: math.MaxInt32, Units: math.MaxInt32, Frames: 1 << 20, Calls: math.MaxInt32, Lines: math.MaxInt32}
}

// write returns the page of a profile.
func write(t *testing.T, p *profile.Profile, o Options) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Write(&out, p, o))
	return out.String()
}

// A decoded is the data of a page as its script gets it.
type decoded struct {
	Source string
	Total  json.Number
	Units  struct {
		Path                                 []string
		Body, Own, Bytes, Functions, Symbols []any
		Left                                 map[string]any
	}
	Symbols struct {
		Name, Assembler          []string
		Unit                     []int
		Own, Total, Head, Places []any
		Left                     map[string]any
	}
	Frames struct {
		Depth, Symbol []int
		Own, Total    []any
		Left          any
	}
}

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func decode(t *testing.T, page string) *decoded {
	t.Helper()
	found := dataElement.FindStringSubmatch(page)
	require.NotNil(t, found)
	d := new(decoded)
	decoder := json.NewDecoder(strings.NewReader(found[1]))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(d))
	return d
}

// random returns a profile of every legal shape.
func random(t *testing.T, seed uint64) (*profile.Profile, *naive.Profile) {
	t.Helper()
	data, truth := gen.Random(rand.New(rand.NewPCG(seed, 5)), gen.All())
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	p, err := profile.Read(r)
	require.NoError(t, err)
	canonical, err := truth.Canonical()
	require.NoError(t, err)
	return p, canonical
}

// slowFrames adds up the samples of each frame by recursion. The key of a frame is the names of the
// functions from the outermost one to it.
func slowFrames(p *naive.Profile) map[string]node {
	frames := map[string]node{}
	for k, f := range p.Functions {
		addSlow(frames, f.Body, "\x00"+k.Path+"\x01"+k.Name, 0)
	}
	for k, n := range frames {
		if n.total == 0 {
			delete(frames, k)
		}
	}
	return frames
}

func addSlow(frames map[string]node, b *naive.Body, key string, depth int) (total uint64) {
	n := frames[key]
	for _, count := range b.Counts {
		n.own = saturating.Add(n.own, count)
		total = saturating.Add(total, count)
	}
	frames[key] = n
	for _, inlined := range b.Inlined {
		for k, nested := range inlined {
			below := key + "\x00" + k.Path + "\x01" + k.Name
			var samples uint64
			if depth == maxDepth {
				samples = addSlow(map[string]node{}, nested, below, 0)
				n := frames[key]
				n.own = saturating.Add(n.own, samples)
				frames[key] = n
			} else {
				samples = addSlow(frames, nested, below, depth+1)
			}
			total = saturating.Add(total, samples)
		}
	}
	n = frames[key]
	n.total = saturating.Add(n.total, total)
	frames[key] = n
	return total
}

func TestFramesRandom(t *testing.T) {
	deepest := 0
	for seed := range uint64(150) {
		p, truth := random(t, seed)
		c := newCollector(p, all())
		got := map[string]node{}
		var open []string
		for i, s := range c.frameNodes() {
			key := "\x00" + p.UnitPath(p.SymbolUnit(s.symbol)) + "\x01" + p.SymbolName(s.symbol)
			require.LessOrEqual(t, int(s.depth), len(open), "frame %d", i)
			open = append(open[:s.depth], key)
			key = strings.Join(open, "")
			require.NotContains(t, got, key)
			got[key] = node{own: s.own, total: s.total}
			deepest = max(deepest, int(s.depth))
		}
		require.Equal(t, slowFrames(truth), got, "seed %d", seed)
	}
	assert.Greater(t, deepest, 50)
}

// TestFewFrames checks that with a limit, the frames with the most samples are drawn, with the
// frames that contain them.
func TestFewFrames(t *testing.T) {
	for seed := range uint64(50) {
		p, _ := random(t, seed)
		every := newCollector(p, all()).frameNodes()
		for _, limit := range []int{0, 1, 2, 5, 20} {
			o := all()
			o.Frames = limit
			c := newCollector(p, o)
			c.frames()
			f := &c.Frames
			require.Len(t, f.Total, min(limit, len(every)))
			require.Equal(t, count(len(every)-len(f.Total)), f.Left)
			totals := make([]uint64, len(every))
			for i, n := range every {
				totals[i] = n.total
			}
			slices.Sort(totals)
			kept := append([]uint64{}, f.Total...)
			slices.Sort(kept)
			require.Equal(t, totals[len(totals)-len(kept):], kept)
			depth := -1
			for _, d := range f.Depth {
				require.LessOrEqual(t, int(d), depth+1)
				depth = int(d)
			}
		}
	}
}

func TestTablesRandom(t *testing.T) {
	for seed := range uint64(100) {
		p, _ := random(t, seed)
		r := rank.New(p)
		o := all()
		o.UnitBytes = make([]int64, p.NumUnits())
		var bytes uint64
		for i := range o.UnitBytes {
			o.UnitBytes[i] = int64(3 * i)
			bytes += uint64(3 * i)
		}
		o.Functions, o.Units = 4, 2
		d, err := newData(p, o)
		require.NoError(t, err)
		require.Equal(t, count(r.Total), d.Total)
		require.Equal(t, count(bytes), d.Bytes)

		sampled := 0
		var own, body uint64
		for i := range r.Symbols {
			if r.Symbols[i].Sampled() {
				sampled++
			}
		}
		rows := len(d.Symbols.Own)
		require.Equal(t, min(4, sampled), rows)
		require.Equal(t, count(sampled-rows), d.Symbols.Left.Count)
		for i := range rows {
			own = saturating.Add(own, d.Symbols.Own[i])
			if i > 0 {
				require.GreaterOrEqual(t, d.Symbols.Total[i-1], d.Symbols.Total[i])
			}
		}
		require.Equal(t, r.Total, saturating.Add(own, uint64(d.Symbols.Left.Own)))

		sizes := uint64(d.Units.Left.Bytes)
		for i := range d.Units.Body {
			body = saturating.Add(body, d.Units.Body[i])
			sizes += d.Units.Bytes[i]
		}
		require.Equal(t, r.Total, saturating.Add(body, uint64(d.Units.Left.Body)))
		require.Equal(t, bytes, sizes)
		require.LessOrEqual(t, len(d.Units.Body), 2)
	}
}

// TestWhatIsSaid compares the data of a page with the profile, by the names of units and symbols.
func TestWhatIsSaid(t *testing.T) {
	p := example()
	o := all()
	o.UnitBytes = []int64{0, 300, 200}
	o.Name = func(name string) string { return strings.TrimPrefix(name, "_Z") }
	d := decode(t, write(t, p, o))
	assert.Equal(t, []string{"src/a.cc", "src/b.h"}, d.Units.Path)
	numbers := func(n ...any) []any {
		for i, v := range n {
			if s, ok := v.(string); ok {
				n[i] = json.Number(s)
			}
		}
		return n
	}
	assert.Equal(t, numbers("1110", "0"), d.Units.Body)
	assert.Equal(t, numbers("110", "1000"), d.Units.Own)
	assert.Equal(t, numbers("300", "200"), d.Units.Bytes)
	assert.Equal(t, []string{"outer", "inner"}, d.Symbols.Name)
	assert.Equal(t, []string{"_Zouter", ""}, d.Symbols.Assembler)
	assert.Equal(t, []int{0, 1}, d.Symbols.Unit)
	assert.Equal(t, numbers("110", "1000"), d.Symbols.Own)
	assert.Equal(t, numbers("1110", "1000"), d.Symbols.Total)
	assert.Equal(t, numbers("5", "0"), d.Symbols.Head)
	assert.Equal(t, numbers("0", "2"), d.Symbols.Places)
	assert.Equal(t, []int{0, 1}, d.Frames.Depth)
	assert.Equal(t, []int{0, 1}, d.Frames.Symbol)
	assert.Equal(t, numbers("110", "1000"), d.Frames.Own)
	assert.Equal(t, numbers("1110", "1000"), d.Frames.Total)
}

// example returns a profile with a function in which another is inlined at two places.
func example() *profile.Profile {
	p := profile.New()
	outer := p.AddSymbol(p.AddUnit("src/a.cc"), "_Zouter")
	inner := p.AddSymbol(p.AddUnit("src/b.h"), "inner")
	var body profile.Body
	body.Count(1, 0, 10)
	body.Count(2, 0, 100)
	for line := range uint32(2) {
		body.Enter(5+line, 0, inner)
		body.Count(1, 0, 400+200*uint64(line))
		body.Leave()
	}
	p.AddFunction(outer, profile.Function{HeadCount: 5, Records: body.Records()})
	return p
}

func TestCountsAreExact(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 1<<53 - 1: "9007199254740991", 1 << 53: "9007199254740992",
		1<<53 + 1: `"9007199254740993"`, math.MaxUint64: `"18446744073709551615"`,
	} {
		got, err := json.Marshal(counts{n, 7})
		require.NoError(t, err)
		assert.Equal(t, "["+want+",7]", string(got))
		got, err = json.Marshal(count(n))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

// hostileNames are names that would run scripts or break a page that did not treat them as text.
var hostileNames = []string{
	`</script><img src=x onerror="document.title='broken'">`,
	`</ScRiPt ><script>document.title='broken'</script>`,
	`<!--<script>`,
	`-->]]></style></title></textarea>`,
	`" onmouseover="document.title='broken'" x="`,
	`' autofocus onfocus=document.title='broken' '`,
	"`${document.title='broken'}`",
	`{{.}} {{document.title='broken'}}`,
	`\"};document.title='broken';//`,
	"line\u2028and\u2029paragraph",
	"nul\x00, bell\a, escape\x1b[31m",
	"not \xff UTF-8",
	`__proto__`,
	`constructor`,
	``,
	` `,
	"\u202eright to left",
	strings.Repeat("<b>", 100_000),
}

// hostile returns a profile whose units and symbols have the hostile names.
func hostile() *profile.Profile {
	p := profile.New()
	var body profile.Body
	for i, path := range hostileNames {
		f := p.AddUnit(path)
		for j, name := range hostileNames {
			body.Reset()
			body.Count(1, 0, uint64(100*i+j))
			body.Enter(2, 0, p.AddSymbol(f, hostileNames[(j+1)%len(hostileNames)]))
			body.Count(3, 0, uint64(j+1))
			body.Leave()
			p.AddFunction(p.AddSymbol(f, name), profile.Function{HeadCount: 1, Records: body.Records()})
		}
	}
	return p
}

func TestHostileNamesAreText(t *testing.T) {
	p := hostile()
	for _, source := range hostileNames[:testenv.Rounds(4, 15)] {
		o := all()
		o.Source = source
		page := write(t, p, o)
		// The only elements are those of the page itself.
		assert.Equal(t, 2, strings.Count(strings.ToLower(page), "</script"))
		assert.Equal(t, 2, strings.Count(strings.ToLower(page), "<script"))
		assert.Equal(t, 1, strings.Count(page, "</style>"))
		assert.NotContains(t, page, "<img")
		assert.NotContains(t, page, "<!--")
		title := regexp.MustCompile(`<title>([^<]*) – profile</title>`).FindStringSubmatch(page)
		require.NotNil(t, title)
		assert.Equal(t, clean(source), html.UnescapeString(title[1]))
		d := decode(t, page)
		names := map[string]bool{}
		for _, n := range append(d.Symbols.Name, d.Units.Path...) {
			names[n] = true
		}
		for _, n := range hostileNames {
			assert.True(t, names[clip(n)], "%.50q", n)
		}
		assert.Less(t, len(page), 2_000_000)
	}
}

// clean returns a name as the page shows it: shortened by clip, and with U+FFFD for NUL.
func clean(name string) string { return strings.ReplaceAll(clip(name), "\x00", "\uFFFD") }

func TestClip(t *testing.T) {
	assert.Equal(t, "a", clip("a"))
	assert.Equal(t, "\uFFFD", clip("\xff"))
	assert.Equal(t, strings.Repeat("a", maxName), clip(strings.Repeat("a", maxName)))
	half := strings.Repeat("a", maxName/2)
	assert.Equal(t, half+"…"+half, clip(half+half+"a"))
	assert.Equal(t, half+"…"+half[1:]+"b", clip(half+"one"+half+"b"))
	assert.Equal(t, strings.Repeat("é", maxName/4)+"…"+strings.Repeat("é", maxName/4-2)+"aé.", clip(strings.Repeat("é", maxName/2-1)+"aé."))
	assert.Equal(t, "a"+strings.Repeat("é", maxName/4-1)+"…"+strings.Repeat("é", maxName/4), clip("a"+strings.Repeat("é", maxName)))
	assert.Equal(t, strings.Repeat("é", maxName/4)+"…"+strings.Repeat("é", maxName/4-1)+"a", clip(strings.Repeat("é", maxName)+"a"))
}

// TestPolicy checks that the content security policy allows only the page's own style and script,
// and that the page refers to no other file or server.
func TestPolicy(t *testing.T) {
	page := write(t, example(), all())
	meta := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(page)
	require.NotNil(t, meta)
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
	script := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch(page)
	require.NotNil(t, style)
	require.NotNil(t, script)
	assert.Equal(t, policy(style[1], script[1]), html.UnescapeString(meta[1]))
	assert.Contains(t, meta[1], "default-src &#39;none&#39;")

	for _, url := range regexp.MustCompile(`https?://[^\s'"]*`).FindAllString(page, -1) {
		assert.Equal(t, "http://www.w3.org/2000/svg", url, "the name of a namespace is all")
	}
	for _, attribute := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.Regexp(t, `^(#[a-z]+|data:,)$`, attribute[1])
	}
}

func TestDeepNesting(t *testing.T) {
	const depth = 200_000
	p := profile.New()
	f := p.AddSymbol(profile.UnknownUnit, "f")
	var body profile.Body
	for range depth {
		body.Count(0, 0, 1)
		body.Enter(1, 0, f)
	}
	for range depth {
		body.Leave()
	}
	p.AddFunction(f, profile.Function{Records: body.Records()})
	d := decode(t, write(t, p, all()))
	assert.Equal(t, json.Number("200000"), d.Total)
	require.Len(t, d.Frames.Depth, maxDepth+1)
	assert.Equal(t, json.Number("1"), d.Frames.Own[maxDepth-1])
	assert.Equal(t, json.Number("199900"), d.Frames.Own[maxDepth])
}

func TestSummaryOfTheFile(t *testing.T) {
	p := example()
	page := write(t, p, all())
	assert.Contains(t, page, `<tr><th scope="row">1%</th><td>1</td><td>600</td></tr>`)
	assert.NotContains(t, page, "The summary is that of the file")

	p.Summary = &afdo.Summary{TotalCount: 1234567, NumFunctions: 89, Entries: make([]afdo.SummaryEntry, 1000)}
	page = write(t, p, all())
	assert.Contains(t, page, "The summary is that of the file, which speaks of 1,234,567 samples in 89 functions with a body of their own.")
	assert.Equal(t, maxEntries, strings.Count(page, `<th scope="row">0%</th>`))
	assert.Contains(t, page, `<dd>1,110</dd>`)

	p.Summary.Entries = nil
	assert.Contains(t, write(t, p, all()), "The summary has no entries.")
}

func TestEmpty(t *testing.T) {
	d := decode(t, write(t, profile.New(), all()))
	assert.Equal(t, json.Number("0"), d.Total)
	assert.Empty(t, d.Units.Path)
	assert.Empty(t, d.Symbols.Name)
	assert.Empty(t, d.Frames.Depth)
}

type brokenWriter struct{ left int }

var errBroken = errors.New("broken")

func (b *brokenWriter) Write(data []byte) (int, error) {
	if b.left -= len(data); b.left < 0 {
		return 0, errBroken
	}
	return len(data), nil
}

func TestErrorsOfTheWriter(t *testing.T) {
	for _, left := range []int{0, 100, 10_000} {
		require.ErrorIs(t, Write(&brokenWriter{left}, example(), all()), errBroken)
	}
}
