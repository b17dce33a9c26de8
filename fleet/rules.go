// Package fleet has the rules by which the profiles of many hosts become one: what an input counts
// for by its weight and its age, and how much one host may add. The command afdo merge follows
// them, and so does the pipeline of module beam.
//
// An input i with counts c adds round(w(i)·c) for each of them, where
//
//	w(i) = Scale · Weight(i) · 2^(-(AsOf - Time(i)) / HalfLife)
//
// without the last factor if there is no half-life, or if the input is not older than AsOf. Where
// there is a cap, the inputs of one host are first merged by themselves. If the counts of that sum
// add up to T and T is more than HostCap, it adds round(HostCap/T · c) for each of its counts c.
// Head counts and calls are scaled as counts are. All rounding is to the nearest, halves up, and
// all sums stop at the largest number, as [profile.Profile.MergeScaled] has it.
//
// Nothing here uses floating point: the same inputs give the same bytes on every machine.
package fleet

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"time"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// An Input is a profile of one host.
type Input struct {
	Path   string
	Host   string        // which it comes from; without one it is a host by itself
	Weight profile.Ratio // the zero Ratio is 1
	Time   time.Time     // when it was recorded; zero if that is not known
}

// Rules say with which weight inputs count. The zero Rules use only the weights of the inputs.
type Rules struct {
	Scale    profile.Ratio // of every weight; the zero Ratio is 1
	HalfLife time.Duration // after which an input counts for half, 0 for never
	AsOf     time.Time     // what ages count from
	HostCap  uint64        // samples that one host may add, 0 for any number
}

// ErrNoTime is matched by the error of [Rules.Weight] for an input whose age is not known.
var ErrNoTime = errors.New("a half-life is asked for, and it has no time")

var one = profile.Ratio{Num: 1, Den: 1}

// Weight returns the factor for the counts of an input, by its weight and its age. It is exact if
// numerator and denominator fit 64 bits. Otherwise it is the nearest fraction whose denominator is
// the largest power of two, at most 2^63, for which the numerator fits 64 bits.
func (r *Rules) Weight(in *Input) (profile.Ratio, error) {
	weight, scale := orOne(in.Weight), orOne(r.Scale)
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

// orOne returns a ratio, 1 for the zero one.
func orOne(r profile.Ratio) profile.Ratio {
	if r == (profile.Ratio{}) {
		return one
	}
	return r
}

// Cap returns the factor for the sum of a host's inputs by which it stays within the cap.
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

// Groups returns the inputs that are to be merged before they are capped: those of each host, by
// their numbers, in the order in which the hosts come first. Without a cap each input is a group.
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

const (
	binaryPlaces = 63  // of the power of a half that decay computes
	neverMind    = 256 // half-lives after which no weight leaves anything
)

// decay returns 2^(-age/halfLife) as a fraction. The whole half-lives are a shift. The binary
// digits of the rest choose among the square root of a half, its square root, and so on.
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

// product returns a weight times a fraction.
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
			return profile.Ratio{Num: 1<<64 - 1, Den: 1} // as counts saturate
		}
	}
}

// rounded returns the nearest number of so many binary places to a fraction, halves up.
func rounded(num, den *big.Int, places uint) *big.Int {
	n := new(big.Int).Lsh(num, places+1)
	n.Quo(n, den)
	return n.Rsh(n.Add(n, big.NewInt(1)), 1)
}
