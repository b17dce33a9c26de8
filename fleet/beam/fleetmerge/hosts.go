package fleetmerge

import "github.com/go-afdo/afdo/profile"

// hosts is the sum of some inputs.
type hosts struct {
	groups  [][]byte         // encoded groups of the inputs
	sum     *profile.Profile // nil if no input could be read
	largest int              // maximum number of symbols in a single addend
	skipped [][]byte         // messages about the inputs that were skipped
	forgot  int64            // number of inputs with a sources section
}

// add adds an input, or the sum of a host.
func (h *hosts) add(p *profile.Profile, weight profile.Ratio) {
	if h.sum == nil {
		h.sum = profile.New()
	}
	h.sum.MergeScaled(p, weight)
	h.largest = max(h.largest, p.NumSymbols())
}

// enoughSymbols is the number of symbols of a sum of about 50 MB. Symbols of real profiles have 20
// to 30 records.
const enoughSymbols = 1 << 16

// isLarge reports whether the sum should be passed on: it has more than enoughSymbols symbols and
// more than twice as many as the largest input.
func (h *hosts) isLarge() bool {
	return h.sum != nil && h.sum.NumSymbols() > max(enoughSymbols, 2*h.largest)
}
