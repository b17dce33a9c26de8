package create

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
)

// elsewhere is used in place of an address outside of the binary.
const elsewhere = math.MaxUint64

// A codeRange is code that ran without a taken branch, by the addresses of its first and last
// instruction.
type codeRange struct{ begin, end uint64 }

// A codeBranch is a branch that was taken, by the addresses of its instruction and its target.
type codeBranch struct{ from, to uint64 }

func (b codeBranch) compare(c codeBranch) int {
	return cmp.Or(cmp.Compare(b.from, c.from), cmp.Compare(b.to, c.to))
}

// A contextCounts counts the ranges and branches that ran in one calling context, which is a chain
// of calls.
type contextCounts struct {
	calls    []uint64 // addresses of the call instructions, the outermost first
	ranges   map[codeRange]uint64
	branches map[codeBranch]uint64
}

// An unwinder finds the calling context of the code between recorded branches. It follows the
// branches of a sample backwards, from the newest to the oldest, and reconstructs the call stack
// before each branch, as llvm-profgen does.
type unwinder struct {
	locator
	code     *decoder
	contexts map[string]*contextCounts
	starts   map[uint64][]uint32 // by start of a function: offsets of its instructions
	key      []byte
	calls    []uint64

	stack []uint64 // call instructions, outermost first, and last the address reached in the current function
	lost  bool     // the callers are unknown from here on
}

// unwind counts the code that ran in each calling context. Its result depends only on the
// recording.
func unwind(f *symbolize.File, set *samples.Set) (*unwinder, error) {
	u := &unwinder{locator: locator{file: f}, code: newDecoder(f.ELF()), contexts: make(map[string]*contextCounts), starts: make(map[uint64][]uint32)}
	for t, n := range set.Traces() {
		u.trace(t, n)
	}
	return u, u.err
}

// trace counts the code of a sample, which was recorded n times, in its calling contexts.
func (u *unwinder) trace(t samples.Trace, n uint64) {
	if u.frameless(u.address(t.At)) {
		return
	}
	u.enter(t.Calls)
	newest := uint64(0)
	for i, b := range t.Branches {
		from, to := u.address(b.From), u.address(b.To)
		if i == 0 {
			u.stack = append(u.stack, to)
		} else {
			u.straight(to, newest, n)
		}
		u.branch(from, to)
		if from != elsewhere && to != elsewhere {
			in := u.in()
			in.branches[codeBranch{from, to}] = saturating.Add(in.branches[codeBranch{from, to}], n)
		}
		newest = from
	}
}

// enter sets the unwinder's stack to the calls of a sample's call stack. If one of these addresses
// is not that of a call, the profiler has unwound the stack incorrectly. enter then drops that
// address and all callers further out.
func (u *unwinder) enter(calls []uint64) {
	u.stack, u.lost = u.stack[:0], false
	for _, offset := range calls {
		c := u.address(offset)
		if c != elsewhere {
			c = u.call(c)
		}
		if c == 0 {
			u.stack = u.stack[:0]
		} else {
			u.stack = append(u.stack, c)
		}
	}
}

// address returns the address of a file offset. It returns elsewhere if no function contains the
// offset, for example in the procedure linkage table.
func (u *unwinder) address(offset uint64) uint64 {
	if offset == samples.Elsewhere {
		return elsewhere
	}
	if _, addr, ok := u.at(offset); ok {
		return addr
	}
	return elsewhere
}

// straight adds n executions of the code from begin to end, which ran between two branches, to the
// calling context that the stack shows now.
func (u *unwinder) straight(begin, end, n uint64) {
	switch {
	case begin == elsewhere && end == elsewhere: // the binary called, and was returned to
	case begin == elsewhere, end == elsewhere, begin > end, u.code.crosses(begin, end):
		u.lost = true
	default:
		in := u.in()
		in.ranges[codeRange{begin, end}] = saturating.Add(in.ranges[codeRange{begin, end}], n)
	}
}

