package profile

import (
	"cmp"
	"math"
	"math/bits"
)

// A total is a sum of counts. It is exact, because a profile has far fewer than 2^64 records.
type total struct{ hi, lo uint64 }

func (t *total) add(u total) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, u.lo, 0)
	t.hi += u.hi + carry
}

// saturated returns the sum as a count.
func (t total) saturated() uint64 {
	if t.hi > 0 {
		return math.MaxUint64
	}
	return t.lo
}

func (t total) float() float64 { return float64(t.hi)*(1<<64) + float64(t.lo) }

// shareOf returns the sum's share of whole: exactly 1 if they are equal, and 0 if whole is 0.
func (t total) shareOf(whole total) float64 {
	if whole == (total{}) {
		return 0
	}
	return t.float() / whole.float()
}

// compareShares compares part/whole with otherPart/otherWhole, exactly.
func compareShares(part, whole, otherPart, otherWhole total) int {
	return compareProducts(part, otherWhole, otherPart, whole)
}

// compareProducts compares a*b with c*d.
func compareProducts(a, b, c, d total) int {
	if a.hi|b.hi|c.hi|d.hi == 0 {
		hi, lo := bits.Mul64(a.lo, b.lo)
		otherHi, otherLo := bits.Mul64(c.lo, d.lo)
		return total{hi, lo}.compare(total{otherHi, otherLo})
	}
	upper, lower := a.times(b)
	otherUpper, otherLower := c.times(d)
	if order := upper.compare(otherUpper); order != 0 {
		return order
	}
	return lower.compare(otherLower)
}

func (t total) compare(u total) int {
	return cmp.Or(cmp.Compare(t.hi, u.hi), cmp.Compare(t.lo, u.lo))
}

// times returns the product in 256 bits.
func (t total) times(u total) (upper, lower total) {
	lower.hi, lower.lo = bits.Mul64(t.lo, u.lo)
	upper.hi, upper.lo = bits.Mul64(t.hi, u.hi)
	for _, cross := range [2]total{product(t.hi, u.lo), product(t.lo, u.hi)} {
		var carry uint64
		lower.hi, carry = bits.Add64(lower.hi, cross.lo, 0)
		upper.lo, carry = bits.Add64(upper.lo, cross.hi, carry)
		upper.hi += carry
	}
	return upper, lower
}

func product(x, y uint64) total {
	hi, lo := bits.Mul64(x, y)
	return total{hi, lo}
}

// samplesOf returns the sum of all counts in a body, including inlined bodies.
func samplesOf(records []Record) total {
	var sum total
	for i := range records {
		if r := &records[i]; r.Kind == KindCount {
			sum.add(total{lo: r.Count})
		}
	}
	return sum
}
