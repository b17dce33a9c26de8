package naive

import (
	"math/big"
	"slices"
)

// Cutoffs are the cutoffs of the detailed entries, in parts per million (format note 19).
var Cutoffs = []uint32{
	10000, 100000, 200000, 300000, 400000, 500000, 600000, 700000,
	800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999,
}

// Summarize computes the summary of a profile (format note 19). Every place has one count, and
// empty functions are not counted.
func (p *Profile) Summarize() Summary {
	var heads, counts []uint64
	for _, fn := range p.Functions {
		heads = append(heads, fn.Head)
		counts = fn.Body.appendCounts(counts)
	}
	return summarize(heads, counts)
}

// Summarize computes the summary of a file (format note 19) from the stored records: every count
// record is a separate count, and every symbol with info is a function.
func (f *File) Summarize() Summary {
	var heads, counts []uint64
	for _, u := range f.Units {
		for _, s := range u.Symbols {
			if s.HasInfo {
				heads = append(heads, s.Head)
				counts = appendCounts(counts, s.Locations)
			}
		}
	}
	return summarize(heads, counts)
}

func (b *Body) appendCounts(counts []uint64) []uint64 {
	for _, n := range b.Counts {
		counts = append(counts, n)
	}
	for _, callees := range b.Inlined {
		for _, inlined := range callees {
			counts = inlined.appendCounts(counts)
		}
	}
	return counts
}

func appendCounts(counts []uint64, ls []Location) []uint64 {
	for _, l := range ls {
		switch l.Type {
		case Zero, Normal, Wide:
			counts = append(counts, l.Count)
		case InlinedFn:
			counts = appendCounts(counts, l.Locations)
		}
	}
	return counts
}

func summarize(heads, counts []uint64) Summary {
	var s Summary
	for _, n := range heads {
		s.NumFunctions++
		s.MaxFnCount = max(s.MaxFnCount, n)
	}
	for _, n := range counts {
		s.TotalCount = add(s.TotalCount, n)
		s.MaxCount = max(s.MaxCount, n)
		s.NumCounts++
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	for _, cutoff := range Cutoffs {
		s.Entries = append(s.Entries, entry(cutoff, s.TotalCount, counts))
	}
	return s
}

// entry takes the largest counts, equal ones together, until they reach their share of the total. A
// share that rounds down to 0 needs no counts, and the smallest of no counts is 0.
func entry(cutoff uint32, total uint64, largestFirst []uint64) Entry {
	want := new(big.Int).SetUint64(total)
	want.Mul(want, big.NewInt(int64(cutoff)))
	want.Div(want, big.NewInt(1_000_000))

	e := Entry{Cutoff: cutoff}
	sum, count := new(big.Int), new(big.Int)
	for i, n := range largestFirst {
		together := i > 0 && largestFirst[i-1] == n // equal to the previous one
		if sum.Cmp(want) >= 0 && !together {
			break
		}
		sum.Add(sum, count.SetUint64(n))
		e.MinCount = n
		e.NumCounts++
	}
	return e
}
