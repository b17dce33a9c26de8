package check

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// infos checks all sections of symbol infos to which symbols refer, in file order.
func (k *checker) infos() {
	var open []uint32
	for i, uses := range k.uses {
		if uses&usedAs(afdo.SectionSymbolInfo) == 0 {
			continue
		}
		f, ok := k.section(i, afdo.SectionSymbolInfo)
		if k.stopped {
			return
		}
		if !ok {
			k.incomplete = true
			continue
		}
		open = k.info(f, open[:0])
	}
}

// info checks one section of symbol infos. It decodes the locations field by field, and does not
// use the cursor of [afdo.Reader], so that it can report the position of each fault. open is memory
// to reuse: it gets, for each enclosing inlined body, the number of locations left in it.
func (k *checker) info(f fields, open []uint32) []uint32 {
	pos := f.Pos
	i := f.Info()
	overlong := !f.Compact
	k.overlong(&f, pos, wire.VarintLen(i.HeadCount)+wire.VarintLen(i.Timestamp)+wire.VarintLen(i.NumLocations), &overlong)
	k.tally.function(i.HeadCount, i.Timestamp)
	var l wire.Location
	for left := i.NumLocations; !k.stopped && f.Err == nil; {
		if left == 0 {
			if len(open) == 0 {
				break
			}
			left, open = open[len(open)-1], open[:len(open)-1]
			continue
		}
		left--
		pos := f.Pos
		if f.Location(&l); f.Err != nil {
			break
		}
		k.tally.found = k.tally.found || l.Known()
		k.location(&f, pos, &l, &overlong)
		if l.Type == wire.InlinedFn {
			open = append(open, left)
			left = l.NumLocations
		}
	}
	if !k.end(&f) {
		k.incomplete = true
	}
	return open
}

// location checks the record of a location, which begins at pos, and the call targets after it.
// Only the first overlong varint of a section is reported. If *overlong is not set, location looks
// for one, reports it and sets *overlong.
func (k *checker) location(f *fields, pos int, l *wire.Location, overlong *bool) {
	switch l.Type {
	case wire.Zero, wire.Normal, wire.Wide:
		k.tally.count(l.Count)
	case wire.InlinedFn:
		k.defined(f.sec, pos, l.Callee)
	}
	if !*overlong && l.Known() {
		k.overlong(f, pos, leastLocation(l), overlong)
	}
	for range l.NumTargets {
		pos := f.Pos
		callee, count := f.Target()
		if f.Err != nil || k.stopped {
			return
		}
		k.defined(f.sec, pos, callee)
		if !*overlong {
			k.overlong(f, pos, wire.VarintLen(callee)+wire.VarintLen(count), overlong)
		}
	}
}

// leastLocation returns the smallest number of bytes that can encode the record of a location in a
// compact section, without its call targets. A record that is longer contains an overlong varint.
func leastLocation(l *wire.Location) int {
	least := 1 + wire.VarintLen(l.Line)
	if l.Flagged {
		least += wire.VarintLen(l.Discriminator)
	}
	switch l.Type {
	case wire.Normal, wire.Wide:
		least += wire.VarintLen(l.Count)
	case wire.CalledFns:
		least += wire.VarintLen(l.NumTargets)
	case wire.InlinedFn:
		least += wire.VarintLen(l.Callee) + wire.VarintLen(l.NumLocations)
	}
	return least
}

// defined checks that the file has a symbol with an ID to which the record at pos refers.
func (k *checker) defined(s afdo.Section, pos int, id uint32) {
	if !k.ids.has(id) && !k.ids.mayHave(id) {
		k.fault(faultAt(s, pos, afdo.ErrSymbol, "the file has no symbol with ID %d", id))
	}
}
