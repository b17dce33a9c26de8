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

// uses makes a profile of units with symbols of so many uses, one function that has them all, and
// what newFile makes of it.
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

// bestBelow tries every unit as the last with every number of whole ones before it.
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

// On real profiles no choice of units is better: neither of the whole ones nor of the last.
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

// knapsack returns the most uses that room for so many symbols can hold if any units may be taken
// as a whole and any one in part.
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

// A large unit that is used little, but for a few symbols, must not push these behind small units.
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

// idBytes is how many bytes a compact file spends on IDs in location records.
func idBytes(f *fileLayout) (n int) {
	for s, uses := range f.countUses() {
		n += int(uses) * varintLen(uint64(f.ids[s]))
	}
	return n
}

// leastIDBytes is idBytes if the IDs of a unit needed not be contiguous.
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

// numberByName is the numbering of a writer that does not care: units by path, symbols by name.
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

// With IDs of one, two and three bytes, the order by use must lie between the order by name and
// what could be had if the IDs of a unit were not contiguous.
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
