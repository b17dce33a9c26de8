package encode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// errNotCanonical is the error for records that did not come from a [profile.Body].
var errNotCanonical = errors.New("its records are not canonical")

// A nest holds the memory that is needed to encode the records of a function: a stack of the
// inlined bodies that are open, so that no recursion is needed, and lists that are reused.
type nest struct {
	spans     stack.Stack[span]
	inlinings []inlining
	targets   []target
}

// A span is a range of records of one body, including the bodies inlined in it, that the encoder
// has not encoded yet. The stack of open bodies consists of spans.
type span struct{ next, end int }

// An inlining is an inlined function at a place where several functions are inlined, with the range
// of its records.
type inlining struct {
	callee uint32 // symbol ID of the callee
	span
}

// A target is a call target: a called function and its number of calls.
type target struct {
	callee uint32 // symbol ID of the callee
	count  uint64
}

// records encodes the number of locations of a function and the locations (RFC 4.7, 4.8), in one
// pass.
func (e *encoder) records(records []profile.Record) error {
	here := span{0, len(records)}
	n, err := numLocations(records)
	if err != nil {
		return err
	}
	e.section.Uint32(n)
	for {
		for here.next == here.end {
			if e.nest.spans.Empty() {
				return nil
			}
			here = e.nest.spans.Pop()
		}
		r := &records[here.next]
		switch r.Kind {
		case profile.KindCount:
			e.location(r, wire.Location{Type: wire.CountType(r.Count), Count: r.Count})
			here.next++
		case profile.KindCall:
			n := callsAt(records[here.next:here.end])
			e.calls(records[here.next : here.next+n])
			here.next += n
		case profile.KindInlined:
			nested := span{here.next + 1, here.next + 1 + int(r.Count)}
			if nested.end < here.end && samePlace(r, &records[nested.end]) {
				e.spreadInlinings(records, here)
				here.next = here.end
				continue
			}
			n, err := numLocations(records[nested.next:nested.end])
			if err != nil {
				return err
			}
			e.location(r, wire.Location{Type: wire.InlinedFn, Callee: e.ids[r.Callee], NumLocations: n})
			if nested.end < here.end {
				e.nest.spans.Push(span{nested.end, here.end})
			}
			here = nested
		}
	}
}

// numLocations counts the locations that the records of one body form, and checks these records. It
// skips the bodies that are inlined in the body. The encoder calls numLocations once for each body,
// so every record is visited once in total.
func numLocations(records []profile.Record) (uint32, error) {
	n := uint64(0)
	for i := 0; i < len(records); n++ {
		r := &records[i]
		if err := checkPlace(r); err != nil {
			return 0, err
		}
		switch r.Kind {
		case profile.KindCount:
			i++
		case profile.KindCall:
			calls := callsAt(records[i:])
			if err := checkNumber("call targets", uint64(calls)); err != nil {
				return 0, err
			}
			i += calls
		case profile.KindInlined:
			if r.Count > uint64(len(records)-i-1) {
				return 0, fmt.Errorf("%w: line offset %d: an inlined body extends beyond its parent", errNotCanonical, r.Line)
			}
			i += 1 + int(r.Count)
		default:
			return 0, fmt.Errorf("%w: line offset %d: kind %d", errNotCanonical, r.Line, r.Kind)
		}
	}
	if err := checkNumber("locations", n); err != nil {
		return 0, err
	}
	return uint32(n), nil
}

// checkPlace returns an error for a line offset or discriminator that does not fit its field
// (format note 17).
func checkPlace(r *profile.Record) error {
	if r.Line > wire.MaxLine {
		return fmt.Errorf("%w: line offset %d does not fit 24 bits", afdo.ErrUnrepresentable, r.Line)
	}
	if r.Discriminator > wire.MaxDiscriminator {
		return fmt.Errorf("%w: line offset %d: discriminator %d does not fit 16 bits", afdo.ErrUnrepresentable, r.Line, r.Discriminator)
	}
	return nil
}

// checkNumber returns an error if a number of things, such as locations, has more than 32 bits.
// what names the things in the error.
func checkNumber(what string, n uint64) error {
	if n > math.MaxUint32 {
		return fmt.Errorf("%w: %d %s in one place do not fit 32 bits", afdo.ErrUnrepresentable, n, what)
	}
	return nil
}

func samePlace(a, b *profile.Record) bool {
	return a.Kind == b.Kind && a.Line == b.Line && a.Discriminator == b.Discriminator
}

// callsAt returns how many records at the beginning of records are calls with the same line offset
// and discriminator as the first record, which must be a call.
func callsAt(records []profile.Record) int {
	n := 1
	for n < len(records) && samePlace(&records[0], &records[n]) {
		n++
	}
	return n
}

// location encodes location l with the line offset and the discriminator of a record.
func (e *encoder) location(r *profile.Record, l wire.Location) {
	l.Line, l.Discriminator = r.Line, r.Discriminator
	e.section.Location(&l)
}

// calls encodes a location with several call targets, by ascending symbol ID. All records have the
// same line offset and discriminator.
func (e *encoder) calls(calls []profile.Record) {
	if len(calls) == 1 {
		e.location(&calls[0], wire.Location{Type: wire.CalledFn})
		e.section.Target(e.ids[calls[0].Callee], calls[0].Count)
		return
	}
	e.nest.targets = e.nest.targets[:0]
	for i := range calls {
		e.nest.targets = append(e.nest.targets, target{e.ids[calls[i].Callee], calls[i].Count})
	}
	slices.SortFunc(e.nest.targets, func(a, b target) int { return cmp.Compare(a.callee, b.callee) })
	e.location(&calls[0], wire.Location{Type: wire.CalledFns, NumTargets: uint32(len(calls))})
	for _, t := range e.nest.targets {
		e.section.Target(t.callee, t.count)
	}
}

// spreadInlinings reads the inlined bodies at one place, where the profile may have several inlined
// functions. Their records are ordered by SymbolRef, but the file needs them ordered by symbol ID.
// So spreadInlinings pushes each body onto the stack of spans in descending order of IDs, and the
// lowest ID is encoded first. Below these spans it pushes a span for the records after the place.
// siblings is the range of records that begins with the first of the bodies.
func (e *encoder) spreadInlinings(records []profile.Record, siblings span) {
	first := &records[siblings.next]
	e.nest.inlinings = e.nest.inlinings[:0]
	for siblings.next < siblings.end {
		r := &records[siblings.next]
		if !samePlace(first, r) {
			break
		}
		end := siblings.next + 1 + int(r.Count)
		e.nest.inlinings = append(e.nest.inlinings, inlining{e.ids[r.Callee], span{siblings.next, end}})
		siblings.next = end
	}
	slices.SortFunc(e.nest.inlinings, func(a, b inlining) int { return cmp.Compare(b.callee, a.callee) })
	e.nest.spans.Push(siblings)
	for _, in := range e.nest.inlinings {
		e.nest.spans.Push(in.span)
	}
}
