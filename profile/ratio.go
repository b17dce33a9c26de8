package profile

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// A Ratio is an exact fraction: the weight of a profile in a sum, or a share of all samples. If Den
// is 0, [Ratio.Of] and [Profile.MergeScaled] panic, and [Sum] returns an error.
type Ratio struct{ Num, Den uint64 }

// one is the weight 1, with which a merge leaves the counts as they are.
var one = Ratio{1, 1}

// ParseRatio parses a positive ratio: an integer ("3"), a decimal fraction ("0.5"), a quotient
// ("3/4") or a percentage ("99.99%"). The result is exact and in lowest terms. A ratio whose terms
// exceed 64 bits is an error.
func ParseRatio(s string) (Ratio, error) {
	r, ok := parseRatio(s)
	switch {
	case !ok:
		return Ratio{}, fmt.Errorf("bad ratio %.40q: want a number like 3, 0.5, 3/4 or 99.99%%", s)
	case r.Num == 0:
		return Ratio{}, fmt.Errorf("bad ratio %.40q: want more than 0", s)
	}
	return r, nil
}

func parseRatio(s string) (Ratio, bool) {
	above, below, quotient := strings.Cut(s, "/")
	if number, percent := strings.CutSuffix(s, "%"); percent {
		above, below = number, "100"
	} else if !quotient {
		below = "1"
	}
	num, ok := parseDecimal(above)
	den, alsoOK := parseDecimal(below)
	if !ok || !alsoOK || den.Sign() == 0 || quotient && strings.Contains(s, ".") {
		return Ratio{}, false
	}
	num.Quo(num, den)
	return Ratio{num.Num().Uint64(), num.Denom().Uint64()}, num.Num().IsUint64() && num.Denom().IsUint64()
}

// parseDecimal parses decimal digits, with at most one point between two of them.
func parseDecimal(s string) (*big.Rat, bool) {
	if strings.Trim(s, "0123456789.") != "" || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// Of returns count multiplied by r, rounded to nearest, halves up. It saturates.
func (r Ratio) Of(count uint64) uint64 {
	if r.Den == 0 {
		panic(fmt.Sprintf("profile: the ratio %d/0", r.Num))
	}
	hi, lo := bits.Mul64(count, r.Num)
	lo, carry := bits.Add64(lo, r.Den/2, 0)
	hi += carry // cannot overflow: the upper word of a product never has all bits set
	if hi >= r.Den {
		return math.MaxUint64
	}
	quotient, _ := bits.Div64(hi, lo, r.Den)
	return quotient
}

// scale multiplies the counts and calls of records by r, in place.
func (r Ratio) scale(records []Record) {
	for i := range records {
		if at := &records[i]; at.Kind != KindInlined {
			at.Count = r.Of(at.Count)
		}
	}
}
