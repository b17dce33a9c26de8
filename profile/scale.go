package profile

// MergeScaled is [Profile.Merge] with every head count, count and number of calls of q multiplied
// by a weight, in 128 bits, rounded to the nearest number, halves up, and saturating. Timestamps
// are what they are. A function that has no record, timestamp or head count left is not added.
//
// Each input is scaled by itself before it is added, so the order of inputs
// does not matter here either. Merging profiles first and scaling the sum is the same
// for a whole weight; one that is not may round differently.
func (p *Profile) MergeScaled(q *Profile, weight Ratio) {
	symbols := p.adopt(q)
	var body Body
	for s, f := range q.Functions() {
		records := renumber(&body, f.Records, symbols)
		if weight != one {
			weight.scale(records)
		}
		p.AddFunction(symbols[s], Function{
			HeadCount: weight.of(f.HeadCount),
			Timestamp: f.Timestamp,
			Records:   records,
		})
	}
}

// scale multiplies counts and calls in place.
func (r Ratio) scale(records []Record) {
	for i := range records {
		if at := &records[i]; at.Kind != KindInlined {
			at.Count = r.of(at.Count)
		}
	}
}
