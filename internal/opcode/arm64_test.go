package opcode

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/arch/arm64/arm64asm"
)

// decodedARM64 converts an instruction that golang.org/x/arch has decoded.
func decodedARM64(in arm64asm.Inst) Instruction {
	i := Instruction{Size: 4}
	switch in.Op {
	case arm64asm.RET, arm64asm.ERET:
		i.Leaves, i.Returns = true, true
	case arm64asm.BL, arm64asm.BLR:
		i.Calls = true
	case arm64asm.BR:
		i.Leaves, i.Jumps = true, true
	case arm64asm.B:
		_, conditional := in.Args[0].(arm64asm.Cond)
		i.Leaves, i.Jumps = !conditional, true
	case arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		i.Jumps = true
	}
	for _, arg := range in.Args {
		if by, ok := arg.(arm64asm.PCRel); ok && (i.Jumps || i.Calls) {
			i.By = int64(by) - 4
		}
	}
	return i
}

// ARM64 agrees with golang.org/x/arch on random instructions, except for those that
// golang.org/x/arch does not know.
func TestARM64(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	branches := 0
	for range 100_000 {
		w := random.Uint32()
		if random.IntN(2) == 0 {
			w = w&^(7<<26) | 5<<26 // the class of branches
		}
		if random.IntN(8) == 0 {
			w = 0xd61f0000 | w&0x7003e0
		}
		code := binary.LittleEndian.AppendUint32(nil, w)
		if in, err := arm64asm.Decode(code); err == nil {
			want := decodedARM64(in)
			require.Equal(t, want, ARM64(code), "%08x %s", w, in)
			if want != (Instruction{Size: 4}) {
				branches++
			}
		}
	}
	assert.Greater(t, branches, 10_000)
}

func TestARM64OfLaterVersions(t *testing.T) {
	for w, want := range map[uint32]Instruction{
		0xd65f0bff: {Size: 4, Leaves: true, Returns: true}, // retaa
		0xd71f0a11: {Size: 4, Leaves: true, Jumps: true},   // braa x16, x17
		0xd63f0be0: {Size: 4, Calls: true},                 // blraaz xzr
		0x54000053: {Size: 4, Jumps: true, By: 4},          // bc.lo .+8
		0x88e07c41: {Size: 4},                              // casa w0, w1, [x2]
		0x0000dead: {},                                     // udf
	} {
		assert.Equal(t, want, ARM64(binary.LittleEndian.AppendUint32(nil, w)), "%08x", w)
	}
	assert.Zero(t, ARM64([]byte{0, 0, 0}))
}
