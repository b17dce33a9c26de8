package profile

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// A Ratio is an exact fraction: the weight of a profile in a sum, or a share of all samples. If Den
// is 0, [Ratio.Of] and [Profile.MergeScaled] panic, and [Sum] returns an error.
type Ratio struct{ Num, Den uint64 }

// one is the weight that does not change counts.
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
	if above, below, found := strings.Cut(s, "/"); found {
		num, ok := parseDigits(above)
		den, alsoOK := parseDigits(below)
		return reduced(num, den), ok && alsoOK && den > 0
	}
	number, percent := strings.CutSuffix(s, "%")
	whole, fraction, point := strings.Cut(number, ".")
	if point && (whole == "" || fraction == "") {
		return Ratio{}, false
	}
	if point {
		fraction = strings.TrimRight(fraction, "0")
	}
	num, ok := parseDigits(whole + fraction)
	den, alsoOK := powerOfTen(len(fraction))
	r := reduced(num, den)
	if ok && alsoOK && percent {
		r, ok = r.percent()
	}
	return r, ok && alsoOK
}

// parseDigits parses decimal digits and nothing else.
func parseDigits(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

func powerOfTen(n int) (uint64, bool) {
	power := uint64(1)
	for range n {
		hi, lo := bits.Mul64(power, 10)
		if hi > 0 {
			return 0, false
		}
		power = lo
	}
	return power, true
}

// percent returns r/100.
func (r Ratio) percent() (Ratio, bool) {
	c := reduced(r.Num, 100)
	hi, den := bits.Mul64(r.Den, c.Den)
	return reduced(c.Num, den), hi == 0
}

func reduced(num, den uint64) Ratio {
	a, b := num, den
	for b > 0 {
		a, b = b, a%b
	}
	if a == 0 {
		return Ratio{}
	}
	return Ratio{num / a, den / a}
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

// scale multiplies counts and calls in place.
func (r Ratio) scale(records []Record) {
	for i := range records {
		if at := &records[i]; at.Kind != KindInlined {
			at.Count = r.Of(at.Count)
		}
	}
}
