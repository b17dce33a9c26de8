package instrprof

import (
	"encoding/binary"
	"iter"

	"github.com/go-afdo/afdo/internal/saturating"
)

// Pseudo counts. A function with a pseudo count in its first counter has no counts: a sampling
// profile considers it hot or warm.
const (
	PseudoHot  = 1<<64 - 1
	PseudoWarm = 1<<64 - 2

	// MaxCount is the largest count. Sums saturate at MaxCount.
	MaxCount = 1<<64 - 3
)

// Counters is a view of the counters of a function, valid as long as the [Record].
type Counters struct {
	data  []byte
	width uint8 // size of a counter in bytes: 8, or 1 in raw files with single-byte counters
	big   bool
}

// Len returns the number of counters.
func (c Counters) Len() int {
	if c.width == 1 {
		return len(c.data)
	}
	return len(c.data) / 8
}

// At returns counter i, from 0 to Len()-1. Like a slice, it panics if i is out of range.
func (c Counters) At(i int) uint64 {
	if c.width == 1 {
		if c.data[i] == 0 { // the program stores 0 when it reaches the block
			return 1
		}
		return 0
	}
	p := c.data[8*i : 8*i+8]
	if c.big {
		return binary.BigEndian.Uint64(p)
	}
	return binary.LittleEndian.Uint64(p)
}

// All iterates over the counters in order.
func (c Counters) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range c.Len() {
			if !yield(c.At(i)) {
				return
			}
		}
	}
}

// append appends the counters to p in the form of indexed files: 8 bytes each, little-endian.
func (c Counters) append(p []byte) []byte {
	if c.width != 1 && !c.big {
		return append(p, c.data...)
	}
	for i := range c.Len() {
		p = binary.LittleEndian.AppendUint64(p, c.At(i))
	}
	return p
}

// pseudo returns the pseudo count in the first counter, or 0 if there is none.
func (c Counters) pseudo() uint64 {
	if c.Len() > 0 && c.At(0) >= PseudoWarm {
		return c.At(0)
	}
	return 0
}

// A Bitmap is a view of the MC/DC bitmap of a function, with one bit for each test vector that was
// executed.
type Bitmap struct {
	data   []byte
	stride uint8 // bytes in the file per byte of the bitmap: 8 in indexed files, 1 in raw files
}

// Len returns the number of bytes in the bitmap.
func (b Bitmap) Len() int {
	if b.stride == 8 {
		return len(b.data) / 8
	}
	return len(b.data)
}

// At returns byte i, from 0 to Len()-1.
func (b Bitmap) At(i int) byte {
	if b.stride == 8 {
		return b.data[8*i]
	}
	return b.data[i]
}

// append appends the bitmap to p as raw files store it: without gaps.
func (b Bitmap) append(p []byte) []byte {
	if b.stride != 8 {
		return append(p, b.data...)
	}
	for i := range b.Len() {
		p = append(p, b.At(i))
	}
	return p
}

func saturatingAdd(a, b uint64) uint64 { return min(saturating.Add(a, b), MaxCount) }

func saturatingMultiply(a, b uint64) uint64 { return min(saturating.Mul(a, b), MaxCount) }
