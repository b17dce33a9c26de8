package arcs

// describe adds the numbers of one function to a report: how many of its blocks have no evidence,
// and how far the inferred counts differ from the evidence. flows are the inferred counts of the
// function's arcs.
func (p *problem) describe(flows []int64, r *Report) {
	blocks := p.BlockCounts(flows)
	seen := make([]bool, len(blocks))
	for _, it := range p.items {
		sum := int64(0)
		for _, n := range it.numbers {
			if it.arcs {
				sum += flows[n]
				continue
			}
			sum += blocks[n]
			seen[n] = true
		}
		r.Evidence += uint64(max(it.low, 0))
		r.Moved += uint64(max(it.low-sum, sum-it.high, 0))
	}
	for b := 2; b < len(seen); b++ { // not the entry and the exit
		r.Blocks++
		if !seen[b] {
			r.Guessed++
		}
	}
}
