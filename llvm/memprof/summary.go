package memprof

import (
	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Temperature says how much of its life memory of an allocation site is used.
type Temperature uint8

// The temperatures.
const (
	Warm Temperature = iota
	Cold
	Hot
)

// String returns the name.
func (t Temperature) String() string { return [...]string{"warm", "cold", "hot"}[t] }

// What makes memory cold or hot, as in LLVM, which reckons in floats.
const (
	coldDensity  float32 = 0.05    // accesses a byte and second
	hotDensity   float32 = 1000    // of the same
	coldLifetime float32 = 200_000 // milliseconds
)

// Temperature returns the hint that the compiler derives from the block by default. That is never
// Hot: see [Block.Hot].
func (b *Block) Temperature() Temperature {
	n := float32(b[AllocCount])
	if float32(b[TotalLifetimeAccessDensity])/n/100 < coldDensity && float32(b[TotalLifetime])/n >= coldLifetime {
		return Cold
	}
	return Warm
}

// Hot reports whether the memory of the block is hot for a compiler that is told to use hot hints.
func (b *Block) Hot() bool {
	return float32(b[TotalLifetimeAccessDensity])/float32(b[AllocCount])/100 > hotDensity
}

// A Summary counts the call stacks that allocate, each once.
type Summary struct {
	Contexts     uint64
	ColdContexts uint64
	HotContexts  uint64
	MaxColdSize  uint64 // the largest TotalSize of a cold one
	MaxWarmSize  uint64
	MaxHotSize   uint64
}

func (s *Summary) fields() []*uint64 {
	return []*uint64{&s.Contexts, &s.ColdContexts, &s.HotContexts, &s.MaxColdSize, &s.MaxWarmSize, &s.MaxHotSize}
}

// summary reads the summary of a header, of which later versions may have more fields.
func (d *decoder) summary() *Summary {
	s := new(Summary)
	fields := s.fields()
	at := d.Pos
	n := int64(d.Uint32("number of summary fields"))
	switch {
	case d.Err != nil:
	case n < int64(len(fields)):
		d.Fail(at, ErrValue, "a summary of %d fields, want at least %d", n, len(fields))
	case n > int64(d.Rest()/8):
		d.Fail(at, fault.ErrCount, "a summary of %d fields of 8 bytes, %d bytes are left", n, d.Rest())
	}
	for _, field := range fields {
		*field = d.Uint64("field of the summary")
	}
	if d.Err == nil {
		d.Take(uint64(n-int64(len(fields)))*8, "further fields of the summary")
	}
	return s
}

func (e *encoder) summary(s *Summary) {
	fields := s.fields()
	e.u32(uint32(len(fields)))
	for _, field := range fields {
		e.u64(*field)
	}
}

func (s *Summary) add(b *Block) {
	s.Contexts++
	switch b.Temperature() {
	case Cold:
		s.ColdContexts++
		s.MaxColdSize = max(s.MaxColdSize, b[TotalSize])
	case Warm:
		s.MaxWarmSize = max(s.MaxWarmSize, b[TotalSize])
	}
}

// Summarize computes the summary from all records. If records disagree about the allocations at a
// call stack, the first one counts. Stacks that differ only in what is inlined count as one, as in
// LLVM.
func Summarize(src Source) (*Summary, error) {
	s := new(Summary)
	seen := make(map[uint64]struct{})
	w := newWalk(src)
	for rec, err := range src.Records() {
		if err != nil {
			return nil, err
		}
		for i := range rec.Allocs {
			hash, err := w.hash(rec.Allocs[i].Stack)
			if err != nil {
				return nil, err
			}
			if _, again := seen[hash]; !again {
				seen[hash] = struct{}{}
				s.add(&rec.Allocs[i].Block)
			}
		}
	}
	return s, nil
}

// hash returns what two call stacks have in common only if they go through the same places, short
// of a collision of xxhash.
func (w *walk) hash(id StackID) (uint64, error) {
	h := xxhash.New()
	e := encoder{data: w.buf[:0]}
	err := w.frames(id, func(f Frame) {
		e.data = e.data[:0]
		f.Inlined = false
		e.frame(f)
		h.Write(e.data)
	})
	w.buf = e.data
	return h.Sum64(), err
}
