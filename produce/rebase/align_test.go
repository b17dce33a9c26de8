package rebase

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

func linesOf(texts []string) []outline.Line {
	text := strings.Join(texts, "\n")
	f := outline.Function{Names: []outline.Name{{}}, End: len(text)}
	return f.Lines([]byte(text), 0)
}

// TestAlignmentIsOneToOne checks that each new line has at most one old line.
func TestAlignmentIsOneToOne(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		text := func() []string {
			lines := make([]string, rng.IntN(120))
			for i := range lines {
				lines[i] = fmt.Sprintf("x%d = f%d(%d);", rng.IntN(20), rng.IntN(4), rng.IntN(3))
			}
			return lines
		}
		old, new := text(), text()
		if rng.IntN(2) == 0 {
			new = slices.Insert(slices.Clone(old), rng.IntN(len(old)+1), new...)
		}
		a := align(linesOf(old), linesOf(new))
		for i, j := range a.to {
			if j != none {
				require.EqualValues(t, i, a.from[j])
			}
		}
		paired := func(lines []int32) (n int) {
			for _, j := range lines {
				if j != none {
					n++
				}
			}
			return n
		}
		require.Equal(t, paired(a.to), paired(a.from))
		require.GreaterOrEqual(t, a.left, 0)
		_, to := offsets(a)
		seen := map[int32]bool{}
		for _, line := range to {
			if line != none {
				require.False(t, seen[line], "two offsets on one")
				seen[line] = true
			}
		}
	}
}

// TestAlignLarge aligns functions without a common line, and functions with many repeated lines.
// Lines that cannot be aligned within the limit of comparisons stay unaligned.
func TestAlignLarge(t *testing.T) {
	n := testenv.Rounds(30_000, 100_000)
	old, new, same := make([]outline.Line, n), make([]outline.Line, n), make([]outline.Line, n)
	for i := range n {
		old[i] = outline.Line{Offset: int32(i), Hash: uint64(i) + 1, Bits: 64, Weight: 2, Words: []uint32{1, 2}}
		new[i] = outline.Line{Offset: int32(i), Hash: uint64(i+n) + 1, Bits: 64, Weight: 2, Words: []uint32{1, 2}}
		same[i] = outline.Line{Offset: int32(i), Hash: 1, Bits: 64, Weight: 2, Words: []uint32{1, 2}}
	}
	a := align(old, new)
	assert.Equal(t, comparisons*2*n, a.left, "nothing is compared")
	assert.NotContains(t, a.from, int32(0))
	a = align(same, append([]outline.Line{new[0]}, same[1:]...))
	assert.EqualValues(t, n-1, a.to[n-1])
	shuffled := slices.Clone(old)
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	a = align(old, shuffled)
	assert.NotContains(t, a.to, int32(none), "all were moved")
}

// TestMarksThatDiffer aligns functions of 100,000 lines whose text is unknown, if all fingerprints
// (marks) of their lines differ. The number of comparisons stays within its limit.
func TestMarksThatDiffer(t *testing.T) {
	lines := func(seed uint64) []outline.Line {
		rng := rand.New(rand.NewPCG(seed, 1))
		marks := make([]outline.Mark, 100_000)
		for i := range marks {
			marks[i] = outline.Mark(rng.UintN(19))
		}
		return outline.Marked(marks)
	}
	old, new := lines(1), lines(2)
	a := align(old, new)
	assert.GreaterOrEqual(t, a.left, 0)
	for i, j := range a.to {
		if j != none {
			require.EqualValues(t, i, a.from[j])
		}
	}
}

// If lines were inserted after every few lines, there are no long sequences of equal line
// fingerprints (marks). Most lines are found nevertheless, because equal marks next to each other
// are preferred to marks that are equal by chance.
func TestMarksBetweenInsertedLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 0))
	right, all := 0, 0
	for range 50 {
		var old, new []outline.Mark
		var at []int
		for len(old) < 150 {
			for range 1 + rng.IntN(4) {
				m := outline.Mark(1 + rng.UintN(16))
				at = append(at, len(new))
				old, new = append(old, m), append(new, m)
			}
			old, at = append(old, outline.Mark(1+rng.UintN(16))), append(at, none) // a line that is gone
			for range 2 + rng.IntN(6) {
				new = append(new, outline.Mark(1+rng.UintN(16)))
			}
		}
		a := align(outline.Marked(old), outline.Marked(new))
		for i, j := range at {
			if j != none {
				all++
			}
			if j != none && int(a.to[i]) == j {
				right++
			}
		}
	}
	t.Logf("%d of %d", right, all)
	assert.Greater(t, float64(right), 0.92*float64(all))
}
