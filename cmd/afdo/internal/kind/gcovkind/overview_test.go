package gcovkind

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
)

// TestOverview checks the figures of an overview, and that other bytes are not read as one.
func TestOverview(t *testing.T) {
	p := synth.Profile(synth.Small)
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{Compact: true}))
	r, err := afdo.OpenBytes(file.Bytes())
	require.NoError(t, err)
	data, err := NewOverview(r)
	require.NoError(t, err)
	o := decodeOverview(data)
	require.NotNil(t, o)
	want, err := takeTally(r)
	require.NoError(t, err)
	o.tally.header = want.header
	require.Equal(t, want, o.tally)
	o.reader = r
	units, err := o.Units()
	require.NoError(t, err)
	wantUnits, err := unitsOf(r)
	require.NoError(t, err)
	require.Equal(t, wantUnits, units)
	require.True(t, o.Lists(maxHottest))
	require.False(t, o.Lists(maxHottest+1))
	require.False(t, o.Lists(0))

	for n := range data {
		require.Nil(t, decodeOverview(data[:n]), "%d bytes", n)
	}
	random := rand.New(rand.NewPCG(1, 0x0e))
	for range 2_000 {
		bad := slices.Clone(data)
		for range 1 + random.IntN(3) {
			bad[random.IntN(len(bad))] = byte(random.Uint32())
		}
		decodeOverview(bad) // must not panic
	}
}

// TestOverviewListsAll checks that the overview of a small file lists all functions.
func TestOverviewListsAll(t *testing.T) {
	p := profile.New()
	var body profile.Body
	body.Count(1, 0, 5)
	p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "f"), profile.Function{HeadCount: 1, Records: body.Records()})
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{}))
	r, err := afdo.OpenBytes(file.Bytes())
	require.NoError(t, err)
	data, err := NewOverview(r)
	require.NoError(t, err)
	o := decodeOverview(data)
	require.NotNil(t, o)
	require.True(t, o.Lists(0))
	require.EqualValues(t, 5, o.Ranking.Total)
}

// TestOverviewOfMissingSymbol checks that an overview lists no functions if a record refers to a
// symbol that does not exist, because the verb top fails then.
func TestOverviewOfMissingSymbol(t *testing.T) {
	for _, l := range []naive.Location{gen.Inlined(2, 1, 77), {Type: naive.CalledFn, Line: 4, Targets: []naive.Target{{Callee: 77, Count: 1}}}} {
		f := &naive.File{Units: []naive.Unit{{Path: "a.c", Start: 1, End: 3, Symbols: []naive.Symbol{
			{ID: 1, Name: "f", HasInfo: true, Head: 7, Locations: []naive.Location{l}}, {ID: 2, Name: "g"},
		}}}}
		r, err := afdo.OpenBytes(gen.Encode(f, true))
		require.NoError(t, err)
		data, err := NewOverview(r)
		require.NoError(t, err)
		o := decodeOverview(data)
		require.NotNil(t, o)
		require.False(t, o.Lists(1))
	}
}
