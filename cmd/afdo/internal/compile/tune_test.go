package compile

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/tune"
)

// TestVerdictText checks that the text names the measurement that decided, and describes the change
// of the number of instructions.
func TestVerdictText(t *testing.T) {
	instructions := tune.Measure{What: "instructions", Before: 1000, After: 841, Change: -0.159, Low: -0.159, High: -0.159, Rounds: 1}
	cpu := func(change, low, high float64) tune.Measure {
		return tune.Measure{What: "processor time", Before: 0.0151, Change: change, Low: low, High: high, Rounds: 15}
	}
	for want, try := range map[string]tune.Try{
		"faster: 7.0% less processor time, 15.9% fewer instructions": {
			Verdict: tune.Faster, Short: true, Busy: true, Measures: []tune.Measure{cpu(-0.07, -0.09, -0.05), instructions},
		},
		"slower: 7.0% more processor time": {
			Verdict: tune.Slower, Measures: []tune.Measure{cpu(0.07, 0.05, 0.09)},
		},
		"not decided: 15.9% fewer instructions; the processor time changes by -27.0% to +13.0%. It had to wait for other programs: measure on an idle machine": {
			Verdict: tune.Undecided, Busy: true, Measures: []tune.Measure{cpu(-0.07, -0.27, 0.13), instructions},
		},
		"not decided: the same number of instructions; the processor times differ by less than 0.5%": {
			Verdict: tune.Undecided, Measures: []tune.Measure{cpu(-0.001, -0.003, 0.002), {What: "instructions", Change: 1e-6}},
		},
		"not decided: 15.9% fewer instructions; 3 rounds are too few to decide about time": {
			Verdict: tune.Undecided, Measures: []tune.Measure{{What: "processor time", Change: -0.07, Low: math.Inf(-1), High: math.Inf(1), Rounds: 3}, instructions},
		},
		"not decided: the processor time changes by -27.0% to +13.0%. The program runs for only 15.1ms, much of which is its start: measure with a longer input": {
			Verdict: tune.Undecided, Short: true, Measures: []tune.Measure{cpu(-0.07, -0.27, 0.13)},
		},
	} {
		assert.Equal(t, want, verdictText(&try))
	}
}

// TestAdvice checks that a profile that makes the program slower is not recommended, and that each
// try has a line if there was more than one.
func TestAdvice(t *testing.T) {
	measures := []tune.Measure{{What: "processor time", Change: 0.07, Low: 0.05, High: 0.09, Rounds: 15}}
	for verdict, builds := range map[tune.Verdict]bool{tune.Faster: true, tune.Undecided: true, tune.Slower: false} {
		try := tune.Try{Outputs: tune.DifferentOutputs, Way: tune.OwnOptions, Exec: []string{"--no-params"}, Profile: "p.afdo", Verdict: verdict, Measures: measures, Folder: "opts"}
		r := &tune.Result{Try: try, Tries: []tune.Try{{Way: tune.ByLines, Verdict: tune.Slower, Measures: measures}, try}, Compilers: []string{"cc"}, Programs: []string{"a"}}
		var out strings.Builder
		require.NoError(t, writeTuned(&out, &tuning{Options: tune.Options{Build: []string{"make"}}}, r))
		assert.Equal(t, builds, strings.Contains(out.String(), `make CC="afdo exec --profile p.afdo --no-params -- cc"`), out.String())
		assert.Equal(t, verdict != tune.Faster, strings.Contains(out.String(), "Keep the ordinary build"))
		assert.Equal(t, verdict == tune.Faster, newTuneFacts(&tuning{Options: tune.Options{Build: []string{"make"}}}, r).Advice == useProfile)
		assert.Contains(t, out.String(), "\nprofile                 slower")
		assert.Contains(t, out.String(), "\nThe two programs print different output")
	}
}
