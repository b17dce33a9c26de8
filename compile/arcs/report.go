package arcs

// describe adds to a report how many blocks of the function have no evidence, and how far the
// inferred counts of its arcs are from the evidence.
func (p *problem) describe(flows []int64, r *Report) {
	blocks := p.BlockCounts(flows)
	seen := make([]bool, len(blocks))
	for _, it := range p.items {
		sum := int64(0)
		for _, b := range it.blocks {
			sum += blocks[b]
			seen[b] = true
		}
		for _, a := range it.arcs {
			sum += flows[a]
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
