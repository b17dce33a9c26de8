package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestAddFunctionAgainstNaive(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			for range testenv.Rounds(2, 20) {
				p := New()
				naive := make([]*naiveBody, 5)
				for i := range naive {
					require.EqualValues(t, i, p.AddSymbol(UnknownUnit, fmt.Sprint(i)))
					naive[i] = newNaiveBody()
				}
				var b Body
				for range 40 {
					s := rng.IntN(len(naive))
					b.Reset()
					shape.fill(rng, &b, naive[s], 0)
					p.AddFunction(SymbolRef(s), Function{HeadCount: 1, Records: b.Records()})
					if rng.IntN(10) > 0 { // now and then look at one
						continue
					}
					s = rng.IntN(len(naive))
					requireRecords(t, naive[s].records(), p.Function(SymbolRef(s)))
				}
				for s := range naive {
					requireRecords(t, naive[s].records(), p.Function(SymbolRef(s)))
				}
			}
		})
	}
}

func requireRecords(t *testing.T, want []Record, f *Function) {
	t.Helper()
	if f == nil {
		require.Empty(t, want)
		return
	}
	require.Equal(t, want, append([]Record(nil), f.Records...))
}

func TestAddFunctionHeader(t *testing.T) {
	tests := []struct {
		name   string
		pieces []Function
		want   *Function
	}{
		{"nothing", []Function{{}}, nil},
		{"nothing twice", []Function{{}, {}}, nil},
		{"no records", []Function{{Records: []Record{}}}, nil},
		{"head count alone", []Function{{HeadCount: 1}}, &Function{HeadCount: 1}},
		{"timestamp alone", []Function{{Timestamp: 1}}, &Function{Timestamp: 1}},
		{"records alone", []Function{{Records: []Record{{Line: 1}}}}, &Function{Records: []Record{{Line: 1}}}},
		{"sum", []Function{{HeadCount: 1}, {HeadCount: 2}}, &Function{HeadCount: 3}},
		{"saturated", []Function{{HeadCount: math.MaxUint64}, {HeadCount: 2}}, &Function{HeadCount: math.MaxUint64}},
		{"earlier first", []Function{{Timestamp: 3}, {Timestamp: 5}}, &Function{Timestamp: 3}},
		{"earlier last", []Function{{Timestamp: 5}, {Timestamp: 3}}, &Function{Timestamp: 3}},
		{"unavailable first", []Function{{HeadCount: 1}, {Timestamp: 3}}, &Function{HeadCount: 1, Timestamp: 3}},
		{"unavailable last", []Function{{Timestamp: 3}, {HeadCount: 1}}, &Function{HeadCount: 1, Timestamp: 3}},
		{"records last", []Function{{HeadCount: 1}, {Records: []Record{{Line: 1}}}}, &Function{HeadCount: 1, Records: []Record{{Line: 1}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := New()
			s := p.AddSymbol(UnknownUnit, "f")
			for _, f := range test.pieces {
				p.AddFunction(s, f)
			}
			assert.Equal(t, test.want, p.Function(s))
			if test.want == nil {
				assert.Zero(t, p.NumFunctions())
			} else {
				assert.Equal(t, 1, p.NumFunctions())
			}
		})
	}
}

func TestAddFunctionCopiesRecords(t *testing.T) {
	p := New()
	s := p.AddSymbol(UnknownUnit, "f")
	records := []Record{{Line: 1, Count: 1}, {Line: 2, Count: 2}}
	p.AddFunction(s, Function{Records: records})
	records[0].Line = 7
	assert.Equal(t, []Record{{Line: 1, Count: 1}, {Line: 2, Count: 2}}, p.Function(s).Records)

	// Its own records are as good as any.
	p.AddFunction(s, *p.Function(s))
	assert.Equal(t, []Record{{Line: 1, Count: 2}, {Line: 2, Count: 4}}, p.Function(s).Records)
}

// TestAddFunctionInPieces adds a function in so many pieces that merging each piece with the whole
// function would take hours.
func TestAddFunctionInPieces(t *testing.T) {
	n := testenv.Rounds(50_000, 500_000)
	p := New()
	s := p.AddSymbol(UnknownUnit, "f")
	large := make([]Record, n)
	for i := range large {
		large[i] = Record{Line: uint32(2 * i), Count: 1}
	}
	p.AddFunction(s, Function{Records: large})
	for i := range uint32(n) {
		p.AddFunction(s, Function{HeadCount: 1, Records: []Record{{Line: i ^ 0x55, Count: 1}}})
	}
	f := p.Function(s)
	assert.EqualValues(t, n, f.HeadCount)
	pieces := map[uint32]uint64{}
	for i := range uint32(n) {
		pieces[2*i]++
		pieces[i^0x55]++
	}
	require.Len(t, f.Records, len(pieces))
	for i, r := range f.Records {
		if i > 0 && f.Records[i-1].Line >= r.Line || r.Count != pieces[r.Line] {
			require.Equal(t, pieces[r.Line], r.Count, "record %d", i)
		}
	}
}

// TestReadersSettleTogether has many goroutines read a function with waiting pieces at once, for
// the race detector.
func TestReadersSettleTogether(t *testing.T) {
	p := New()
	large := make([]Record, 1000)
	for i := range large {
		large[i] = Record{Line: uint32(i), Count: 1}
	}
	for i := range 20 {
		s := p.AddSymbol(UnknownUnit, fmt.Sprint(i))
		p.AddFunction(s, Function{Records: large})
		p.AddFunction(s, Function{Records: []Record{{Line: 5000}}})
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, f := range p.Functions() {
				assert.Len(t, f.Records, 1001)
			}
		})
	}
	wg.Wait()
}

