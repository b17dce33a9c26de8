package encode

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// remember gives the functions of a profile random marks, see profile.Marks.
func remember(r *rand.Rand, p *profile.Profile) {
	for s := range p.NumSymbols() {
		lines := uint32(r.IntN(40))
		if f := p.Function(profile.SymbolRef(s)); f != nil && len(f.Records) > 0 {
			lines += 1 + f.Records[0].Line // as of a function that has its samples
		}
		if lines < 1<<10 && r.IntN(2) == 0 {
			m := make(profile.Marks, lines)
			for i := range m {
				m[i] = 1 + byte(r.UintN(uint(sourcefmt.NumMarks)-1))
			}
			p.SetMarks(profile.SymbolRef(s), m)
			p.SetUnitSum(p.SymbolUnit(profile.SymbolRef(s)), 1+r.Uint32N(9))
		}
	}
}

// The marks of a profile are written and read back. The other sections of the file do not depend on
// them.
func TestSources(t *testing.T) {
	for seed := range uint64(testenv.Rounds(10, 200)) {
		r := rand.New(rand.NewPCG(seed, 0x50))
		truth := draw(t, r)
		p := model(r, truth)
		remember(r, p)
		if !p.HasMarks() {
			continue
		}
		for _, o := range []Options{{}, {Compact: true}, {Index: &index.Options{}}} {
			data := write(t, p, o)
			decoded, err := naive.Decode(data)
			require.NoError(t, err)
			meaning, err := decoded.Canonical()
			require.NoError(t, err)
			require.Equal(t, truth, meaning)
			q, err := profile.Read(open(t, data))
			require.NoError(t, err)
			requireSameMarks(t, p, q)
			o.NoSources = true
			plain := write(t, p, o)
			p2, err := profile.Read(open(t, plain))
			require.NoError(t, err)
			require.False(t, p2.HasMarks())
			require.Less(t, len(plain), len(data))
		}
	}
}

func requireSameMarks(t *testing.T, p, q *profile.Profile) {
	for s := range p.NumSymbols() {
		ref := profile.SymbolRef(s)
		unit, err := q.UnitBySuffix(p.UnitPath(p.SymbolUnit(ref)))
		require.NoError(t, err)
		at, ok := q.FindSymbol(unit, p.SymbolName(ref))
		require.True(t, ok)
		require.True(t, bytes.Equal(p.Marks(ref), q.Marks(at)))
		if p.Marks(ref) != nil {
			require.Equal(t, p.UnitSum(p.SymbolUnit(ref)), q.UnitSum(unit))
		}
	}
}

func written(t *testing.T, p *profile.Profile) []byte {
	var b bytes.Buffer
	require.NoError(t, Write(&b, p, Options{}))
	return b.Bytes()
}

// A sources section is ignored if the units of the file have changed since it was written.
func TestSourcesOfOthers(t *testing.T) {
	p := profile.New()
	s := p.AddSymbol(p.AddUnit("a.c"), "f")
	p.AddFunction(s, profile.Function{HeadCount: 1, Records: []profile.Record{{Line: 1, Count: 5}}})
	p.SetMarks(s, profile.Marks{4, 5})
	data := written(t, p)
	at := bytes.Index(data, []byte("a.c\x00"))
	require.Positive(t, at)
	data[at] = 'b'
	open := func(data []byte) *afdo.Reader {
		r, err := afdo.OpenBytes(data)
		require.NoError(t, err)
		return r
	}
	_, err := profile.ReadSources(open(data))
	require.ErrorIs(t, err, profile.ErrOtherSources)
	q, err := profile.Read(open(data))
	require.NoError(t, err)
	require.False(t, q.HasMarks())
	faults := 0
	for problem := range check.V4(data, check.Options{}) {
		require.ErrorIs(t, problem.Err, profile.ErrOtherSources)
		faults++
	}
	require.Equal(t, 1, faults)
	p.SetMarks(s, profile.Marks{0, 0, 4})
	for problem := range check.V4(written(t, p), check.Options{}) {
		require.ErrorContains(t, problem.Err, "are not those of its samples")
		faults++
	}
	require.Equal(t, 2, faults)
}
