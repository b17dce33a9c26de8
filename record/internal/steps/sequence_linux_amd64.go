package steps

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A sequence is a restartable sequence: code that the kernel restarts if the thread stops within
// it. A breakpoint inside would restart it for ever.
type sequence struct{ start, end, abort uint64 }

// offsetOfSequence is the offset of the pointer to the current sequence in struct rseq.
const offsetOfSequence = 8

// learnSequence remembers the sequence that the stopped thread is in or about to enter.
func (b *burst) learnSequence() {
	if b.rseq == 0 {
		return
	}
	var pointer [8]byte
	if readMemory(b.th.process.pid, b.rseq+offsetOfSequence, pointer[:]) != len(pointer) {
		return
	}
	address := binary.LittleEndian.Uint64(pointer[:])
	var descriptor [32]byte // version and flags, start, length, abort
	if address == 0 || readMemory(b.th.process.pid, address, descriptor[:]) != len(descriptor) {
		return
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(descriptor[8*i:]) }
	s := sequence{word(1), word(1) + word(2), word(3)}
	p := b.th.process
	for _, k := range p.sequences {
		if k == s {
			return
		}
	}
	p.sequences = append(p.sequences, s)
}

// sequenceAt returns the known sequence that contains an address.
func (b *burst) sequenceAt(address uint64) *sequence {
	for i := range b.th.process.sequences {
		if s := &b.th.process.sequences[i]; address >= s.start && address < s.end {
			return s
		}
	}
	return nil
}

// leaveSequence lets the thread run to the end of a sequence. What it executes within is not known,
// so the sample ends before it.
func (b *burst) leaveSequence(s *sequence) {
	b.sample()
	b.returns = b.returns[:0]
	if b.isStepping() || !b.clear(s.end, s.abort) || !b.resume(unix.PTRACE_SYSCALL, s.end, s.abort) {
		b.ended = true
		return
	}
	b.at = b.pc
}