func TestFunctionsInOrder(t *testing.T) {
	p := New()
	for i := range 10 {
		p.AddSymbol(UnknownUnit, fmt.Sprint(i))
	}
	for _, s := range []SymbolRef{7, 2, 9, 0} {
		p.AddFunction(s, Function{HeadCount: uint64(s) + 1})
	}
	var got []SymbolRef
	for s, f := range p.Functions() {
		assert.Equal(t, uint64(s)+1, f.HeadCount)
		assert.Same(t, f, p.Function(s))
		got = append(got, s)
	}
	assert.Equal(t, []SymbolRef{0, 2, 7, 9}, got)
	for s := range p.Functions() {
		assert.Zero(t, s)
		break
	}
	assert.Nil(t, p.Function(1))
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestMemoryOfRecords(t *testing.T) {
	for _, length := range []int{1, 10, 1000, 5000, 200_000} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			records := make([]Record, length)
			for i := range records {
				records[i].Line = uint32(i)
			}
			functions := testenv.Rounds(200_000, 1_000_000) / length
			p := New()
			for i := range functions {
				p.AddSymbol(UnknownUnit, fmt.Sprint(i))
			}
			got := allocated(func() {
				for i := range functions {
					p.AddFunction(SymbolRef(i), Function{Records: records})
				}
			})
			// The records, the larger ones rounded up to pages, and the table of functions.
			assert.Less(t, got, uint64(32*functions*length+40*functions))
		})
	}
}

// TestMemoryOfMerging merges functions with new records each time, so that the old copies of their
// records become garbage.
func TestMemoryOfMerging(t *testing.T) {
	functions, rounds := testenv.Rounds(100, 2000), 20
	p := New()
	for i := range functions {
		p.AddSymbol(UnknownUnit, fmt.Sprint(i))
	}
	before := heapInUse()
	for round := range rounds {
		for i := range functions {
			records := make([]Record, 50)
			for j := range records {
				records[j] = Record{Line: uint32(j), Discriminator: uint32(round)}
			}
			p.AddFunction(SymbolRef(i), Function{Records: records})
		}
	}
	total := 0
	for _, f := range p.Functions() {
		require.Len(t, f.Records, 50*rounds)
		total += len(f.Records)
	}
	assert.Less(t, heapInUse()-before, uint64(2*24*total+24*maxRecordChunk))

	// The same again adds counts in place, given some memory to work in.
	f := *p.Function(0)
	got := allocated(func() {
		for range 100 {
			p.AddFunction(0, f)
		}
	})
	assert.Less(t, got, uint64(24*len(f.Records)*20))
}

func TestMemoryOfSymbols(t *testing.T) {
	const length = 50
	n := testenv.Rounds(50_000, 200_000)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%0*d", length, i)
	}
	var p *Profile
	add := func() {
		p = New()
		for _, name := range names {
			p.AddSymbol(UnknownUnit, name)
		}
	}
	assert.Less(t, testing.AllocsPerRun(1, add), float64(n)/100)
	assert.Less(t, allocated(add), uint64(n*(length+100)))
	assert.Equal(t, n, p.NumSymbols())
}
