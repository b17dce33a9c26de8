package wire

// A BitSet is a set of small numbers.
type BitSet []uint64

// NewBitSet returns an empty set for numbers below n.
func NewBitSet(n int) BitSet { return make(BitSet, (n+63)/64) }

func (s BitSet) Add(i uint32) { s[i/64] |= 1 << (i % 64) }

func (s BitSet) Remove(i uint32) { s[i/64] &^= 1 << (i % 64) }

// Has reports whether the set contains i, which may be any number.
func (s BitSet) Has(i uint32) bool { return int(i/64) < len(s) && s[i/64]>>(i%64)&1 != 0 }