// branch changes the unwinder's stack from the state after a branch to the state before it, because
// the unwinder goes backwards in time. For a call, it removes the called function from the stack.
// For a return, it adds the function that returned.
func (u *unwinder) branch(from, to uint64) {
	leaf := len(u.stack) - 1
	if u.lost {
		u.stack = append(u.stack[:0], from)
		return
	}
	calls, returns, caller := false, false, uint64(0)
	if from != elsewhere {
		in := u.code.decode(from)
		calls, returns = in.Calls, in.Returns
	}
	if to != elsewhere && (returns || from == elsewhere) {
		caller = u.call(to - 1)
	}
	switch {
	case calls, from == elsewhere && caller == 0:
		if leaf > 0 && u.stack[leaf-1] == from {
			u.stack = u.stack[:leaf]
		} else {
			u.stack[leaf] = from
		}
	case returns, from == elsewhere:
		if to == elsewhere {
			caller = elsewhere
		}
		u.stack[leaf] = caller
		u.stack = append(u.stack, from)
	default:
		u.stack[leaf] = from
	}
}

// in returns the counts of the calling context that the unwinder's stack shows now.
func (u *unwinder) in() *contextCounts {
	calls := u.stack[:len(u.stack)-1]
	for i, c := range slices.Backward(calls) {
		if c == elsewhere {
			calls = calls[i+1:]
			break
		}
	}
	u.calls = withoutRecursion(append(u.calls[:0], calls...))
	u.key = u.key[:0]
	for _, c := range u.calls {
		u.key = binary.BigEndian.AppendUint64(u.key, c)
	}
	c := u.contexts[string(u.key)]
	if c == nil {
		c = &contextCounts{slices.Clone(u.calls), make(map[codeRange]uint64), make(map[codeBranch]uint64)}
		u.contexts[string(u.key)] = c
	}
	return c
}

// withoutRecursion removes recursion from a chain of calls: it replaces adjacent repetitions of a
// sequence by one. It does so first for sequences of one call, then of two, and so on. It changes
// its argument.
func withoutRecursion[T comparable](calls []T) []T {
	for size := 1; size <= len(calls)/2; size++ {
		kept := calls[:0]
		for _, c := range calls {
			kept = append(kept, c)
			if n := len(kept); n >= 2*size && slices.Equal(kept[n-size:], kept[n-2*size:n-size]) {
				kept = kept[:n-size]
			}
		}
		calls = kept
	}
	return calls
}

// frameless reports whether an address is in the prologue or epilogue of a function, where the
// function has no stack frame. A call stack from frame pointers then lacks the function's caller.
func (u *unwinder) frameless(addr uint64) bool {
	s, ok := u.symbol(addr)
	if !ok {
		return false
	}
	first, here := u.code.decode(s.Low), u.code.decode(addr)
	if addr == s.Low || addr == s.Low+first.Size || here.Returns {
		return true
	}
	return here.Size > 0 && u.code.decode(addr+here.Size).Returns
}

// call returns the address of the call instruction whose last byte is at address last, or 0 if
// there is none.
func (u *unwinder) call(last uint64) uint64 {
	s, ok := u.symbol(last)
	if !ok || last-s.Low > math.MaxUint32 {
		return 0
	}
	starts := u.instructions(s)
	i, found := slices.BinarySearch(starts, uint32(last-s.Low))
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	at := s.Low + uint64(starts[i])
	if in := u.code.decode(at); in.Calls && at+in.Size == last+1 {
		return at
	} else if in.Size == 0 {
		return u.anyCall(at, last+1)
	}
	return 0
}

// instructions returns the offsets of a function's instructions, up to the first that cannot be
// decoded.
func (u *unwinder) instructions(s symbolize.Symbol) []uint32 {
	starts, known := u.starts[s.Low]
	if known {
		return starts
	}
	for at := s.Low; at < s.High && at-s.Low <= math.MaxUint32; {
		starts = append(starts, uint32(at-s.Low))
		in := u.code.decode(at)
		if in.Size == 0 {
			break
		}
		at += in.Size
	}
	u.starts[s.Low] = starts
	return starts
}

// anyCall returns the longest call instruction that begins after low and ends just before end, or 0
// if there is none. It tries every byte, for code that cannot be decoded in sequence.
func (u *unwinder) anyCall(low, end uint64) uint64 {
	for at := max(low+1, end-min(end, maxInstruction)); at < end; at++ {
		if in := u.code.decode(at); in.Calls && at+in.Size == end {
			return at
		}
	}
	return 0
}
