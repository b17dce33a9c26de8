package gcda

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// Counters are the contents of a .gcda file.
type Counters struct {
	Header
	Summaries []Summary
	Functions []FunctionCounters
	Ended     bool // a tag of zero ends the file
}

// A Summary describes the runs of the program.
type Summary struct {
	Runs   uint32 // number of runs
	SumMax uint64 // sum of the largest counter of each run; GCC computes the threshold of hot code from it

	// The record of GCC 8, which also has sums and a histogram, or nil.
	tag   uint32
	words []uint32
}

// FunctionCounters are the counters of one function in a .gcda file, by kind.
type FunctionCounters struct {
	ID
	Counters []Counter
	Absent   bool // the linker took the function from another object; there is no ID and no counter
}

// A Counter is a list of counters of one kind.
type Counter struct {
	Kind   Kind
	Values []int64
	Zeros  uint32 // number of counters if all are zero and the file does not store them; Values is empty then
}

// Len returns the number of counters.
func (c *Counter) Len() int { return len(c.Values) + int(c.Zeros) }

// A Kind is the number by which GCC identifies a kind of counters, such as those of arcs.
type Kind uint32

// Kinds of counters since GCC 10. Other kinds, which have no name here, count how often certain
// values occur.
const (
	Arcs          Kind = 0 // counts of arcs
	TopValues     Kind = 3 // for each statement: the number of executions, the number of values, and values with their counts
	IndirectCalls Kind = 4 // for each call: the number of calls, the number of targets, and targets with their counts
)

const (
	tagObjectSummary  = 0xa1000000
	tagProgramSummary = 0xa3000000
	tagArcCounters    = 0x01a10000
	kindShift         = 17
	kinds             = 48 // tags of counters end at 0x01ff0000
)

