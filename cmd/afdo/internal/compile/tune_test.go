package compile

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/compile/tune"
)

// The verdict names the measure that decided, and says what the count of instructions shows.
func TestVerdictText(t *testing.T) {
	instructions := tune.Measure{What: "instructions", Before: 1000, After: 841, Change: -0.159, Low: -0.159, High: -0.159, Rounds: 1}
	for want, r := range map[string]*tune.Result{
		"faster: 7.0% less processor time, 15.9% fewer instructions": {
			Verdict: tune.Faster, Measures: []tune.Measure{{What: "processor time", Change: -0.07, Low: -0.09, High: -0.05, Rounds: 15}, instructions},
		},
		"slower: 7.0% more processor time": {
			Verdict: tune.Slower, Measures: []tune.Measure{{What: "processor time", Change: 0.07, Low: 0.05, High: 0.09, Rounds: 15}},
		},
		"not decided: 15.9% fewer instructions, but the processor times vary by 40.0%; a longer input or --rounds 30 would decide it": {
			Verdict: tune.Undecided, Measures: []tune.Measure{{What: "processor time", Change: -0.07, Low: -0.27, High: 0.13, Rounds: 15}, instructions},
		},
		"not decided: 15.9% fewer instructions, but the processor times vary by 10.0%; a longer input or --rounds 40 would decide it": {
			Verdict: tune.Undecided, Measures: []tune.Measure{{What: "processor time", Change: -0.02, Low: -0.07, High: 0.03, Rounds: 23}, instructions},
		},
		"not decided: the processor times vary by 40.0%; a longer input would decide it": {
			Verdict: tune.Undecided, Measures: []tune.Measure{{What: "processor time", Change: -0.001, Low: -0.2, High: 0.2, Rounds: 15}},
		},
		"not decided: the same number of instructions, and the processor times vary by 40.0%": {
			Verdict: tune.Undecided, Measures: []tune.Measure{{What: "processor time", Change: -0.001, Low: -0.2, High: 0.2, Rounds: 15}, {What: "instructions", Change: 1e-6}},
		},
		"not decided: 15.9% fewer instructions; fewer than 6 rounds cannot decide about time": {
			Verdict: tune.Undecided, Measures: []tune.Measure{{What: "processor time", Change: -0.07, Low: math.Inf(-1), High: math.Inf(1), Rounds: 3}, instructions},
		},
		"slower: 7.0% more processor time\nThe program runs for only 15.1ms, much of which is its start: measure with a longer input.": {
			Verdict: tune.Slower, Short: true, Measures: []tune.Measure{{What: "processor time", Before: 0.0151, Change: 0.07, Low: 0.05, High: 0.09, Rounds: 15}},
		},
	} {
		assert.Equal(t, want, verdictText(r))
	}
}

// A profile that makes the program slower is not recommended.
func TestAdvice(t *testing.T) {
	r := &tune.Result{Measures: []tune.Measure{{What: "processor time", Change: 0.07, Low: 0.05, High: 0.09, Rounds: 15}}, Compilers: []string{"cc"}, Profile: "p.afdo"}
	for verdict, builds := range map[tune.Verdict]bool{tune.Faster: true, tune.Undecided: true, tune.Slower: false} {
		r.Verdict = verdict
		var out strings.Builder
		assert.NoError(t, writeTuned(&out, &tuning{Options: tune.Options{Build: []string{"make"}}}, r))
		assert.Equal(t, builds, strings.Contains(out.String(), "afdo exec --profile"), out.String())
		assert.Equal(t, !builds, strings.Contains(out.String(), "Build without it"))
	}
}
