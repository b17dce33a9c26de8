package profile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A numbered contains a profile's contents with all numbers, for comparison by require.Equal.
type numbered struct {
	paths, names []string
	files        []UnitRef
	functions    map[SymbolRef]Function
}

func numbers(p *Profile) numbered {
	n := numbered{functions: map[SymbolRef]Function{}}
	for f := range p.NumUnits() {
		n.paths = append(n.paths, p.UnitPath(UnitRef(f)))
	}
	for s := range p.NumSymbols() {
		n.names = append(n.names, p.SymbolName(SymbolRef(s)))
		n.files = append(n.files, p.SymbolUnit(SymbolRef(s)))
	}
	for s, f := range p.Functions() {
		n.functions[s] = *f
	}
	return n
}

// TestMergeAnyGroupingAndOrder merges many inputs with weights in any order and grouping. The
// result has the same contents, even if counts saturate.
func TestMergeAnyGroupingAndOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	saturations := 0
	for range testenv.Rounds(15, 150) {
		inputs := make([]*Profile, 1+rng.IntN(9))
		weights := make([]Ratio, len(inputs))
		want := naiveProfile{}
		for i := range inputs {
			inputs[i], weights[i] = randomProfile(rng), randomRatio(rng)
			n := spell(inputs[i])
			n.scale(weights[i])
			want.merge(n)
		}
		for range 4 {
			var groups []*Profile
			for _, i := range rng.Perm(len(inputs)) {
				if len(groups) == 0 || rng.IntN(3) == 0 {
					groups = append(groups, New())
				}
				groups[rng.IntN(len(groups))].MergeScaled(inputs[i], weights[i])
			}
			for len(groups) > 1 { // merge any two
				i, j := rng.IntN(len(groups)), len(groups)-1
				if i != j {
					groups[i].Merge(groups[j])
					groups = groups[:j]
				}
			}
			require.Equal(t, want, spell(groups[0]))
		}
		for _, f := range want {
			for _, count := range f.body {
				if count == 1<<64-1 {
					saturations++
				}
			}
		}
	}
	assert.Greater(t, saturations, testenv.Rounds(100, 1000))
}

func TestSumAgainstOneByOne(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(43, 44))
	for n := range testenv.Rounds(20, 100) {
		runtime.GOMAXPROCS(1 + n%5)
		inputs := make([]*Profile, n)
		weights := make([]Ratio, n)
		oneByOne := New()
		for i := range inputs {
			inputs[i], weights[i] = randomProfile(rng), randomRatio(rng)
			oneByOne.MergeScaled(inputs[i], weights[i])
		}
		before := make([]any, n)
		for i, p := range inputs {
			before[i] = numbers(p)
		}
		sum, err := Sum(n, func(i int) (*Profile, Ratio, error) { return inputs[i], weights[i], nil })
		require.NoError(t, err)
		require.Equal(t, numbers(oneByOne), numbers(sum))
		require.Nil(t, sum.Summary)
		for i, p := range inputs {
			require.Equal(t, before[i], numbers(p), "Sum does not change its inputs")
		}
	}
}

func TestSumGivesTheFirstError(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rng := rand.New(rand.NewPCG(45, 46))
	for range 50 {
		n := 1 + rng.IntN(200)
		bad := make([]bool, n)
		first := rng.IntN(n)
		for i := first; i < n; i++ {
			bad[i] = i == first || rng.IntN(3) == 0
		}
		var running, loaded atomic.Int32
		sum, err := Sum(n, func(i int) (*Profile, Ratio, error) {
			running.Add(1)
			defer running.Add(-1)
			loaded.Add(1)
			runtime.Gosched()
			if bad[i] {
				return nil, Ratio{}, fmt.Errorf("input %d", i)
			}
			return New(), one, nil
		})
		require.Nil(t, sum)
		require.EqualError(t, err, fmt.Sprint("input ", first))
		require.Zero(t, running.Load())
		require.LessOrEqual(t, int(loaded.Load()), first+1+4*maxBatch, "it goes on after an error")
	}
}

