package instrprof

import "math/rand/v2"

// Limits on temporal profiles.
const (
	maxTraces   = 100    // further traces replace others at random, all with the same probability
	maxTraceLen = 10_000 // in functions
)

// add adds the traces of another profile. If there are more than 100 traces then, it keeps a random
// sample of them. The sample is the same whenever the same profiles are merged.
func (t *Traces) add(other Traces) {
	traces := make([]Trace, 0, len(other.Traces))
	for _, trace := range other.Traces {
		if len(trace.Functions) > 0 {
			trace.Functions = trace.Functions[:min(len(trace.Functions), maxTraceLen)]
			traces = append(traces, trace)
		}
	}
	if len(traces) == 0 {
		return
	}
	seen := max(other.Seen, uint64(len(traces)))
	random := rand.New(rand.NewPCG(t.Seen, seen)) //nolint:gosec // a sample has to be even, not secret
	if seen > maxTraces && t.Seen <= maxTraces {
		*t, traces, seen = Traces{seen, traces}, t.Traces, t.Seen
	}
	if seen <= maxTraces {
		t.addOneByOne(traces, random)
		t.Seen = saturatingAdd(t.Seen, seen)
		return
	}
	// Both are samples. Each place goes to a trace of the other sample with the probability of that
	// sample's stream.
	random.Shuffle(len(traces), func(i, j int) { traces[i], traces[j] = traces[j], traces[i] })
	for i := range t.Traces {
		if len(traces) > 0 && random.Float64()*(float64(t.Seen)+float64(seen)) < float64(seen) {
			t.Traces[i], traces = traces[0], traces[1:]
		}
	}
	t.Seen = saturatingAdd(t.Seen, seen)
}

func (t *Traces) addOneByOne(traces []Trace, random *rand.Rand) {
	for i, trace := range traces {
		if len(t.Traces) < maxTraces {
			t.Traces = append(t.Traces, trace)
		} else if at := random.Uint64N(saturatingAdd(t.Seen, uint64(i)) + 1); at < maxTraces {
			t.Traces[at] = trace
		}
	}
}
