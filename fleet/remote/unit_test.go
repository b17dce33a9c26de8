package remote_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/internal/source"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/textfmt"
)

// asHelper are the options with which the program afdo-fetch opens a file.
var asHelper = []remote.Option{blocks}

// headers returns a profile like that of synth.Android with a quarter of its size.
var headers = synth.Options{Seed: 1, Units: 300, Functions: 2_000, Shape: synth.Headers}

// memory is a source that serves bytes in memory.
type memory struct{ data []byte }

func (memory) Name() string { return "memory" }
func (memory) Close() error { return nil }

func (m memory) Fetch(_ context.Context, r source.Range, _ source.Version) (source.Part, error) {
	size := int64(len(m.data))
	p := source.Part{Low: r.Low, High: min(r.High, size), Size: size, Version: source.Version{ETag: "1"}}
	if r.Low < 0 {
		p.Low, p.High = max(size+r.Low, 0), size
	}
	p.Body = io.NopCloser(bytes.NewReader(m.data[p.Low:p.High]))
	return p, nil
}

// costs are the numbers of requests and bytes for reading one unit. unit is for opening the file
// and loading the unit. text includes the names of all its callees.
type costs struct{ unit, text remote.Stats }

func costsOf(t testing.TB, s source.Source, path string, options ...remote.Option) (c costs, text string) {
	t.Helper()
	f, err := remote.Open(t.Context(), "", append([]remote.Option{source.Use(s)}, options...)...)
	require.NoError(t, err)
	r, err := afdo.NewReader(f, f.Size(), afdo.TrustIndex())
	require.NoError(t, err)
	u, err := r.Unit(path)
	require.NoError(t, err)
	require.NoError(t, u.Load())
	c.unit = f.Stats()
	var b bytes.Buffer
	require.NoError(t, textfmt.PrintUnit(&b, r, u))
	c.text = f.Stats()
	return c, b.String()
}

// Any unit of a profile, with the names of all its callees, takes at most 12 requests, or 13 from a
// file with an index. The unit alone takes 3 requests, or 4 if the list of units is longer than the
// tail that Open fetches. One read may make several requests at the same time, because blocks in
// the cache are not requested again.
func TestEveryUnit(t *testing.T) {
	shapes := map[string]synth.Options{"plain": synth.Medium}
	if testenv.Sweep() {
		shapes["headers"] = headers
		shapes["large plain"], shapes["large headers"] = synth.Bootstrap, synth.Android
	}
	for name, o := range shapes {
		for _, indexed := range []bool{false, true} {
			data := remotetest.Written(t, o, indexed)
			whole, err := afdo.OpenBytes(data)
			require.NoError(t, err)
			var most, sum costs
			n := int64(0)
			for u, err := range whole.Units() {
				require.NoError(t, err)
				if u.Index()%testenv.Rounds(60, 10, 1) != 0 {
					continue
				}
				c, text := costsOf(t, memory{data}, u.Path(), asHelper...)
				most.unit.Requests = max(most.unit.Requests, c.unit.Requests)
				most.text.Requests = max(most.text.Requests, c.text.Requests)
				most.text.Bytes = max(most.text.Bytes, c.text.Bytes)
				sum.text.Requests += c.text.Requests
				sum.text.Bytes += c.text.Bytes
				if n++; n%4 == 0 {
					var b bytes.Buffer
					require.NoError(t, textfmt.PrintUnit(&b, whole, u))
					require.Equal(t, b.String(), text)
				}
			}
			t.Logf("%s, %d bytes, index %v: %.1f requests and %d bytes a unit, at most %d and %d, of which the unit takes %d",
				name, len(data), indexed, float64(sum.text.Requests)/float64(n), sum.text.Bytes/n,
				most.text.Requests, most.text.Bytes, most.unit.Requests)
			mostText, mostUnit := int64(12), int64(4)
			if indexed {
				mostText, mostUnit = 13, 3
			}
			require.LessOrEqual(t, most.text.Requests, mostText)
			require.LessOrEqual(t, most.unit.Requests, mostUnit)
		}
	}
}
