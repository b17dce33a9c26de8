package create

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
)

// WriteFdata writes samples in the text format that BOLT reads (llvm-bolt -data), with addresses as
// offsets in symbols. It writes a line for each branch, and for each fall-through from one basic
// block to the next. For a recording without ranges, it writes a line for each address. Samples
// outside of functions, and returns, are left out.
func WriteFdata(out io.Writer, f *symbolize.File, set *samples.Set) error {
	w := &fdataWriter{Writer: bufio.NewWriter(out), file: f, counts: make(map[fdataBranch]uint64), seen: make(map[string]int)}
	if err := w.nameSymbols(); err != nil {
		return err
	}
	if set.Ranges.Len() == 0 {
		fmt.Fprintln(w, "no_lbr cycles")
		for offset, n := range set.Addresses.All() {
			if at := w.at(offset); at.ok && n > 0 {
				fmt.Fprintf(w, "%s %d\n", at, n)
			}
		}
		return w.Flush()
	}
	w.code = newDecoder(f.ELF())
	w.branches(set)
	for r, n := range set.Ranges.All() {
		w.steps(w.at(r.Begin), w.at(r.End), n)
	}
	for _, b := range slices.SortedFunc(maps.Keys(w.counts), fdataBranch.compare) {
		fmt.Fprintf(w, "%s %s 0 %d\n", b.from, b.to, w.counts[b])
	}
	return w.Flush()
}

// An fdataSpot is an address as an offset in a symbol. ok is false for an address outside of all
// symbols.
type fdataSpot struct {
	ok     bool
	symbol *fdataSymbol
	offset uint64
}

func (s fdataSpot) String() string {
	if !s.ok {
		return "0 [unknown] 0"
	}
	return fmt.Sprintf("1 %s %x", s.symbol.name, s.offset)
}

func (s fdataSpot) compare(t fdataSpot) int {
	if !s.ok || !t.ok {
		return cmp.Compare(fmt.Sprint(s), fmt.Sprint(t))
	}
	return cmp.Or(cmp.Compare(s.symbol.low, t.symbol.low), cmp.Compare(s.offset, t.offset))
}

// An fdataBranch is a branch or a fall-through from one address to another.
type fdataBranch struct{ from, to fdataSpot }

func (b fdataBranch) compare(c fdataBranch) int {
	return cmp.Or(b.from.compare(c.from), b.to.compare(c.to))
}

// An fdataSymbol is a function under the name that BOLT gives it.
type fdataSymbol struct {
	name      string
	low, high uint64
	blocks    []uint64 // start addresses of the function's blocks, see fdataWriter.blocks
	known     bool
}

type fdataWriter struct {
	*bufio.Writer // keeps the first error
	file          *symbolize.File
	code          *decoder
	symbols       []*fdataSymbol // by address
	counts        map[fdataBranch]uint64
	seen          map[string]int
}

// nameSymbols reads the symbols and names them as BOLT does, which numbers local symbols of the
// same name in the order of their addresses.
func (w *fdataWriter) nameSymbols() error {
	for s, err := range w.file.Symbols() {
		if err != nil {
			return err
		}
		name := s.Names[0]
		if !s.Global {
			w.seen[name]++
			name = fmt.Sprintf("%s/%d", name, w.seen[name])
		}
		w.symbols = append(w.symbols, &fdataSymbol{name: name, low: s.Low, high: s.High})
	}
	return nil
}

// at returns the symbol and offset of a file offset.
func (w *fdataWriter) at(offset uint64) fdataSpot {
	addr, ok := w.file.Address(offset)
	i, found := slices.BinarySearchFunc(w.symbols, addr, func(s *fdataSymbol, addr uint64) int { return cmp.Compare(s.low, addr) })
	if !found {
		i--
	}
	if !ok || i < 0 || addr >= w.symbols[i].high {
		return fdataSpot{}
	}
	return fdataSpot{true, w.symbols[i], addr - w.symbols[i].low}
}

// add adds n executions of a branch or fall-through.
func (w *fdataWriter) add(from, to fdataSpot, n uint64) {
	b := fdataBranch{from, to}
	w.counts[b] = saturating.Add(w.counts[b], n)
}

// branches adds the branches within functions and the branches to the start of a function.
func (w *fdataWriter) branches(set *samples.Set) {
	for b, n := range set.Branches.All() {
		from, to := w.at(b.From), w.at(b.To)
		if to.ok && from.ok && (to.offset == 0 || to.symbol == from.symbol) {
			w.add(from, to, n)
		}
	}
	for offset, n := range set.Entries.All() {
		if to := w.at(offset); to.ok && to.offset == 0 {
			w.add(fdataSpot{}, to, n)
		}
	}
}

// steps adds the fall-throughs within a range that ran n times. A block ends at a jump, and before
// an address to which another jump leads.
func (w *fdataWriter) steps(from, to fdataSpot, n uint64) {
	if w.code == nil || !from.ok || !to.ok || from.symbol != to.symbol || w.code.crosses(from.symbol.low+from.offset, to.symbol.low+to.offset) {
		return
	}
	s := from.symbol
	blocks := w.blocks(s)
	end := s.low + to.offset
	for at, in := range w.code.instructions(s.low+from.offset, end) {
		next := at + in.Size
		if _, begins := slices.BinarySearch(blocks, next); next <= end && (in.Jumps || begins) {
			w.add(fdataSpot{true, s, at - s.low}, fdataSpot{true, s, next - s.low}, n)
		}
	}
}

// blocks returns the addresses in a function to which its own jumps lead, sorted. It decodes the
// function on the first call.
func (w *fdataWriter) blocks(s *fdataSymbol) []uint64 {
	if s.known {
		return s.blocks
	}
	s.known = true
	for at, in := range w.code.instructions(s.low, s.high) {
		if to := at + in.Size + uint64(in.By); in.Jumps && in.By != 0 && to >= s.low && to < s.high {
			s.blocks = append(s.blocks, to)
		}
	}
	slices.Sort(s.blocks)
	return s.blocks
}
