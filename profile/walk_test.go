package profile

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

type step struct {
	record *Record
	depth  int
}

// naiveWalk returns the steps of a walk over records, by recursion.
func naiveWalk(records []Record, depth int) (steps []step) {
	for i := 0; i < len(records); i++ {
		steps = append(steps, step{&records[i], depth})
		if records[i].Kind == KindInlined {
			n := int(records[i].Count)
			steps = append(steps, naiveWalk(records[i+1:i+1+n], depth+1)...)
			i += n
		}
	}
	return steps
}

func walk(records []Record) (steps []step) {
	w := Walk(records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		steps = append(steps, step{r, depth})
	}
	return steps
}

func TestWalkAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			var b Body
			for range testenv.Rounds(30, 300) {
				b.Reset()
				shape.fill(rng, &b, newNaiveBody(), 0)
				got, want := walk(b.Records()), naiveWalk(b.Records(), 0)
				require.Equal(t, len(want), len(got))
				for i := range want {
					require.Same(t, want[i].record, got[i].record)
					require.Equal(t, want[i].depth, got[i].depth)
				}
			}
		})
	}
}

// chain returns a body with n more inlined one into the other, each with a count before and after.
func chain(n int) []Record {
	var b Body
	for range n {
		b.Count(1, 0, 1)
		b.Enter(2, 0, 0)
	}
	for range n {
		b.Leave()
		b.Count(3, 0, 1)
	}
	return b.Records()
}

func TestWalkDeep(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 18, 40, 1000, testenv.Rounds(30_000, 1_000_000)} {
		depth, deepest, total := 0, 0, 0
		w := Walk(chain(n))
		for r, d, ok := w.Next(); ok; r, d, ok = w.Next() {
			total++
			deepest = max(deepest, d)
			if r.Line == 3 {
				depth--
			}
			if d != depth {
				require.Equal(t, depth, d)
			}
			if r.Kind == KindInlined {
				depth++
			}
		}
		assert.Equal(t, max(n-1, 0), deepest)
		assert.Equal(t, 3*n, total)
		assert.Zero(t, depth)
	}
}

func TestWalkAllocatesNothing(t *testing.T) {
	records := chain(16)
	assert.Zero(t, testing.AllocsPerRun(20, func() {
		w := Walk(records)
		for _, _, ok := w.Next(); ok; _, _, ok = w.Next() {
		}
	}))
}
