package memprof

import (
	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Temperature describes how often the memory of an allocation site is used during its lifetime.
type Temperature uint8

// The temperatures.
const (
	Warm Temperature = iota
	Cold
	Hot
)

// String returns the name of the temperature.
func (t Temperature) String() string { return [...]string{"warm", "cold", "hot"}[t] }

// Thresholds of access densities for cold and hot memory, see [Block.Temperature]. They are
// float32, because LLVM computes with 32-bit floats.
const (
	coldDensity  float32 = 0.05    // accesses per byte and second
	coldLifetime float32 = 200_000 // milliseconds
)

// Temperature returns the hint that the compiler derives from the block by default: Cold or Warm,
// never Hot.
func (b *Block) Temperature() Temperature {
	n := float32(b[AllocCount])
	if float32(b[TotalLifetimeAccessDensity])/n/100 < coldDensity && float32(b[TotalLifetime])/n >= coldLifetime {
		return Cold
	}
	return Warm
}

// A Summary counts the call stacks at which the program allocated memory, by [Temperature].
type Summary struct {
	Contexts     uint64
	ColdContexts uint64
	HotContexts  uint64
	MaxColdSize  uint64 // largest TotalSize of a cold call stack, in bytes
	MaxWarmSize  uint64
	MaxHotSize   uint64
}

func (s *Summary) fields() []*uint64 {
	return []*uint64{&s.Contexts, &s.ColdContexts, &s.HotContexts, &s.MaxColdSize, &s.MaxWarmSize, &s.MaxHotSize}
}

// summary reads the summary of a header. It skips fields that later versions may append.
func (d *decoder) summary() *Summary {
	s := new(Summary)
	fields := s.fields()
	at := d.Pos
	n := int64(d.Uint32("number of summary fields"))
	switch {
	case d.Err != nil:
	case n < int64(len(fields)):
		d.Fail(at, errValue, "a summary of %d fields, want at least %d", n, len(fields))
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

// summarize computes the summary from all records. If several records contain the same call stack,
// the first one counts. As in LLVM, stacks that differ only in inlining count as one.
func summarize(src Source) (*Summary, error) {
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

// hash returns a hash of the frames of a call stack. The hash does not depend on which frames are
// inlined.
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
