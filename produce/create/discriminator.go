package create

import (
	"strconv"
	"strings"
)

// discriminators names the way in which a compiler encodes several numbers in one discriminator.
type discriminators int

const (
	plainDiscriminators discriminators = iota // one number: GCC up to 15
	gccDiscriminators                         // hierarchical: GCC 16
	llvmDiscriminators                        // prefix-coded: Clang
)

// A discriminator holds the numbers that a compiler has encoded in one discriminator of debug info:
// the number of the basic block on its line, the number of the block's duplicate, and the
// multiplicity.
type discriminator struct {
	base   uint32 // number of the basic block on the line, before compilers copied the block
	factor uint64 // executions of the source for each execution of this code, at least 1
	copy   uint32 // number of the block's copy, 0 if it was not copied
}

// encodingOf returns how the discriminators of a compilation unit are encoded. This depends on the
// compiler, which producer names. The discriminators of clang's flow-sensitive profiles have
// another meaning and are not decoded.
func (o *Options) encodingOf(producer string, flowSensitive bool) discriminators {
	switch {
	case o.RawDiscriminators:
		return plainDiscriminators
	case strings.Contains(producer, "clang version") && !flowSensitive:
		return llvmDiscriminators
	case gccMajor(producer) >= firstHierarchical:
		return gccDiscriminators
	}
	return plainDiscriminators
}

// firstHierarchical is the first version of GCC whose discriminators contain copies and
// multiplicities.
const firstHierarchical = 16

// gccMajor returns the version of the GCC that made a unit, 0 if it was another compiler. A
// producer is the language and its standard, the version, and options: "GNU C++17 16.2.0 -O2".
func gccMajor(producer string) int {
	words := strings.Fields(producer)
	if len(words) < 3 || words[0] != "GNU" || words[1] == "AS" {
		return 0
	}
	for _, word := range words[1:] {
		major, rest, dotted := strings.Cut(word, ".")
		if n, err := strconv.Atoi(major); err == nil && dotted && rest != "" {
			return n
		}
	}
	return 0
}

// Number of bits of each field in GCC 16's discriminators.
const (
	gccBaseBits         = 8
	gccMultiplicityBits = 7
	gccCopyBits         = 11
)

// decode splits the discriminator v of debug info into the numbers that it encodes.
func (d discriminators) decode(v uint32) discriminator {
	switch d {
	case gccDiscriminators:
		multiplicity := v >> gccBaseBits & (1<<gccMultiplicityBits - 1)
		return discriminator{
			base:   v & (1<<gccBaseBits - 1),
			factor: uint64(max(1, multiplicity)),
			copy:   v >> (gccBaseBits + gccMultiplicityBits) & (1<<gccCopyBits - 1),
		}
	case llvmDiscriminators:
		if isProbe := v&probeMark == probeMark && v != probeMark; isProbe {
			return discriminator{base: probeBase(v), factor: 1}
		}
		base, v := llvmComponent(v)
		factor, v := llvmComponent(v)
		id, _ := llvmComponent(v)
		return discriminator{base: base, factor: uint64(max(1, factor)), copy: id}
	}
	return discriminator{base: v, factor: 1}
}

// In binaries with pseudo probes, Clang stores a probe in the discriminator of a call. The lowest
// three bits are set then, and in no other discriminator. If bit probeHasBase is set, the bits from
// probeBaseAt on contain the base discriminator.
const (
	probeMark     = 7
	probeHasBase  = 1 << 28
	probeBaseAt   = 16
	probeBaseMask = 7
)

func probeBase(v uint32) uint32 {
	if v&probeHasBase == 0 {
		return 0
	}
	return v >> probeBaseAt & probeBaseMask
}

// llvmComponent decodes the first component of clang's discriminator and returns the remaining
// bits. If bit 0 is set, the component is 0. Otherwise it has 5 bits, or 12 if bit 6 is set.
func llvmComponent(v uint32) (component, rest uint32) {
	switch {
	case v&1 != 0:
		return 0, v >> 1
	case v&0x40 == 0:
		return v >> 1 & 0x1f, v >> 7
	}
	return v>>1&0x1f | v>>7&0x7f<<5, v >> 14
}
