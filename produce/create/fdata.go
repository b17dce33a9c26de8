package create

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/saturating"
)

// WriteFdata writes samples in the text format that BOLT reads (llvm-bolt -data), with addresses as
// offsets in symbols. It writes a line for each branch, and for each fall-through from one basic
// block to the next. For a recording without ranges, it writes a line for each address. Samples
// outside of functions, and returns, are left out; if nothing remains, the error is [ErrNoCode].
// A name with a line break is an error that matches afdo.ErrUnrepresentable.
func WriteFdata(out io.Writer, f *symbolize.File, set *samples.Set) error {
	w := &fdataWriter{
		Writer: bufio.NewWriter(out), locator: locator{file: f}, code: newDecoder(f.ELF()),
		names: make(map[uint64]string), targetsOf: make(map[uint64][]uint64), counts: make(map[codeBranch]uint64),
	}
	w.nameSymbols()
	if set.Ranges.Len() == 0 {
		fmt.Fprintln(w, "no_lbr cycles")
		for offset, n := range set.Addresses.All() {
			if _, addr, ok := w.at(offset); ok && n > 0 {
				w.add(addr, 0, n)
			}
		}
	} else {
		w.branches(set)
	}
	for r, n := range set.Ranges.All() {
		w.steps(r, n)
	}
	if len(w.counts) == 0 {
		return cmp.Or(w.err, fmt.Errorf("create: %s: %w", f.Path(), ErrNoCode))
	}
	for _, b := range slices.SortedFunc(maps.Keys(w.counts), codeBranch.compare) {
		target := ""
		if set.Ranges.Len() > 0 {
			target = w.place(b.to) + " 0 "
		}
		fmt.Fprintf(w, "%s %s%d\n", w.place(b.from), target, w.counts[b])
	}
	return cmp.Or(w.err, w.Flush())
}

// An fdataWriter writes samples in the text format that BOLT reads, with addresses as offsets in
// symbols.
type fdataWriter struct {
	*bufio.Writer // keeps the first error
	locator
	code      *decoder
	names     map[uint64]string     // by start of a function: the name that BOLT gives it
	targetsOf map[uint64][]uint64   // results of targets, by start of the function
	counts    map[codeBranch]uint64 // branches and fall-throughs; from is 0 for a branch from outside of all functions. Without ranges, addresses in from
}

// nameSymbols reads the symbols and names them as BOLT does, which numbers local symbols of the
// same name in the order of their addresses.
func (w *fdataWriter) nameSymbols() {
	seen := make(map[string]int)
	for s, err := range w.file.Symbols() {
		if w.err = err; err != nil {
			return
		}
		name := s.Names[0]
		if !s.Global {
			seen[name]++
			name = fmt.Sprintf("%s/%d", name, seen[name])
		}
		w.names[s.Low] = name
	}
}

// fdataName escapes the characters of a name that separate or escape fields.
var fdataName = strings.NewReplacer(`\`, `\\`, " ", `\ `)

// place returns an address in the form of BOLT's text: the function's name and the offset in the
// function. If the text cannot contain the name, place keeps an error in w.
func (w *fdataWriter) place(addr uint64) string {
	s, ok := w.symbol(addr)
	if !ok {
		return "0 [unknown] 0"
	}
	name := w.names[s.Low]
	if name == "" || strings.Contains(name, "\n") {
		w.err = cmp.Or(w.err, fmt.Errorf("create: fdata cannot contain the name %.100q: %w", name, fault.ErrUnrepresentable))
	}
	return fmt.Sprintf("1 %s %x", fdataName.Replace(name), addr-s.Low)
}

// add adds n executions of a branch or fall-through between two addresses.
func (w *fdataWriter) add(from, to, n uint64) {
	w.counts[codeBranch{from, to}] = saturating.Add(w.counts[codeBranch{from, to}], n)
}

// branches adds the recorded branches that lead to another address in the same function, or to the
// start of a function.
func (w *fdataWriter) branches(set *samples.Set) {
	for b, n := range set.Branches.All() {
		source, from, ok := w.at(b.From)
		target, to, known := w.at(b.To)
		if ok && known && (to == target.Low || source.Low == target.Low) {
			w.add(from, to, n)
		}
	}
	for offset, n := range set.Entries.All() {
		if target, to, ok := w.at(offset); ok && to == target.Low {
			w.add(0, to, n)
		}
	}
}

// steps adds the fall-throughs between the basic blocks of a range that ran n times. A block ends
// at a jump, and before an address to which another jump of the function leads.
func (w *fdataWriter) steps(r samples.Range, n uint64) {
	s, begin, ok := w.at(r.Begin)
	last, end, known := w.at(r.End)
	if w.code == nil || !ok || !known || s.Low != last.Low || w.code.crosses(begin, end) {
		return
	}
	targets := w.targets(s)
	for at, in := range w.code.instructions(begin, end) {
		next := at + in.Size
		if _, begins := slices.BinarySearch(targets, next); next <= end && (in.Jumps || begins) {
			w.add(at, next, n)
		}
	}
}

// targets returns the addresses in a function to which the function's own jumps lead, sorted.
func (w *fdataWriter) targets(s symbolize.Symbol) []uint64 {
	targets, known := w.targetsOf[s.Low]
	if known {
		return targets
	}
	for at, in := range w.code.instructions(s.Low, s.High) {
		if to := at + in.Size + uint64(in.By); in.Jumps && in.By != 0 && to >= s.Low && to < s.High {
			targets = append(targets, to)
		}
	}
	slices.Sort(targets)
	w.targetsOf[s.Low] = targets
	return targets
}
