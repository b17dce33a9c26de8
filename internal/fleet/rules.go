// Package fleet defines how the profiles of many hosts are merged: the weight of an input, which
// depends on its age, and the limit on the samples of a host. Both the command afdo merge and the
// pipeline in module beam use these rules.
//
// Input i adds round(w(i)·c) for each of its counts c, where
//
//	w(i) = Scale · Weight(i) · 2^(-(AsOf - Time(i)) / HalfLife)
//
// The last factor is left out if there is no half-life, or if the input is not older than AsOf.
//
// If there is a cap, the inputs of a host are first merged separately. If the counts of that sum
// have the total T and T exceeds HostCap, the sum adds round(HostCap/T · c) for each of its counts
// c. Head counts and calls are scaled like counts. Rounding is to nearest, halves up, and sums
// saturate, as in [profile.Profile.MergeScaled].
//
// There is no floating point, so the same inputs give the same bytes on every machine.
package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"time"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// An Input is a profile of one host that is to be merged, with the data that determine its weight.
type Input struct {
	Path   string
	Host   string        // name of the host; an input without a name is a separate host
	Weight profile.Ratio // the zero Ratio means 1
	Time   time.Time     // time of the recording; zero if unknown
}

// Rules determine the weights of inputs. The zero Rules use only Input.Weight.
type Rules struct {
	Scale    profile.Ratio // factor for every weight; the zero Ratio means 1
	HalfLife time.Duration // time after which the weight of an input halves, 0 for never
	AsOf     time.Time     // time from which ages are counted
	HostCap  uint64        // maximum number of samples per host, 0 for no limit
}

// ErrNoTime matches the error of [Rules.Weight] for an input whose age is needed but unknown.
var ErrNoTime = errors.New("a half-life is asked for, and it has no time")

var one = profile.Ratio{Num: 1, Den: 1}

// Weight returns the factor by which all counts of an input have to be multiplied. The factor is
// exact if its numerator and denominator fit in 64 bits. Otherwise it is rounded to the nearest
// fraction whose denominator is a power of two, as large as possible up to 2^63 such that the
// numerator fits in 64 bits.
func (r *Rules) Weight(in *Input) (profile.Ratio, error) {
	weight, scale := cmp.Or(in.Weight, one), cmp.Or(r.Scale, one)
	if scale != one {
		weight = product(weight, new(big.Int).SetUint64(scale.Num), new(big.Int).SetUint64(scale.Den))
	}
	if r.HalfLife <= 0 {
		return weight, nil
	}
	if in.Time.IsZero() {
		return profile.Ratio{}, fmt.Errorf("%s: %w", in.Path, ErrNoTime)
	}
	age := r.AsOf.Sub(in.Time)
	if age <= 0 {
		return weight, nil
	}
	num, den := decay(age, r.HalfLife)
	return product(weight, num, den), nil
}

// Cap returns the factor by which all counts of a host have to be multiplied so that their total is
// at most HostCap. host is the sum of all inputs of the host.
func (r *Rules) Cap(host *profile.Profile) profile.Ratio {
	if r.HostCap == 0 {
		return one
	}
	total := uint64(0)
	for _, f := range host.Functions() {
		for i := range f.Records {
			if at := &f.Records[i]; at.Kind == profile.KindCount {
				total = saturating.Add(total, at.Count)
			}
		}
	}
	if total <= r.HostCap {
		return one
	}
	return profile.Ratio{Num: r.HostCap, Den: total}
}

// Groups returns the indexes of the inputs in groups, one group per host, in the order of the first
// input of each host. The inputs of a group are to be merged first, and then [Rules.Cap] applies to
// their sum. Without a HostCap, each input is a group.
func (r *Rules) Groups(inputs []Input) [][]int {
	groups := make([][]int, 0, len(inputs))
	byHost := make(map[string]int)
	for i := range inputs {
		host := inputs[i].Host
		if r.HostCap == 0 || host == "" {
			groups = append(groups, []int{i})
			continue
		}
		g, ok := byHost[host]
		if !ok {
			g = len(groups)
			byHost[host] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// binaryPlaces is the precision of decay in binary places. neverMind is the number of half-lives
// after which every weight rounds to 0.
const (
	binaryPlaces = 63  // precision of decay, in binary places
	neverMind    = 256 // number of half-lives after which every weight rounds to 0
)

// decay returns 2^(-age/halfLife) as a fraction. The whole half-lives are a shift. The binary
// digits of the remaining fraction select factors from 2^(-1/2), 2^(-1/4), and so on.
func decay(age, halfLife time.Duration) (num, den *big.Int) {
	whole := min(uint64(age/halfLife), neverMind)
	rest := uint64(age % halfLife)
	power := uint64(1) << binaryPlaces // 1 in fixed point
	root := new(big.Int).Lsh(big.NewInt(1), binaryPlaces-1)
	for range binaryPlaces {
		root.Sqrt(root.Lsh(root, binaryPlaces))
		if rest <<= 1; rest >= uint64(halfLife) {
			rest -= uint64(halfLife)
			hi, lo := bits.Mul64(power, root.Uint64())
			power = hi<<(64-binaryPlaces) | lo>>binaryPlaces
		}
	}
	return new(big.Int).SetUint64(power), new(big.Int).Lsh(big.NewInt(1), binaryPlaces+uint(whole))
}

// product returns the ratio weight multiplied by the fraction num/den.
func product(weight profile.Ratio, num, den *big.Int) profile.Ratio {
	num = new(big.Int).Mul(num, new(big.Int).SetUint64(weight.Num))
	den = new(big.Int).Mul(den, new(big.Int).SetUint64(weight.Den))
	if num.Sign() > 0 {
		common := new(big.Int).GCD(nil, nil, num, den)
		num.Quo(num, common)
		den.Quo(den, common)
	}
	if num.IsUint64() && den.IsUint64() {
		return profile.Ratio{Num: num.Uint64(), Den: den.Uint64()}
	}
	for places := uint(binaryPlaces); ; places-- {
		if n := rounded(num, den, places); n.IsUint64() {
			return profile.Ratio{Num: n.Uint64(), Den: 1 << places}
		}
		if places == 0 {
			return profile.Ratio{Num: 1<<64 - 1, Den: 1} // saturates like counts
		}
	}
}

// rounded returns num/den as a fixed-point number with the given binary places, rounded to nearest,
// halves up.
func rounded(num, den *big.Int, places uint) *big.Int {
	n := new(big.Int).Lsh(num, places+1)
	n.Quo(n, den)
	return n.Rsh(n.Add(n, big.NewInt(1)), 1)
}
