package naive

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// A Profile is the meaning of a file of any version, independent of numbering and order. Everything
// at the same place is merged (format note 13). Profiles with the same meaning are equal by
// reflect.DeepEqual. Its maps are never nil.
type Profile struct {
	Symbols   map[Key]bool      // all symbols, with or without a function
	Functions map[Key]*Function // functions that are not empty (format note 12)
}

// A Key identifies a symbol by its name and the path of its unit.
type Key struct{ Path, Name string }

// A Function holds the samples of a top-level function.
type Function struct {
	Head, Timestamp uint64
	Body            *Body
}

// A Body holds the samples of a top-level or inlined function.
type Body struct {
	Counts  map[Place]uint64
	Calls   map[Place]map[Key]uint64
	Inlined map[Place]map[Key]*Body
}

// A Place is a source location within a function.
type Place struct{ Line, Disc uint32 }

func newProfile() *Profile {
	return &Profile{Symbols: map[Key]bool{}, Functions: map[Key]*Function{}}
}

func newBody() *Body {
	return &Body{Counts: map[Place]uint64{}, Calls: map[Place]map[Key]uint64{}, Inlined: map[Place]map[Key]*Body{}}
}

// add returns a+b, or the largest number of 64 bits if the sum is larger.
func add(a, b uint64) uint64 {
	if b > math.MaxUint64-a {
		return math.MaxUint64
	}
	return a + b
}

// function returns the function of a symbol, which it creates if the profile does not have it yet.
// It adds a head count to the function. It sets the function's timestamp to the smaller one of the
// old and the new timestamp, where 0 means none.
func (p *Profile) function(k Key, head, timestamp uint64) *Function {
	fn := p.Functions[k]
	if fn == nil {
		fn = &Function{Body: newBody()}
		p.Functions[k] = fn
	}
	fn.Head = add(fn.Head, head)
	if fn.Timestamp == 0 || timestamp != 0 && timestamp < fn.Timestamp {
		fn.Timestamp = timestamp
	}
	return fn
}

// dropSilent removes functions that have no data: no counts, no calls, no head count and no
// timestamp.
func (p *Profile) dropSilent() {
	for k, fn := range p.Functions {
		b := fn.Body
		if fn.Head == 0 && fn.Timestamp == 0 && len(b.Counts)+len(b.Calls)+len(b.Inlined) == 0 {
			delete(p.Functions, k)
		}
	}
}

func (b *Body) count(at Place, n uint64) { b.Counts[at] = add(b.Counts[at], n) }

func (b *Body) call(at Place, callee Key, n uint64) {
	if b.Calls[at] == nil {
		b.Calls[at] = map[Key]uint64{}
	}
	b.Calls[at][callee] = add(b.Calls[at][callee], n)
}

// inlined returns the body of a callee that is inlined at a place of the body b. It creates the
// body if b does not have it yet.
func (b *Body) inlined(at Place, callee Key) *Body {
	if b.Inlined[at] == nil {
		b.Inlined[at] = map[Key]*Body{}
	}
	if b.Inlined[at][callee] == nil {
		b.Inlined[at][callee] = newBody()
	}
	return b.Inlined[at][callee]
}

// Canonical returns the meaning of a file. It fails if a record refers to an ID that does not
// exist. It ignores call records without targets.
func (f *File) Canonical() (*Profile, error) {
	keys := map[uint32]Key{}
	p := newProfile()
	for _, u := range f.Units {
		for _, s := range u.Symbols {
			keys[s.ID] = Key{u.Path, s.Name}
			p.Symbols[keys[s.ID]] = true
		}
	}
	for _, u := range f.Units {
		for _, s := range u.Symbols {
			if !s.HasInfo {
				continue
			}
			fn := p.function(keys[s.ID], s.Head, s.Timestamp)
			if err := merge(fn.Body, s.Locations, keys); err != nil {
				return nil, fmt.Errorf("symbol %d: %w", s.ID, err)
			}
		}
	}
	p.dropSilent()
	return p, nil
}

func merge(b *Body, ls []Location, keys map[uint32]Key) error {
	for _, l := range ls {
		at := Place{l.Line, l.Disc}
		switch l.Type {
		case Zero, Normal, Wide:
			b.count(at, l.Count)
		case CalledFn, CalledFns:
			for _, t := range l.Targets {
				callee, ok := keys[t.Callee]
				if !ok {
					return fmt.Errorf("no symbol %d", t.Callee)
				}
				b.call(at, callee, t.Count)
			}
		case InlinedFn:
			callee, ok := keys[l.Callee]
			if !ok {
				return fmt.Errorf("no symbol %d", l.Callee)
			}
			if err := merge(b.inlined(at, callee), l.Locations, keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// Cutoffs are the shares of the total count for which a summary has detailed entries, in parts per
// million (format note 19).
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

// entry computes an entry of a summary: how many of the largest counts are needed to reach a share
// of the total, and the smallest of these counts. cutoff is the share in parts per million. All
// counts equal to the smallest one are included. A share that rounds down to 0 needs no counts, and
// the smallest of no counts is 0.
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
