package gcda

import (
	"errors"
	"fmt"
	"math"
)

// errOtherCompile is matched by errors about files of different compiles.
var errOtherCompile = errors.New("files of different compiles")

// Add adds the counters of another .gcda file of the same compile, multiplied by times, as the
// runtime library adds up runs of a program. Sums are limited to the largest counter. dropped is
// the number of lists of counters that were left out: before GCC 11, the most frequent values of
// two runs cannot be merged. An error says that the counters are of another compile. Then c is
// unchanged.
func (c *Counters) Add(other *Counters, times uint64) (dropped int, err error) {
	if c.Version != other.Version || c.Stamp != other.Stamp {
		return 0, fmt.Errorf("gcda: %w: version %s and stamp %d, before it version %s and stamp %d",
			errOtherCompile, other.Version, other.Stamp, c.Version, c.Stamp)
	}
	byIdent := c.byIdent()
	m := merger{version: c.Version, times: times}
	sum := make([]FunctionCounters, len(c.Functions))
	copy(sum, c.Functions)
	for i := range other.Functions {
		f := &other.Functions[i]
		if f.Absent {
			continue
		}
		at, ok := byIdent[f.Ident]
		if !ok {
			at = len(sum)
			byIdent[f.Ident] = at
			sum = append(sum, FunctionCounters{ID: f.ID})
		}
		if sum[at], err = m.function(sum[at], f, !ok); err != nil {
			return 0, err
		}
	}
	c.Functions = sum
	c.addSummaries(other, times)
	return m.dropped, nil
}

func (c *Counters) addSummaries(other *Counters, times uint64) {
	for i, s := range other.Summaries {
		if i == len(c.Summaries) {
			c.Summaries = append(c.Summaries, Summary{tag: s.tag, words: s.words})
		}
		sum := &c.Summaries[i]
		sum.Runs = uint32(min(uint64(sum.Runs)+uint64(scale(int64(s.Runs), times)), math.MaxUint32))
		sum.SumMax = uint64(add(clamp(sum.SumMax), scale(clamp(s.SumMax), times)))
		if !c.Version.hasHistogram() {
			sum.SumMax = min(sum.SumMax, math.MaxUint32)
		}
	}
}

// A merger adds up the counters of functions from several .gcda files of one GCC version.
type merger struct {
	version Version
	times   uint64
	dropped int
}

// Kinds of counters that are not added.
const (
	orBits      Kind = 6
	firstRun    Kind = 7
	oldTopCalls Kind = 8 // before GCC 10
	conditions  Kind = 8 // since GCC 14
	paths       Kind = 9 // since GCC 15
)

// function returns the sum of the counters of one function in two files. a has the sum so far, and
// b the counters to add. first is true if nothing has been added to a yet.
func (m *merger) function(a FunctionCounters, b *FunctionCounters, first bool) (FunctionCounters, error) {
	if a.ID != b.ID {
		return a, fmt.Errorf("gcda: %w: function %#x has other checksums", errOtherCompile, b.Ident)
	}
	sum := FunctionCounters{ID: a.ID}
	rest, _ := m.mergeable(a.Counters)
	from, dropped := m.mergeable(b.Counters)
	m.dropped += dropped
	for i := range from {
		from := &from[i]
		to := Counter{Kind: from.Kind, Zeros: uint32(from.Len())}
		if !first {
			if len(rest) == 0 || rest[0].Kind != from.Kind {
				return a, m.mismatch(b, from.Kind)
			}
			to, rest = rest[0], rest[1:]
		}
		merged, ok := m.counter(&to, from, first)
		if !ok {
			return a, m.mismatch(b, from.Kind)
		}
		sum.Counters = append(sum.Counters, merged)
	}
	if len(rest) > 0 {
		return a, m.mismatch(b, rest[0].Kind)
	}
	return sum, nil
}

func (m *merger) mismatch(f *FunctionCounters, k Kind) error {
	return fmt.Errorf("gcda: %w: function %#x has other counters of kind %d", errOtherCompile, f.Ident, k)
}

