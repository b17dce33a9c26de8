package encode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// usesFile returns the layout of a file for a profile. units contains, for each unit, the number of
// references to each of its symbols. One function has all of these references.
func usesFile(t testing.TB, units [][]int) *fileLayout {
	p := profile.New()
	var b profile.Body
	line := uint32(0)
	for i, counts := range units {
		unit := p.AddUnit(fmt.Sprintf("unit %03d", i))
		for j, n := range counts {
			s := p.AddSymbol(unit, fmt.Sprintf("%d.%05d", i, j))
			for range n {
				b.Call(line, 0, s, 1)
				line++
			}
		}
	}
	p.AddFunction(p.AddSymbol(profile.UnknownUnit, "main"), profile.Function{Records: b.Records()})
	f, err := newFile(p)
	require.NoError(t, err)
	return f
}

func drawUses(r *rand.Rand, units, symbols, uses int) [][]int {
	drawn := make([][]int, 1+r.IntN(units))
	for i := range drawn {
		drawn[i] = make([]int, r.IntN(symbols))
		for j := range drawn[i] {
			if r.IntN(3) == 0 {
				drawn[i][j] = r.IntN(uses)
			}
		}
	}
	return drawn
}

// bestBelow returns the most references that IDs below a bound can have, if some of the first units
// get IDs as a whole and any unit comes last. It tries all choices.
func bestBelow(r *ranking, room uint64) uint64 {
	best := uint64(0)
	for last := range r.units {
		for n := range len(r.units) + 1 {
			left, uses := int(room), uint64(0)
			for i := range n {
				if i != last {
					left -= len(r.units[i].counts)
					uses += r.units[i].uses
				}
			}
			if left < 0 || left > len(r.units[last].counts) {
				continue
			}
			for _, n := range r.units[last].counts[:left] {
				uses += uint64(n)
			}
			best = max(best, uses)
		}
	}
	return best
}

func TestTake(t *testing.T) {
	for seed := range uint64(testenv.Rounds(20, 500)) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		r := usesFile(t, drawUses(rnd, 12, 20, 30)).plan.rank()
		if r.size() < 2 {
			continue
		}
		room := 1 + rnd.Uint64N(r.size()-1)
		units, best := slices.Clone(r.units), bestBelow(&r, room)

		taken := r.take(room)
		left, uses := int(room), uint64(0)
		for _, u := range taken {
			require.Positive(t, left, "no unit begins beyond the room")
			n := min(left, len(u.counts))
			for _, used := range u.counts[:n] {
				uses += uint64(used)
			}
			left -= n
		}
		require.Zero(t, left, "seed %d: all room is taken", seed)
		require.Equal(t, best, uses, "seed %d", seed)
		require.ElementsMatch(t, units, append(taken, r.units...))
	}
}

// For real profiles, ranking.take finds the best choice of whole units and of the last unit.
func TestTakeIsBestOnRealProfiles(t *testing.T) {
	for _, name := range []string{"libgui", "libart_arm", "keystore2"}[:testenv.Rounds(1, 3)] {
		t.Run(name, func(t *testing.T) {
			p, err := gcov.ParseBytes(corpus(t, name+".v3"))
			require.NoError(t, err)
			f, err := newFile(p)
			require.NoError(t, err)
			r := f.plan.rank()
			const room = 128
			require.Greater(t, r.size(), uint64(room))
			assert.Equal(t, knapsack(&r, room), bestBelow(&r, room))
		})
	}
}

// knapsack returns the most references that room symbol IDs can have, if any units get IDs as a
// whole and one unit in part.
func knapsack(r *ranking, room int) uint64 {
	whole, parted := make([]uint64, room+1), make([]uint64, room+1) // by room
	for i := range r.units {
		u := &r.units[i]
		sums := r.sums(nil, u)
		for left := room; left >= 0; left-- {
			for part := range min(left, len(u.counts)) + 1 {
				parted[left] = max(parted[left], whole[left-part]+sums[part])
			}
			if n := len(u.counts); n <= left {
				parted[left] = max(parted[left], parted[left-n]+u.uses)
				whole[left] = max(whole[left], whole[left-n]+u.uses)
			}
		}
	}
	return parted[room]
}

// The few symbols with many references in a large unit get lower IDs than the symbols of small
// units with fewer references.
func TestFewMuchUsedSymbolsOfALargeUnit(t *testing.T) {
	large := make([]int, 1000)
	for i := 0; i < 1000; i += 10 {
		large[i] = 9
	}
	units := [][]int{large}
	for range 200 {
		units = append(units, []int{2, 2, 2})
	}
	f := usesFile(t, units)
	f.plan.orderSymbols()
	f.number()
	low := 0
	for _, s := range f.units[1].byName {
		if name := f.profile.SymbolName(s); strings.HasSuffix(name, "0") {
			assert.Less(t, f.ids[s], uint32(128), name)
			low++
		}
	}
	assert.Equal(t, 100, low)
	assert.Equal(t, 100*9+27*2+(600-27)*2*2, idBytes(f), "100 symbols and 9 small units in one byte, the rest in two")
}

// idBytes returns the number of bytes that symbol IDs in location records take in a compact file.
func idBytes(f *fileLayout) (n int) {
	for s, uses := range f.countUses() {
		n += int(uses) * varintLen(uint64(f.ids[s]))
	}
	return n
}

// leastIDBytes returns what idBytes would be if the IDs of a unit did not have to be contiguous.
func leastIDBytes(f *fileLayout) (n int) {
	all := f.countUses()
	slices.Sort(all)
	slices.Reverse(all)
	for id, uses := range all {
		n += int(uses) * varintLen(uint64(id))
	}
	return n
}

func varintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// numberByName numbers units by path and symbols by name, as a writer does that does not minimise
// the size.
func numberByName(f *fileLayout) {
	next := uint32(0)
	for _, i := range f.plan.byPath {
		u := &f.units[i]
		f.plan.starts[i] = next
		copy(u.byID, u.byName)
		for _, s := range u.byID {
			f.ids[s] = next
			next++
		}
	}
}

// For profiles with IDs of one, two and three bytes, the builder's order takes at most as many
// bytes as the order by name, and at least as many as an order without contiguous IDs.
func TestOrderAcrossBounds(t *testing.T) {
	for seed := range uint64(3) {
		f := usesFile(t, drawUses(rand.New(rand.NewPCG(seed, 6)), 200, 600, 20))
		f.plan.orderSymbols()
		f.number()
		got := idBytes(f)

		best := leastIDBytes(f)
		numberByName(f)
		assert.Less(t, got, idBytes(f), "seed %d", seed)
		assert.GreaterOrEqual(t, got, best, "seed %d", seed)
	}
}
