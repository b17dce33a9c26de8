// Package quantize rounds the counts of a profile to significant bits, so that slices stay the same
// from one recording to the next.
package quantize

import (
	"math/bits"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// Count rounds a count to a number of significant bits: to the nearest such number, and up from the
// middle. It returns the count unchanged if significant is 0. A count that would be rounded up to
// 65 bits is rounded down.
func Count(count uint64, significant int) uint64 {
	drop := bits.Len64(count) - significant
	if significant <= 0 || drop <= 0 {
		return count
	}
	half := uint64(1) << (drop - 1)
	if rounded := count + half; rounded > count {
		count = rounded
	}
	return count >> drop << drop
}

// Summary returns a summary with all counts rounded to a number of significant bits.
func Summary(s *afdo.Summary, significant int) *afdo.Summary {
	round := func(count uint64) uint64 { return Count(count, significant) }
	q := &afdo.Summary{
		TotalCount:       round(s.TotalCount),
		MaxCount:         round(s.MaxCount),
		MaxFunctionCount: round(s.MaxFunctionCount),
		NumCounts:        round(s.NumCounts),
		NumFunctions:     round(s.NumFunctions),
	}
	for _, e := range s.Entries {
		q.Entries = append(q.Entries, afdo.SummaryEntry{
			Cutoff:    e.Cutoff,
			MinCount:  round(e.MinCount),
			NumCounts: round(e.NumCounts),
		})
	}
	return q
}

// Records adds records to a body. It replaces symbols by the results of ref, and rounds counts to
// the given number of significant bits.
func Records(body *profile.Body, records []profile.Record, ref func(profile.SymbolRef) profile.SymbolRef, bits int) {
	open := 0
	w := profile.Walk(records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		for ; open > depth; open-- {
			body.Leave()
		}
		switch r.Kind {
		case profile.KindCount:
			body.Count(r.Line, r.Discriminator, Count(r.Count, bits))
		case profile.KindCall:
			body.Call(r.Line, r.Discriminator, ref(r.Callee), Count(r.Count, bits))
		case profile.KindInlined:
			body.Enter(r.Line, r.Discriminator, ref(r.Callee))
			open++
		}
	}
	for ; open > 0; open-- {
		body.Leave()
	}
}