// mergeable returns the lists of counters that can be merged. Before GCC 11, lists of most frequent
// values cannot be merged. dropped is the number of these that are not empty.
func (m *merger) mergeable(counters []Counter) (kept []Counter, dropped int) {
	if m.version.Major() >= 11 {
		return counters, 0
	}
	for _, c := range counters {
		switch {
		case c.Kind != TopValues && c.Kind != IndirectCalls && c.Kind != oldTopCalls:
			kept = append(kept, c)
		case c.Len() > 0:
			dropped++
		}
	}
	return kept, dropped
}

// counter returns the sum of two lists of counters of one kind. a is the sum so far, and first is
// true if nothing has been added to it yet. The second result is false if the lists do not match.
func (m *merger) counter(a, b *Counter, first bool) (Counter, bool) {
	if b.Kind == TopValues || b.Kind == IndirectCalls {
		return m.top(a, b, first)
	}
	if a.Len() != b.Len() {
		return Counter{}, false
	}
	if len(b.Values) == 0 {
		return *a, true
	}
	sum := Counter{Kind: a.Kind, Values: make([]int64, len(b.Values))}
	copy(sum.Values, a.Values)
	for i, v := range b.Values {
		old := sum.Values[i]
		switch {
		case b.Kind == orBits, b.Kind == conditions, b.Kind == paths:
			sum.Values[i] = old | v
		case b.Kind == firstRun:
			if old == 0 || v != 0 && v < old {
				sum.Values[i] = v
			}
		default:
			sum.Values[i] = add(old, scale(v, m.times))
		}
	}
	return sum, true
}

// topMost is the largest number of values that GCC tracks at one instrumented place of a function.
const topMost = 32

// top returns the sum of two lists of most frequent values. A list has these numbers for each
// instrumented place of a function: how often the place was executed, negative if values were
// dropped; how many values follow; and each value with its count. a is the sum so far, and first is
// true if nothing has been added to it yet.
func (m *merger) top(a, b *Counter, first bool) (Counter, bool) {
	sum := Counter{Kind: b.Kind, Zeros: b.Zeros}
	old := a.Values
	for rest := b.Values; len(rest) > 0; {
		var from, to []int64
		var ok bool
		if from, rest, ok = topPlace(rest); !ok {
			return sum, false
		}
		if to = []int64{0, 0}; !first {
			if to, old, ok = topPlace(old); !ok {
				return sum, false
			}
		}
		sum.Values = append(sum.Values, m.place(to, from)...)
	}
	return sum, first || len(old) == 0
}

// topPlace splits a list of most frequent values. place has the numbers of the first instrumented
// place, and rest those of the places after it. ok is false if the list is malformed.
func topPlace(values []int64) (place, rest []int64, ok bool) {
	if len(values) < 2 || values[1] < 0 || values[1] > int64(len(values)-2)/2 {
		return nil, nil, false
	}
	end := 2 + 2*values[1]
	return values[:end], values[end:], true
}

// place returns the sum of the most frequent values of one instrumented place in two files. If
// there are too many values, it drops some and makes the number of executions negative.
func (m *merger) place(a, b []int64) []int64 {
	sum := append([]int64(nil), a...)
	total, full := add(abs(a[0]), scale(abs(b[0]), m.times)), a[0] < 0 || b[0] < 0
values:
	for i := 2; i < len(b); i += 2 {
		n := scale(b[i+1], m.times)
		for j := 2; j < len(sum); j += 2 {
			if sum[j] == b[i] {
				sum[j+1] = add(sum[j+1], n)
				continue values
			}
		}
		if len(sum) >= 2+2*topMost {
			full = true
			continue
		}
		sum = append(sum, b[i], n)
	}
	if full {
		total = -total
	}
	sum[0], sum[1] = total, int64(len(sum)/2-1)
	return sum
}

func abs(v int64) int64 {
	if v < 0 {
		return -max(v, -math.MaxInt64)
	}
	return v
}

// add returns a + b. If the sum is out of the range of a counter, it returns the largest or the
// smallest counter.
func add(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// scale returns v * times. If the product is out of the range of a counter, it returns the largest
// or the smallest counter.
func scale(v int64, times uint64) int64 {
	limit := uint64(math.MaxInt64)
	switch {
	case times == 0:
		return 0
	case v >= 0 && uint64(v) <= limit/times, v < 0 && uint64(-v) <= limit/times:
		return v * int64(times)
	case v > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

func clamp(v uint64) int64 { return int64(min(v, math.MaxInt64)) }