func TestSumLimitsWhatIsLoaded(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	var running, most atomic.Int32
	_, err := Sum(500, func(int) (*Profile, Ratio, error) {
		now := running.Add(1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		runtime.Gosched()
		running.Add(-1)
		return New(), one, nil
	})
	require.NoError(t, err)
	assert.LessOrEqual(t, int(most.Load()), maxWorkers)
}

func TestSumOfNothing(t *testing.T) {
	sum, err := Sum(0, func(int) (*Profile, Ratio, error) { return nil, Ratio{}, errors.New("called") })
	require.NoError(t, err)
	assert.NoError(t, Compare(New(), sum))
}

// manyInputs returns a function that makes input i, of about 1,000 records. Inputs have most of
// their locations in common, and each has one that no other has.
func manyInputs() func(i int) (*Profile, Ratio, error) {
	const functions = 20
	rng := rand.New(rand.NewPCG(47, 48))
	var models [16]*Profile
	var b Body
	for i := range models {
		p := New()
		for s := range functions {
			f := p.AddSymbol(p.AddUnit(fmt.Sprint(s/10, ".c")), fmt.Sprint("function ", s))
			b.Reset()
			for line := range uint32(40) {
				b.Count(line, 0, rng.Uint64N(100))
				if rng.IntN(4) == 0 {
					b.Enter(line, 0, f)
					b.Count(rng.Uint32N(20), 0, 1)
					b.Leave()
				}
			}
			p.AddFunction(f, Function{HeadCount: 1, Records: b.Records()})
		}
		models[i] = p
	}
	return func(i int) (*Profile, Ratio, error) {
		p := merged(models[i%len(models)])
		p.AddFunction(SymbolRef(i%functions), Function{Records: []Record{{Line: uint32(1000 + i)}}})
		return p, one, nil
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func allocatedSoFar() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// memoryOf returns a limit on the memory of a growing profile: for records, as much garbage, room
// to grow, and scratch memory.
func memoryOf(p *Profile) uint64 { return uint64(4*24*records(p) + 4*24*maxRecordChunk) }

// TestMergeMemory merges thousands of inputs, each of which makes a function longer. The memory in
// use stays proportional to the sum, and the allocated memory to the number of inputs.
func TestMergeMemory(t *testing.T) {
	testenv.NeedSweep(t)
	const n = 4000
	load := manyInputs()
	sum := New()
	before := heapInUse()
	var most, half, whole uint64
	for i := range n {
		p, _, _ := load(i)
		start := allocatedSoFar()
		sum.Merge(p)
		if whole += allocatedSoFar() - start; i < n/2 {
			half = whole
		}
		if i%500 == 499 {
			most = max(most, heapInUse())
		}
	}
	assert.Less(t, most-before, memoryOf(sum))
	assert.Less(t, whole, 4*half)
	runtime.KeepAlive(load)
}

// TestSumMemory checks that Sum never holds more than a few sums, although the inputs together are
// many times larger.
func TestSumMemory(t *testing.T) {
	testenv.NeedSweep(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const n = 4000
	load := manyInputs()
	before := heapInUse()
	var most uint64
	var calls atomic.Int32
	sum, err := Sum(n, func(i int) (*Profile, Ratio, error) {
		if calls.Add(1)%1000 == 0 {
			most = max(most, heapInUse()) // by one goroutine at a time, so far are they apart
		}
		return load(i)
	})
	require.NoError(t, err)
	const inputs = n * 24 * 1000
	bound := 8 * memoryOf(sum) // two workers' and the whole, and what they drop while memory is being looked at
	assert.Less(t, most-before, bound)
	assert.Less(t, bound, uint64(inputs/2))
	runtime.KeepAlive(load)
}
