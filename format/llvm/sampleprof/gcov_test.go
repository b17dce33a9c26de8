package sampleprof

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// gcovText returns the text of a profile in GCC's formats.
func gcovText(t *testing.T, p *profile.Profile) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, textfmt.PrintProfile(&text, p))
	return text.String()
}

// TestGCOVRoundTrip converts profiles to the model of GCC's formats and back. If no losses are
// reported, the result must equal the original, and converting it again must change nothing.
func TestGCOVRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		p := randomProfile(rng, shape{})
		q, losses, err := p.ToGCOV(false, nil)
		require.NoError(t, err)
		losses.Totals = 0
		require.Zero(t, losses)
		back, losses := FromGCOV(q)
		require.Zero(t, losses)
		again, losses, err := back.ToGCOV(false, nil)
		require.NoError(t, err)
		require.Zero(t, losses, "the totals are sums now")
		require.NoError(t, profile.Compare(q, again))
		// All but the totals is what it was. A function that says nothing is not added to a GCOV
		// profile.
		for f := range p.Functions() {
			g := back.find(back.AddName(p.Name(f.Name)), nil)
			if g == nil {
				require.Empty(t, f.Records)
				continue
			}
			require.Equal(t, f.HeadCount, g.HeadCount)
			require.Len(t, g.Records, len(f.Records))
			for i, r := range f.Records {
				s := g.Records[i]
				if r.Kind != KindCount {
					require.Equal(t, p.Name(r.Name), back.Name(s.Name))
				}
				if r.Kind != KindInlined {
					require.Equal(t, r.Count, s.Count)
				}
				require.Equal(t, []any{r.Kind, r.Line, r.Discriminator, r.Span}, []any{s.Kind, s.Line, s.Discriminator, s.Span})
			}
		}
	}
}

func TestToGCOVLosses(t *testing.T) {
	p := parse(t, "main:100:3\n 1: 5 f:3\n 2: g:9\n  1: 2\n  1: vtables T:3\n  !Attributes: 2\n 3: h:4\n  1: 4\n")
	p.SymbolList, p.FS, p.Partial = []string{"a"}, true, true
	_, losses, err := p.ToGCOV(false, nil)
	require.NoError(t, err)
	assert.Equal(t, Losses{SymbolList: 1, VTables: 1, Attributes: 1, FS: true, Partial: true, PreInlined: true, Totals: 2}, losses)
	assert.Equal(t, "1 name of the symbol list dropped; 1 type of a vtable dropped; 1 function lost its attributes; "+
		"the mark of flow-sensitive discriminators dropped; the mark of a partial profile dropped; the mark of the pre-inliner dropped; "+
		"2 stated totals replaced by the sums", losses.String())
}

func TestToGCOVRefuses(t *testing.T) {
	_, _, err := parse(t, "main:1:1\n 1: 1\n !CFGChecksum: 4\n").ToGCOV(false, nil)
	require.ErrorIs(t, err, afdo.ErrUnrepresentable)
	require.ErrorContains(t, err, "probes")
	wide, _, err := parse(t, "main:1:1\n 1.65536: 1\n").ToGCOV(false, nil)
	require.NoError(t, err)
	require.ErrorContains(t, builder.Write(io.Discard, wide, builder.Options{}), "65536")
	hashed := decoded(t, extBinary(t, parse(t, "main:1:1\n 1: 1 f:3\n"), WriteOptions{MD5: true}))
	_, _, err = hashed.ToGCOV(false, nil)
	require.ErrorIs(t, err, afdo.ErrUnrepresentable)
	require.ErrorContains(t, err, "2 of 2 names")
	require.Equal(t, 1, hashed.Resolve(slices.Values([]string{"g", "main"})))
	require.Zero(t, hashed.Resolve(slices.Values([]string{"f"})))
	require.Equal(t, "main:1:1\n 1: 1 f:3\n", textOf(t, hashed))
	_, _, err = hashed.ToGCOV(false, nil)
	require.NoError(t, err)
}

// TestToGCOVBase reduces discriminators to their base. Counts that differed only in the other bits
// of their discriminators add up.
func TestToGCOVBase(t *testing.T) {
	p := parse(t, "main:10:1\n 1.1: 3\n 1.257: 4 f:2\n 2.65537: g:3\n  1: 3\n")
	q, losses, err := p.ToGCOV(true, nil)
	require.NoError(t, err)
	require.Equal(t, Losses{Discriminators: 2}, losses)
	want, _, err := parse(t, "main:10:1\n 1.1: 7 f:2\n 2.1: g:3\n  1: 3\n").ToGCOV(false, nil)
	require.NoError(t, err)
	require.NoError(t, profile.Compare(want, q))
	require.Equal(t, gcovText(t, want), gcovText(t, q))
}

