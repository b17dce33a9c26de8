package tune

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The number of rounds depends on the time of the first one alone.
func TestChooseRounds(t *testing.T) {
	chosen := new(tuning)
	for first, want := range map[time.Duration]int{0: 100, 40 * time.Millisecond: 100, time.Second: 20, 3 * time.Second: 10, time.Hour: 10} {
		assert.Equal(t, want, chosen.chooseRounds(first), first)
	}
	chosen.Rounds = 7
	assert.Equal(t, 7, chosen.chooseRounds(time.Hour))
}
