package fleetmerge

import "github.com/go-afdo/afdo/profile"

// hosts are the sum of some inputs.
type hosts struct {
	groups  [][]byte         // of the inputs, as they came
	sum     *profile.Profile // nil if no input could be read
	largest int              // most symbols of what has been added at a time
	skipped [][]byte         // letters about the inputs that were left out
	forgot  int64            // inputs that remember their sources
}

// add adds an input or a host.
func (h *hosts) add(p *profile.Profile, weight profile.Ratio) {
	if h.sum == nil {
		h.sum = profile.New()
	}
	h.sum.MergeScaled(p, weight)
	h.largest = max(h.largest, p.NumSymbols())
}

// enoughSymbols make a sum of some 50 MB, by the 20 to 30 records that symbols have in real
// profiles.
const enoughSymbols = 1 << 16

// isLarge reports whether the sum should go on: it is twice as large as the largest input, and
// large.
func (h *hosts) isLarge() bool {
	return h.sum != nil && h.sum.NumSymbols() > max(enoughSymbols, 2*h.largest)
}
