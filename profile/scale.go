package profile

// MergeScaled is like [Profile.Merge], but multiplies every head count, count and number of calls
// of q by weight. Products are computed in 128 bits, rounded to nearest, halves up, and saturate.
// Timestamps are not scaled. A function is not added if neither a record nor a timestamp nor a head
// count is left.
//
// Each input is scaled separately before it is added, so the order of inputs does not matter.
// Merging first and scaling the sum gives the same result for an integer weight; for other weights
// rounding may differ.
func (p *Profile) MergeScaled(q *Profile, weight Ratio) {
	symbols := p.adopt(q)
	var body Body
	for s, f := range q.Functions() {
		records := renumber(&body, f.Records, symbols)
		if weight != one {
			weight.scale(records)
		}
		p.AddFunction(symbols[s], Function{
			HeadCount: weight.Of(f.HeadCount),
			Timestamp: f.Timestamp,
			Records:   records,
		})
	}
}

// scale multiplies counts and calls in place.
func (r Ratio) scale(records []Record) {
	for i := range records {
		if at := &records[i]; at.Kind != KindInlined {
			at.Count = r.Of(at.Count)
		}
	}
}