// TestToGCOVContexts checks that a calling context becomes a body inlined into the outermost
// function of the context.
func TestToGCOVContexts(t *testing.T) {
	p := parse(t, "[main]:7:2\n 1: 4\n[main:3 @ foo:1.2 @ leaf]:7:1\n 1: 4\n[leaf]:3:3\n 1: 3\n")
	q, losses, err := p.ToGCOV(false, nil)
	require.NoError(t, err)
	require.Equal(t, Losses{Contexts: 1, Totals: 2}, losses)
	want, _, err := parse(t, "main:8:2\n 1: 4\n 3: foo:4\n  1.2: leaf:4\n   1: 4\nleaf:3:3\n 1: 3\n").ToGCOV(false, nil)
	require.NoError(t, err)
	require.NoError(t, profile.Compare(want, q))
}

func TestFromGCOVLosses(t *testing.T) {
	q := profile.New()
	var body profile.Body
	body.Call(3, 1, q.AddSymbol(q.AddUnit("b.c"), "f"), 5)
	body.Enter(4, 0, q.AddSymbol(profile.UnknownUnit, "g"))
	body.Count(1, 0, 6)
	body.Call(2, 0, q.AddSymbol(profile.UnknownUnit, "f"), 5)
	body.Leave()
	q.AddFunction(q.AddSymbol(q.AddUnit("a.c"), "main"), profile.Function{HeadCount: 1, Timestamp: 2, Records: body.Records()})
	q.AddFunction(q.AddSymbol(q.AddUnit("b.c"), "main"), profile.Function{HeadCount: 1, Records: body.Records()})
	p, losses := FromGCOV(q)
	assert.Equal(t, Losses{Units: 2, Symbols: 1, Timestamps: 1}, losses)
	assert.Equal(t, "main:12:2\n 3.1: 0 f:10\n 4: g:12\n  1: 12\n  2: 0 f:10\n", textOf(t, p))
	body.Reset()
	body.Count(5, 0, 7)
	body.Count(1<<16+5, 0, 1)
	body.Count(1<<17, 0, 0)
	body.Enter(1<<16+3, 1, q.AddSymbol(profile.UnknownUnit, "g"))
	body.Count(1<<16, 0, 4)
	body.Leave()
	long := profile.New()
	long.AddSymbol(profile.UnknownUnit, "g") // of the number that the records have
	for long.NumSymbols() < q.NumSymbols() {
		long.AddSymbol(profile.UnknownUnit, "g"+strconv.Itoa(long.NumSymbols()))
	}
	long.AddFunction(long.AddSymbol(profile.UnknownUnit, "long"), profile.Function{Records: body.Records()})
	p, losses = FromGCOV(long)
	assert.Equal(t, Losses{SilentLines: 1, FoldedLines: 3}, losses)
	assert.Regexp(t, "^long:12:0\\n 5: 8\\n 3.1: g[0-9]*:4\\n  0: 4\\n$", textOf(t, p))
}

// TestFromGCOVSameLocation converts a call without a count whose location is also that of the last
// call in the inlined body before it. Each of the two calls needs a count of its own.
func TestFromGCOVSameLocation(t *testing.T) {
	q := profile.New()
	var body profile.Body
	f, g := q.AddSymbol(profile.UnknownUnit, "f"), q.AddSymbol(profile.UnknownUnit, "g")
	body.Enter(0, 0, g)
	body.Call(3, 1, f, 5)
	body.Leave()
	body.Call(3, 1, g, 6)
	body.Call(3, 1, f, 4)
	q.AddFunction(q.AddSymbol(profile.UnknownUnit, "main"), profile.Function{Records: body.Records()})
	p, losses := FromGCOV(q)
	assert.Zero(t, losses)
	assert.Equal(t, "main:0:0\n 3.1: 0 g:6 f:4\n 0: g:0\n  3.1: 0 f:5\n", textOf(t, p))
	var file bytes.Buffer
	require.NoError(t, WriteExtBinary(&file, p, WriteOptions{}))
	r, err := OpenBytes(file.Bytes())
	require.NoError(t, err)
	assert.Empty(t, slices.Collect(r.Check()))
}

// TestToGCOVFiles passes ToGCOV the source files of functions, which become the units of the
// symbols.
func TestToGCOVFiles(t *testing.T) {
	p := parse(t, "main:9:1\n 1: 2 f:2\n 2: g:7\n  1: 7\nf:3:3\n 1: 3\n")
	q, losses, err := p.ToGCOV(false, func(name string) string {
		return map[string]string{"main": "a.c", "g": "g.h"}[name]
	})
	require.NoError(t, err)
	assert.Zero(t, losses)
	want := profile.New()
	a, g := want.AddUnit("a.c"), want.AddUnit("g.h")
	f := want.AddSymbol(profile.UnknownUnit, "f")
	var body profile.Body
	body.Count(1, 0, 2)
	body.Call(1, 0, f, 2)
	body.Enter(2, 0, want.AddSymbol(g, "g"))
	body.Count(1, 0, 7)
	body.Leave()
	want.AddFunction(want.AddSymbol(a, "main"), profile.Function{HeadCount: 1, Records: body.Records()})
	body.Reset()
	body.Count(1, 0, 3)
	want.AddFunction(f, profile.Function{HeadCount: 3, Records: body.Records()})
	assert.NoError(t, profile.Compare(want, q))
}
