package create

import (
	"cmp"
	"math"
	"math/bits"
	"path"
	"slices"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/opcode"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// sampleFraction is the number of bits after the binary point in the counts of blocks, if the
// recording has samples. With these bits, one sample in a block of 100 instructions does not round
// to 0. Exact counts have no such bits.
const sampleFraction = 8

// evidence returns the counts of the basic blocks of machine code of all functions, see
// [profile.Evidence]. It returns nil if there are none.
func (c *creation) evidence() *profile.Evidence {
	e := &profile.Evidence{Fraction: c.fraction()}
	for _, f := range c.functions {
		if f.placed != nil && f.placed.evidence != nil {
			e.Copies = append(e.Copies, *f.placed.evidence)
		}
	}
	if len(e.Copies) == 0 {
		return nil
	}
	return e
}

// fraction returns the number of bits after the binary point in the counts of basic blocks: 0 for
// exact counts, and otherwise sampleFraction.
func (c *creation) fraction() uint8 {
	if c.exact {
		return 0
	}
	return sampleFraction
}

// codeCopy returns the basic blocks of a function's machine code with their counts, or nil if the
// code cannot be decoded.
func (p *mapper) codeCopy(code *symbolize.Code) *profile.CodeCopy {
	b := &blockBuilder{
		mapper: p, leaders: p.leaders(), stretches: p.function.stretches(), spans: code.Spans, sizes: p.function.sizes,
		frames: make(map[*symbolize.Instance]frame),
	}
	b.copy.Symbol = code.Symbol.Names[0]
	b.copy.Unit = p.path(unitPath(code.Unit))
	b.copy.Frames = []profile.InlineFrame{{Parent: -1, Function: p.unify(SelectedSuffixes.Name(b.copy.Symbol))}}
	if n := slices.IndexFunc(code.Spans, func(s symbolize.Span) bool { return s.Instance != nil }); n >= 0 {
		b.copy.Frames[0].Declared = code.Spans[n].Instance.Chain()[0].Function.Line
	}
	s := p.function.symbol
	for at, in := range p.code.instructions(s.Low, s.High) {
		b.add(at, in)
	}
	b.endBlock()
	if len(b.copy.Blocks) == 0 {
		return nil
	}
	b.copy.Frames, b.copy.Blocks = slices.Clone(b.copy.Frames), slices.Clone(b.copy.Blocks)
	b.addJumps()
	return &b.copy
}

func unitPath(u *symbolize.Unit) string {
	if path.IsAbs(u.Name) || u.Name == "" {
		return u.Name
	}
	return path.Join(u.Dir, u.Name)
}

// leaders returns the addresses at which basic blocks of the function begin, sorted: the targets of
// jumps, and the addresses after jumps and returns.
func (p *mapper) leaders() []uint64 {
	s := p.function.symbol
	var leaders []uint64
	for _, j := range p.function.jumps {
		leaders = append(leaders, j.to)
	}
	for at, in := range p.code.instructions(s.Low, s.High) {
		next := at + in.Size
		if in.Jumps || in.Leaves {
			leaders = append(leaders, next)
		}
		if to := next + uint64(in.By); in.Jumps && in.By != 0 && to > s.Low && to < s.High {
			leaders = append(leaders, to)
		}
	}
	slices.Sort(leaders)
	return slices.Compact(leaders)
}

// A blockBuilder divides the machine code of a function into basic blocks.
type blockBuilder struct {
	*mapper
	leaders   []uint64         // addresses that begin a block, from the current instruction on
	stretches []stretch        // counts, from the current instruction on
	spans     []symbolize.Span // lines, from the current instruction on
	sizes     []size           // of calls, from the current instruction on
	frames    map[*symbolize.Instance]frame
	copy      profile.CodeCopy
	machine   []machineBlock // for each block of copy

	block machineBlock // the block being built
	at    profile.CodeBlock
}

// A frame is a function that is inlined in the machine code of another function. number is its
// index in the list of inline frames. factor is how often its source is executed for each execution
// of its machine code, which is more than 1 for example in vectorised code.
type frame struct {
	number int32
	factor uint64
}

// A machineBlock is the address range of a basic block of machine code, with the counts from which
// the count of the block is computed.
type machineBlock struct {
	low, high   uint64
	last        uint64 // count of its last instruction
	hi, lo      uint64 // 128-bit sum of the counts of its instructions
	conditional bool   // it ends with a conditional jump
}

// add adds the instruction in at address at to the current basic block. If a block begins at this
// address, add ends the current block first.
func (b *blockBuilder) add(at uint64, in opcode.Instruction) {
	count := b.count(at)
	leads := len(b.leaders) > 0 && b.leaders[0] <= at
	for len(b.leaders) > 0 && b.leaders[0] <= at {
		b.leaders = b.leaders[1:]
	}
	// A computed jump leads to places that the code does not show, and some calls do not return.
	// Exact counts show them.
	if leads || b.exact && b.at.Size > 0 && count != b.block.last {
		b.endBlock()
	}
	if b.code.isPadding(at) {
		return
	}
	if b.at.Size == 0 {
		b.block.low = at
	}
	b.at.Size++
	b.block.high, b.block.last = at+in.Size, count
	b.block.conditional = in.Jumps && !in.Leaves
	var carry uint64
	b.block.lo, carry = bits.Add64(b.block.lo, count, 0)
	b.block.hi += carry
	if place, ok := b.place(at); ok {
		if n := len(b.at.Places); n == 0 || b.at.Places[n-1] != place {
			b.at.Places = append(b.at.Places, place)
		}
		for ; len(b.sizes) > 0 && b.sizes[0].after <= at+in.Size; b.sizes = b.sizes[1:] {
			if s := b.sizes[0]; s.after == at+in.Size {
				b.copy.AddSize(profile.CallSize{Place: place, Bytes: s.bytes, Count: saturating.Mul(s.count, 1<<b.fraction())})
			}
		}
	}
}

// count returns how often the instruction at an address ran.
func (b *blockBuilder) count(at uint64) uint64 {
	for len(b.stretches) > 0 && b.stretches[0].high <= at {
		b.stretches = b.stretches[1:]
	}
	if len(b.stretches) == 0 {
		return 0
	}
	return b.stretches[0].count
}

// place returns the source position of the instruction at an address, with the inline frame that
// contains it. It returns false if debug info has no line for the instruction.
func (b *blockBuilder) place(at uint64) (profile.Place, bool) {
	for len(b.spans) > 0 && b.spans[0].High <= at {
		b.spans = b.spans[1:]
	}
	if len(b.spans) == 0 || b.spans[0].Low > at || b.spans[0].Instance == nil || b.spans[0].Line.Line == 0 {
		return profile.Place{}, false
	}
	s := b.spans[0]
	f := b.frame(s.Instance)
	position, factor := b.position(s.Line)
	return profile.Place{Frame: f.number, Position: position, Factor: uint32(min(saturating.Mul(f.factor, factor), math.MaxUint32))}, true
}

// position returns the source position that a line of debug info represents, and the multiplicity
// in its discriminator: the number of executions of the source for each execution of the machine
// code.
func (b *blockBuilder) position(l symbolize.Line) (profile.Position, uint64) {
	d := b.encoding.decode(l.Discriminator)
	return profile.Position{File: b.path(l.File), Line: l.Line, Column: l.Column, Discriminator: d.base}, d.factor
}

// frame returns the inline frame for an instance, which is a function or an inlined copy of it. If
// the list of inline frames does not contain it, frame adds it after the frames of its callers.
func (b *blockBuilder) frame(i *symbolize.Instance) frame {
	return throughCallers(b.frames, i, frame{0, 1}, func(outer frame, i *symbolize.Instance) frame {
		call, factor := b.position(i.Call)
		b.copy.Frames = append(b.copy.Frames, profile.InlineFrame{Parent: outer.number, Function: b.unify(i.Function.Linkage()), Declared: i.Function.Line, Call: call})
		return frame{int32(len(b.copy.Frames) - 1), saturating.Mul(outer.factor, factor)}
	})
}

// endBlock ends the current basic block and adds it to the blocks of the function.
func (b *blockBuilder) endBlock() {
	if b.at.Size > 0 {
		slices.SortFunc(b.at.Places, profile.Place.Compare)
		b.at.Places = slices.Clone(slices.Compact(b.at.Places))
		b.at.Count = b.block.mean(b.fraction(), b.at.Size)
		b.copy.Blocks = append(b.copy.Blocks, b.at)
		b.machine = append(b.machine, b.block)
	}
	b.block, b.at = machineBlock{}, profile.CodeBlock{}
}

// mean returns the mean of the counts of a block's instructions, rounded. fraction is the number of
// bits after the binary point in the result, and size is the number of instructions.
func (m *machineBlock) mean(fraction uint8, size uint32) uint64 {
	if m.hi != 0 {
		return math.MaxUint64
	}
	hi, lo := bits.Mul64(m.lo, 1<<fraction)
	lo, carry := bits.Add64(lo, uint64(size/2), 0)
	if hi += carry; hi >= uint64(size) {
		return math.MaxUint64
	}
	mean, _ := bits.Div64(hi, lo, uint64(size))
	return mean
}

// addJumps adds the recorded jumps between basic blocks to the function's blocks. For conditional
// jumps, it also adds how often execution continued in the next block.
func (b *blockBuilder) addJumps() {
	if !b.jumps || !b.sameUnit {
		return
	}
	taken := make([]uint64, len(b.machine))
	for _, j := range b.function.jumps {
		from, _ := slices.BinarySearchFunc(b.machine, j.from, func(m machineBlock, at uint64) int { return cmp.Compare(m.high, at+1) })
		to, found := slices.BinarySearchFunc(b.machine, j.to, func(m machineBlock, at uint64) int { return cmp.Compare(m.low, at) })
		if from == len(b.machine) || b.machine[from].low > j.from || !found {
			continue
		}
		taken[from] = saturating.Add(taken[from], j.count)
		b.copy.Jumps = append(b.copy.Jumps, profile.CodeJump{From: int32(from), To: int32(to), Count: j.count})
	}
	b.addSteps(taken)
	b.copy.Jumps = merged(b.copy.Jumps, func(j, k profile.CodeJump) int {
		return cmp.Or(cmp.Compare(j.From, k.From), cmp.Compare(j.To, k.To))
	}, func(to *profile.CodeJump, j profile.CodeJump) { to.Count = saturating.Add(to.Count, j.Count) })
	for i := range b.copy.Jumps {
		b.copy.Jumps[i].Count = saturating.Mul(b.copy.Jumps[i].Count, 1<<b.fraction())
	}
}

// addSteps adds, for each conditional jump, the edge to the next basic block with the number of
// times that the jump was not taken. taken has the number of taken jumps from each block. If the
// recording has ranges, the number is the count of ranges that run across the end of the block.
// With exact counts, it is the count of the jump instruction minus the taken jumps.
func (b *blockBuilder) addSteps(taken []uint64) {
	steps, across := b.function.counts, uint64(0) // sorted by stretches
	for i, m := range b.machine[:len(b.machine)-1] {
		for ; len(steps) > 0 && (steps[0].at < m.high || steps[0].at == m.high && !steps[0].up); steps = steps[1:] {
			if steps[0].up {
				across += steps[0].count
			} else {
				across -= steps[0].count
			}
		}
		if !m.conditional {
			continue
		}
		n := across
		if b.exact {
			n = max(m.last, taken[i]) - taken[i]
		}
		if n > 0 || taken[i] > 0 {
			b.copy.Jumps = append(b.copy.Jumps, profile.CodeJump{From: int32(i), To: int32(i + 1), Count: n})
		}
	}
}
