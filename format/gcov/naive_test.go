package gcov

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// fromNaive returns the profile that the naive decoder reads from a file.
func fromNaive(t testing.TB, data []byte) *profile.Profile {
	t.Helper()
	file, err := naive.DecodeV3(data)
	require.NoError(t, err)
	from, err := file.Canonical()
	require.NoError(t, err)
	p := profile.New()
	symbol := func(k naive.Key) profile.SymbolRef { return p.AddSymbol(p.AddUnit(k.Path), k.Name) }
	for k := range from.Symbols {
		if k != (naive.Key{}) { // added below where something refers to it
			symbol(k)
		}
	}
	var body profile.Body
	var fill func(*naive.Body)
	fill = func(b *naive.Body) {
		for at, n := range b.Counts {
			body.Count(at.Line, at.Disc, n)
		}
		for at, calls := range b.Calls {
			for k, n := range calls {
				body.Call(at.Line, at.Disc, symbol(k), n)
			}
		}
		for at, inlined := range b.Inlined {
			for k, inner := range inlined {
				body.Enter(at.Line, at.Disc, symbol(k))
				fill(inner)
				body.Leave()
			}
		}
	}
	for k, f := range from.Functions {
		body.Reset()
		fill(f.Body)
		p.AddFunction(symbol(k), profile.Function{HeadCount: f.Head, Timestamp: f.Timestamp, Records: body.Records()})
	}
	return p
}

// randomFile returns a valid file without any order, with repeated names and records, and with
// unused names.
func randomFile(rng *rand.Rand, o WriteOptions) []byte {
	f := newFile(o).words(0x67636461, o.Version, rng.Uint32())
	v3 := o.Version == 3
	if v3 {
		f.words(0xa8000000).counters(1, 2, 3, 4, 5, 1).words(6).counters(7, 8)
	}
	f.words(0xaa000000, rng.Uint32())
	if v3 {
		f.words(4).str("x.c").str("").str("a.c").str("x.c")
	}
	names := 1 + rng.Uint32N(8)
	f.words(names)
	for range names {
		f.str([]string{"", "f", "g", "f.cold", "\xff"}[rng.IntN(5)])
		if v3 {
			f.words([]uint32{0, 1, 2, 3, 0xffffffff}[rng.IntN(5)])
		}
	}
	functions := rng.Uint32N(6)
	f.words(0xac000000, rng.Uint32(), functions)
	for range functions {
		f.counters(count(rng))
		if v3 {
			f.counters(count(rng))
		}
		f.words(rng.Uint32N(names))
		randomFileBody(rng, f, names, 4)
	}
	return f.tail().bytes
}

func randomFileBody(rng *rand.Rand, f *file, names uint32, depth int) {
	positions, callSites := rng.Uint32N(5), rng.Uint32N(4)
	if depth == 0 {
		callSites = 0
	}
	f.words(positions, callSites)
	location := func() uint32 { return rng.Uint32N(3)<<16 | rng.Uint32N(2) }
	for range positions {
		targets := rng.Uint32N(3)
		f.words(location(), targets).counters(count(rng))
		for range targets {
			f.words(7).counters(uint64(rng.Uint32N(names)), count(rng))
		}
	}
	for range callSites {
		f.words(location(), rng.Uint32N(names))
		randomFileBody(rng, f, names, depth-1)
	}
}

func TestDecodeAgreesWithNaive(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		for seed := range uint64(testenv.Rounds(60, 300)) {
			data := randomFile(rand.New(rand.NewPCG(seed, 4)), o)
			require.NoError(t, profile.Compare(fromNaive(t, data), decoded(t, data)), "seed %d", seed)
		}
	})
}

func TestWriteAgreesWithNaive(t *testing.T) {
	each(t, func(t *testing.T, o WriteOptions) {
		for seed := range uint64(testenv.Rounds(30, 100)) {
			p := randomProfile(rand.New(rand.NewPCG(seed, 5)), false)
			data, _ := encode(t, p, o)
			want, _ := degrade(p, o.Version)
			require.NoError(t, profile.Compare(want, fromNaive(t, data)), "seed %d", seed)
		}
	})
}
