package duel

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A machine simulates runs of programs that take 10 ms. Its other load comes and goes, and makes
// times longer by up to a third. Sometimes a run takes much longer.
type machine struct {
	random *rand.Rand
	load   float64
	runs   int
	ratio  float64 // time of the second program, relative to the first
	period int     // if not 0, every run of this number is disturbed
}

func (m *machine) run(which int) (Usage, error) {
	m.runs++
	m.load = 0.95*m.load + 0.05*m.random.NormFloat64()
	took := 10 * math.Exp(m.load+0.02*m.random.NormFloat64())
	if m.random.IntN(20) == 0 {
		took *= 1 + m.random.ExpFloat64()
	}
	if m.period > 0 && m.runs%m.period == 0 {
		took *= 1.2
	}
	if which == 1 {
		took *= m.ratio
	}
	d := time.Duration(took * float64(time.Millisecond))
	return Usage{Wall: d, CPU: d}, nil
}

// If a program is compared with itself, at most 1 in 100 comparisons reports a difference, even if
// other load has the rhythm of the rounds. A difference of 3 % is reported.
func TestDecisionsHold(t *testing.T) {
	comparisons := testenv.Rounds(10, 1000)
	for _, period := range []int{0, 2, 3, 4} {
		wrong := 0
		for i := range comparisons {
			m := machine{random: rand.New(rand.NewPCG(uint64(i), uint64(period))), ratio: 1, period: period}
			r, err := (&Plan{Budget: time.Millisecond, coin: func() int { return m.random.IntN(2) }}).Run(m.run)
			require.NoError(t, err)
			if r.CPU().Decides() != 0 {
				wrong++
			}
		}
		t.Logf("%d of %d with period %d", wrong, comparisons, period)
		assert.LessOrEqual(t, wrong, comparisons/100, period)
	}
	m := machine{random: rand.New(rand.NewPCG(1, 2)), ratio: 0.97}
	r, err := (&Plan{coin: func() int { return m.random.IntN(2) }}).Run(m.run)
	require.NoError(t, err)
	assert.Equal(t, -1, r.CPU().Decides())
	assert.InDelta(t, -0.03, r.CPU().Change, 0.03)
}

// A change needs another evaluation if other evidence contradicts it, or if the programs waited for
// the processor. Programs that differ by less than some tenths of a percent need no more rounds.
func TestLooks(t *testing.T) {
	steady := func(second, wall float64) func(int) (Usage, error) {
		runs := 0
		return func(which int) (Usage, error) {
			runs++
			took := 10 + 0.001*float64(runs%7)
			if which == 1 {
				took *= second
			}
			d := time.Duration(took * float64(time.Millisecond))
			return Usage{Wall: time.Duration(wall * float64(d)), CPU: d}, nil
		}
	}
	for name, c := range map[string]struct {
		plan         Plan
		second, wall float64
		rounds, says int
	}{
		"clear":      {Plan{Budget: 1}, 0.9, 1, 12, -1},
		"doubtful":   {Plan{Budget: 1, Doubtful: func(change float64) bool { return change < 0 }}, 0.9, 1, 24, -1},
		"plausible":  {Plan{Budget: 1, Doubtful: func(change float64) bool { return change < 0 }}, 1.1, 1, 12, 1},
		"busy":       {Plan{Budget: 1}, 1.1, 2, 24, 1},
		"the same":   {Plan{Budget: 1}, 1.002, 1, 12, 0},
		"given":      {Plan{Rounds: 8}, 0.9, 1, 8, -1},
		"too few":    {Plan{Rounds: 7}, 0.9, 1, 7, 0},
		"four plans": {Plan{Budget: 1, Comparisons: 4}, 0.9, 1, 12, -1},
	} {
		r, err := c.plan.Run(steady(c.second, c.wall))
		require.NoError(t, err)
		assert.Len(t, r.Before, c.rounds, name)
		assert.Equal(t, c.says, r.CPU().Decides(), name)
	}
	failed := errors.New("exit status 1")
	_, err := new(Plan).Run(func(int) (Usage, error) { return Usage{}, failed })
	assert.ErrorIs(t, err, failed)
}

// The numbers of rounds at which the differences are evaluated depend only on the time of a round.
func TestNumberOfRounds(t *testing.T) {
	for pair, want := range map[time.Duration][]int{
		0: {50, 100, 200, 400}, time.Second: {12, 24, 48, 96}, 10 * time.Second: {12, 24}, time.Hour: {12},
	} {
		assert.Equal(t, want, new(Plan).evaluations(pair), pair)
	}
}
