package profile

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestTallyIsSummarize gathers the summary of a profile from its units, in any groups.
func TestTallyIsSummarize(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	for range testenv.Rounds(30, 300) {
		p := New()
		for range rng.IntN(4) {
			p.Merge(randomProfile(rng))
		}
		tallies := make([]Tally, 1+rng.IntN(4))
		for _, part := range p.Split() {
			tallies[rng.IntN(len(tallies))].Add(part)
		}
		var all Tally
		for i := range tallies {
			data, err := tallies[i].MarshalBinary()
			require.NoError(t, err)
			var sent Tally
			require.NoError(t, sent.UnmarshalBinary(data))
			all.AddTally(&sent)
		}
		require.Equal(t, p.Summarize(), all.Summary())
		require.Equal(t, p.Summarize(), all.Summary(), "asked again")
	}
}

func TestTallyMemory(t *testing.T) {
	var tally Tally
	p := New()
	var b Body
	for line := range uint32(5000) {
		b.Count(line, 0, uint64(line%7))
	}
	p.AddFunction(p.AddSymbol(UnknownUnit, "f"), Function{Records: b.Records()})
	for range 20 {
		tally.Add(p)
	}
	assert.LessOrEqual(t, cap(tally.counts), 1<<11)
}

func TestTallyThatIsNone(t *testing.T) {
	for _, data := range []string{"", "\x01\x02\x03\x04", "\x01\x02\x03\x04\xff", "\x01\x02\x03\x04\x05\x01", "\x01\x02\x03\x04\x05\x00\x01", "\x01\x02\x03\x04\x05\x01\x00", "\x01\x02\x03\x04\x05\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"} {
		assert.Error(t, new(Tally).UnmarshalBinary([]byte(data)), "%q", data)
	}
}
