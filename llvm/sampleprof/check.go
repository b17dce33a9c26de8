package sampleprof

import (
	"slices"

	"github.com/go-afdo/afdo"
)

// CheckOffsets compares the function offsets with the bodies. Tools that read whole files, [Read]
// among them, make no use of the offsets; a compiler reads nothing but what they lead to. It
// returns the first fault, a [afdo.FormatError]. It reads all functions.
func (r *Reader) CheckOffsets() error {
	if err := r.all(); err != nil {
		return err
	}
	for _, g := range r.groups {
		if g.offsets == nil || g.offsets.Size == 0 {
			continue
		}
		if err := r.loadOffsets(g); err != nil {
			return err
		}
		if err := r.checkOffsets(g); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) checkOffsets(g *bodies) error {
	raw, err := r.openBodies(g)
	if err != nil {
		return err
	}
	b := r.reader(*raw)
	found := make([]functionAt, 0, len(g.table))
	for b.rest() > 0 {
		at := uint64(b.pos)
		b.function()
		if b.err != nil {
			return b.err
		}
		found = append(found, functionAt{b.ref, at})
	}
	slices.SortFunc(found, compareFunctionAt)
	table := slices.SortedFunc(slices.Values(g.table), compareFunctionAt)
	for i := range max(len(found), len(table)) {
		switch {
		case i >= len(found) || i < len(table) && compareFunctionAt(table[i], found[i]) < 0:
			return g.offsets.fault(g.offsets.Offset, afdo.ErrSection, "no function %q begins at %d of the bodies", r.called(table[i].ref), table[i].offset)
		case i >= len(table) || compareFunctionAt(found[i], table[i]) < 0:
			return g.offsets.fault(g.offsets.Offset, afdo.ErrSection, "function %q, at %d of the bodies, is missing", r.called(found[i].ref), found[i].offset)
		}
	}
	return nil
}

// called returns what a reference to a name or context means.
func (r *Reader) called(ref uint32) string {
	if r.contexts == nil {
		return r.Name(NameRef(ref)).String()
	}
	return string(appendContext(nil, r.contexts.at(ref), r.Name))
}