// ReadCounters decodes a .gcda file. The result does not refer to data.
//
// Memory is limited to a small multiple of the size of data. Errors are
// [github.com/go-afdo/afdo.FormatError], or [github.com/go-afdo/afdo.VersionError] for other
// versions than those of GCC 8 to 16.
func ReadCounters(data []byte) (*Counters, error) {
	d := newDecoder(data)
	c := &Counters{Header: d.header(magicCounters)}
	seen := make(map[uint32]bool)
	c.Ended = d.records(func(r record) { d.countersRecord(c, seen, r) })
	if err := d.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// countersRecord decodes one record of a .gcda file and adds it to c. seen has the identifiers of
// the functions read before. A second record of a function, and a second record of counters of one
// kind in a function, is an error.
func (d *decoder) countersRecord(c *Counters, seen map[uint32]bool, r record) {
	kind := Kind((r.tag - tagArcCounters) >> kindShift)
	f := &FunctionCounters{Absent: true} // the function whose counters may follow
	if n := len(c.Functions); n > 0 {
		f = &c.Functions[n-1]
	}
	again := slices.ContainsFunc(f.Counters, func(l Counter) bool { return l.Kind == kind })
	switch {
	case (r.tag == tagObjectSummary || r.tag == tagProgramSummary) && len(c.Functions) == 0:
		c.Summaries = append(c.Summaries, d.summary(r.tag))
	case r.tag == tagFunction && r.length == 0:
		c.Functions = append(c.Functions, FunctionCounters{Absent: true})
	case r.tag == tagFunction:
		id := d.id()
		if seen[id.Ident] {
			d.Fail(r.pos, errLayout, "a second record of function %#x", id.Ident)
		}
		seen[id.Ident] = true
		c.Functions = append(c.Functions, FunctionCounters{ID: id})
	case !f.Absent && !again && kind < kinds && r.tag == tagArcCounters+uint32(kind)<<kindShift:
		f.Counters = append(f.Counters, d.counters(kind, r))
	default:
		d.Fail(r.pos, errLayout, "a record with tag %#08x where none is allowed", r.tag)
	}
}

func (d *decoder) counters(kind Kind, r record) Counter {
	c := Counter{Kind: kind}
	switch n := r.length / counterSize; {
	case r.length%counterSize != 0:
		d.Fail(r.pos, fault.ErrCount, "%d bytes of counters", r.length)
	case n < 0:
		c.Zeros = uint32(-n)
	default:
		c.Values = make([]int64, n)
	}
	for i := range c.Values {
		low := d.Uint32("a counter")
		c.Values[i] = int64(low) | int64(d.Uint32("a counter"))<<32
	}
	return c
}

// Words of a summary of GCC 8: the checksum, the number of counters, the runs, the sum of all
// counters, the largest counter, the sum of the largest counters, and a histogram.
const (
	wordRuns     = 2
	wordSumMax   = 7
	summaryWords = 9 // before the histogram
)

func (d *decoder) summary(tag uint32) Summary {
	if !d.version.hasHistogram() {
		return Summary{Runs: d.Uint32("the number of runs"), SumMax: uint64(d.Uint32("the sum of the largest counters"))}
	}
	s := Summary{tag: tag}
	if !d.Has(summaryWords*wordSize, "a summary") {
		return s
	}
	for d.Rest() > 0 {
		s.words = append(s.words, d.Uint32("a word of a summary"))
	}
	if d.Err == nil {
		s.Runs = s.words[wordRuns]
		s.SumMax = uint64(s.words[wordSumMax]) | uint64(s.words[wordSumMax+1])<<32
	}
	return s
}

// WriteCounters encodes a .gcda file. An error matches afdo.ErrUnrepresentable.
func WriteCounters(c *Counters) ([]byte, error) {
	e, err := newEncoder(magicCounters, &c.Header)
	if err != nil {
		return nil, err
	}
	for _, s := range c.Summaries {
		if err := e.summary(s); err != nil {
			return nil, err
		}
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		e.begin(tagFunction)
		if !f.Absent {
			e.id(&f.ID)
		}
		for j := range f.Counters {
			if err := e.counters(f, &f.Counters[j]); err != nil {
				return nil, err
			}
		}
	}
	return e.end(c.Ended), nil
}

func (e *encoder) counters(f *FunctionCounters, c *Counter) error {
	const most, mostZeros = math.MaxInt32 / counterSize, -math.MinInt32 / counterSize
	if f.Absent || c.Kind >= kinds || c.Zeros > mostZeros || len(c.Values) > most || len(c.Values) > 0 && c.Zeros > 0 {
		return fmt.Errorf("gcda: %w: %d counters and %d zeros of kind %d, function absent: %v",
			fault.ErrUnrepresentable, len(c.Values), c.Zeros, c.Kind, f.Absent)
	}
	e.begin(tagArcCounters + uint32(c.Kind)<<kindShift)
	if c.Zeros > 0 {
		e.zeros(int(c.Zeros) * counterSize)
		return nil
	}
	for _, v := range c.Values {
		e.word(uint32(v), uint32(v>>32))
	}
	return nil
}

func (e *encoder) summary(s Summary) error {
	if e.version.hasHistogram() {
		words := make([]uint32, max(summaryWords, len(s.words)))
		copy(words, s.words)
		words[wordRuns] = s.Runs
		words[wordSumMax], words[wordSumMax+1] = uint32(s.SumMax), uint32(s.SumMax>>32)
		tag := s.tag
		tag = cmp.Or(tag, tagProgramSummary)
		e.begin(tag)
		e.word(words...)
		return nil
	}
	if s.SumMax > math.MaxUint32 {
		return fmt.Errorf("gcda: %w: a sum of the largest counters of %d", fault.ErrUnrepresentable, s.SumMax)
	}
	e.begin(tagObjectSummary)
	e.word(s.Runs, uint32(s.SumMax))
	return nil
}

// kindNames are the names of kinds of counters since GCC 10.
var kindNames = [...]string{
	"arcs", "interval", "pow2", "topn", "indirect_call", "average", "ior", "time_profiler", "conditions", "paths",
}

// KindName returns the name of a kind of counters in a version of GCC.
func (v Version) KindName(k Kind) string {
	switch {
	case v.Major() < 10 && k == TopValues:
		return "single"
	case v.Major() < 10 && k == oldTopCalls:
		return "indirect_call_topn"
	case k < Kind(len(kindNames)):
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", k)
}
