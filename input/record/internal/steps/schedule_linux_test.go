package steps

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A schedule uses up its budget and does not exceed it, also if most moments find a thread that
// cannot be stopped.
func TestScheduleSpendsBudget(t *testing.T) {
	for _, hits := range []float64{1, 0.3} {
		random := rand.New(rand.NewPCG(1, 1))
		const overhead, cost, duration = 0.05, 0.2e6, int64(20e9)
		s := newSchedule(overhead, random, 0)
		for s.next < duration {
			if now := s.next; random.Float64() < hits {
				s.add(now+cost, cost)
			} else {
				s.miss(now)
			}
		}
		assert.InEpsilon(t, overhead*float64(duration), s.spent, 0.1, "share of hits: %g", hits)
	}
}
