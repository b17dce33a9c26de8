package slice

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// addCallers adds functions of other units to a slice: those into which the profiled program has
// inlined a function that the compile may define. Here they are named callers. Of the samples of a
// caller, addCallers adds only the bodies of these inlined calls. If condense is true, it reduces
// the callers further, see [selection.condenseCallers].
func (s *selection) addCallers(condense bool) error {
	own := make([]program.ID, len(s.symbols))
	for i, sym := range s.symbols {
		own[i] = sym.ID
	}
	err := s.Index.InlinedInto(own, func(caller program.Symbol) {
		if !s.own.Has(caller.ID) {
			s.callers = append(s.callers, caller)
		}
	})
	if err != nil {
		return err
	}
	for _, sym := range s.callers {
		f, err := s.read(sym)
		if err != nil {
			return err
		}
		f.Records = s.prune(f.Records)
		s.samples[sym.ID] = f
	}
	if condense {
		s.condenseCallers()
	}
	for _, sym := range s.callers {
		s.addName(sym)
	}
	return nil
}

// prune returns those records of a caller, a function of another unit, that a slice needs: the
// inlined bodies of functions that the compile may define, and the bodies that contain such a body.
// It leaves out all others.
func (s *selection) prune(records []profile.Record) []profile.Record {
	var kept []profile.Record
	var way []openBody
	for at := 0; ; {
		for len(way) > 0 && at == way[len(way)-1].end {
			head := way[len(way)-1].head
			way = way[:len(way)-1]
			if inside := len(kept) - head - 1; inside > 0 {
				kept[head].Count = uint64(inside)
			} else {
				kept = kept[:head]
			}
		}
		if at == len(records) {
			return kept
		}
		r := records[at]
		if r.Kind != profile.KindInlined {
			at++
			continue
		}
		end := at + 1 + int(r.Count)
		if s.own.Has(program.ID(r.Callee)) {
			kept = append(kept, records[at:end]...)
			at = end
			continue
		}
		way = append(way, openBody{head: len(kept), end: end})
		kept = append(kept, r)
		at++
	}
}

// An openBody is an inlined body whose records [selection.prune] is reading, and that it may have
// to remove.
type openBody struct {
	head int // index of its first record among the records that are kept
	end  int // index of its end among all records
}

// condenseCallers makes the callers in a slice smaller. A caller is a function of another unit into
// which a function was inlined that the compile may define. GCC 16 uses only a little of the
// callers: it visits them one after the other, in the order of locations. It takes out of each
// caller the inlined bodies of functions that the compile defines. It makes each body a function of
// its own, or adds it to an existing function, and drops the rest of the caller. condenseCallers
// uses this in two ways:
//
//   - The location of a body in its caller only determines the order of the bodies, as the caller's
//     head count does. So condenseCallers gives the bodies of a caller the locations 1, 2, and so
//     on. It does not change the locations if several callers are clones of one function, such as f
//     and f.constprop.0, because GCC first merges clones by their locations.
//   - Bodies of one function are added up, in the place of the first of them, if they contain the
//     same functions inlined at the same places. GCC would add them up later. They are not added up
//     if the bodies in them contain further inlined bodies, or if GCC may look for a function in
//     them under another name, because the result then depends on the order in which GCC visits the
//     bodies.
//
// A body has the timestamp of its caller, and a sum of several bodies has the earliest of their
// timestamps. So the body with the earliest timestamp is not added to another. GCC counts bodies
// with a total of 0, so these bodies are not added to others either.
func (s *selection) condenseCallers() {
	slices.SortFunc(s.callers, s.compareCallers)
	clones := make(map[string]int)
	for _, sym := range s.callers {
		clones[symname.Canonical(sym.Name)]++
	}
	var bodies []inlinedBody
	var kept []program.Symbol
	for _, sym := range s.callers {
		found := s.bodiesIn(sym)
		if clones[symname.Canonical(sym.Name)] > 1 || len(found) > maxBodies {
			f := s.samples[sym.ID]
			f.HeadCount = 0
			s.samples[sym.ID] = f
			kept = append(kept, sym)
			continue
		}
		bodies = append(bodies, found...)
	}
	s.callers = append(kept, s.placeBodies(bodies)...)
}

// maxBodies is the largest number of inlined bodies in a function to which condenseCallers can give
// locations: line numbers have 16 bits.
const maxBodies = 1<<16 - 1

// An inlinedBody is the body of a function that the compile may define, inlined into a function of
// another unit.
type inlinedBody struct {
	caller    program.Symbol
	timestamp uint64
	records   []profile.Record // the record of the inlined call, and the records of the body
}

// bodiesIn finds, in the samples of a caller, the inlined bodies of functions that the compile may
// define. A caller is a function of another unit. bodiesIn returns the bodies in the order in which
// GCC visits them: by location and name at each depth of inlining.
func (s *selection) bodiesIn(caller program.Symbol) (bodies []inlinedBody) {
	f := s.samples[caller.ID]
	left := s.siblings(nil, f.Records, 0, len(f.Records)) // indexes of records; the next one is last
	for len(left) > 0 {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		r := f.Records[at]
		end := at + 1 + int(r.Count)
		if s.own.Has(program.ID(r.Callee)) {
			bodies = append(bodies, inlinedBody{caller, f.Timestamp, f.Records[at:end]})
		} else {
			left = s.siblings(left, f.Records, at+1, end)
		}
	}
	return bodies
}

// siblings appends to a list the indexes of those inlined bodies in records[from:end] that are not
// within another inlined body. The order of the indexes is the reverse of the order in which GCC
// visits the bodies. The records must consist of inlined bodies.
func (s *selection) siblings(to []int, records []profile.Record, from, end int) []int {
	first := len(to)
	for from < end {
		to = append(to, from)
		from += 1 + int(records[from].Count)
	}
	slices.SortStableFunc(to[first:], func(a, b int) int { return s.compareCallsites(records[a], records[b]) })
	slices.Reverse(to[first:])
	return to
}

// compareCallsites orders records as GCC does: by location, and then by the name of the callee. In
// the profile, records of one location are ordered by the number of the callee's symbol.
func (s *selection) compareCallsites(a, b profile.Record) int {
	c := cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Discriminator, b.Discriminator))
	if c != 0 || a.Callee == b.Callee {
		return c
	}
	return s.compareSymbols(s.calleeOrNone(a), s.calleeOrNone(b))
}

// calleeOrNone returns the symbol of a record's callee. If the profile does not have it, it returns
// the zero Symbol, and [selection.addNames] returns the error later.
func (s *selection) calleeOrNone(r profile.Record) program.Symbol {
	sym, _ := s.callee(program.ID(r.Callee))
	return sym
}

// compareCallers orders functions as GCC visits them: by file, with unknown files last, and then by
// name.
func (s *selection) compareCallers(a, b program.Symbol) int {
	if a.Unit == b.Unit {
		return strings.Compare(a.Name, b.Name)
	}
	x, y := s.Store.Path(a.Unit), s.Store.Path(b.Unit)
	if x == "" || y == "" {
		return strings.Compare(y, x)
	}
	return cmp.Or(strings.Compare(x, y), strings.Compare(a.Name, b.Name))
}

// compareSymbols compares two symbols for sorting: by name, and then by the path of their units.
func (s *selection) compareSymbols(a, b program.Symbol) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(s.Store.Path(a.Unit), s.Store.Path(b.Unit)))
}

// placeBodies replaces the samples of each caller, a function of another unit, by the inlined
// bodies that a slice needs. It adds up bodies with equal keys, see [selection.shapeOf]. It returns
// the callers that still have a body.
func (s *selection) placeBodies(bodies []inlinedBody) (callers []program.Symbol) {
	parts := make([][]int, len(bodies))
	for i, place := range s.mergeTargets(bodies) {
		parts[place] = append(parts[place], i)
	}
	var sum profile.Body
	for i := 0; i < len(bodies); {
		caller := bodies[i].caller
		sum.Reset()
		line := uint32(0)
		f := profile.Function{Timestamp: bodies[i].timestamp}
		for ; i < len(bodies) && bodies[i].caller.ID == caller.ID; i++ {
			if len(parts[i]) > 0 {
				line++
			}
			for _, part := range parts[i] {
				addBodyAt(&sum, line, bodies[part].records)
			}
		}
		if f.Records = slices.Clone(sum.Records()); len(f.Records) == 0 {
			delete(s.samples, caller.ID)
			continue
		}
		s.samples[caller.ID] = f
		callers = append(callers, caller)
	}
	return callers
}

// mergeTargets returns, for each inlined body, the index of the body to which its counts are added:
// the first body with an equal key, see [selection.shapeOf]. A body with a key of its own keeps its
// counts. The body with the earliest timestamp among those with equal keys keeps its counts, too.
func (s *selection) mergeTargets(bodies []inlinedBody) []int {
	type group struct{ first, earliest int }
	groups := make(map[string]group)
	shapes := make([]string, len(bodies))
	for i, b := range bodies {
		shapes[i] = s.shapeOf(b.records)
		g, ok := groups[shapes[i]]
		if !ok {
			g = group{i, i}
		}
		if earliest := bodies[g.earliest].timestamp; b.timestamp != 0 && (b.timestamp < earliest || earliest == 0) {
			g.earliest = i
		}
		groups[shapes[i]] = g
	}
	places := make([]int, len(bodies))
	for i, shape := range shapes {
		g := groups[shape]
		if places[i] = g.first; shape == "" || i == g.earliest {
			places[i] = i
		}
	}
	return places
}

// addBodyAt adds an inlined body to the samples of a caller, at the given line of the caller.
func addBodyAt(to *profile.Body, line uint32, records []profile.Record) {
	to.Enter(line, 0, records[0].Callee)
	quantize.Records(to, records[1:], func(callee profile.SymbolRef) profile.SymbolRef { return callee }, 0)
	to.Leave()
}

// maxTotal limits the samples of a body whose counts are added to others, so that sums do not
// overflow.
const maxTotal = 1 << 40

// shapeOf returns a key for the inlined body that records contain. Bodies with the same key can be
// added up: the key contains the inlined function, and the functions inlined in it with their
// locations. The key is empty for a body that must not be added to others.
func (s *selection) shapeOf(records []profile.Record) string {
	shape := binary.LittleEndian.AppendUint32(nil, uint32(records[0].Callee))
	var outer []profile.Record
	for from := 1; from < len(records); {
		r := &records[from]
		if r.Kind != profile.KindCount && s.mayBeRenamed(*r) {
			return ""
		}
		if r.Kind != profile.KindInlined {
			outer = append(outer, *r)
			from++
			continue
		}
		inner := records[from+1 : from+1+int(r.Count)]
		if !hasTotal(inner) || slices.ContainsFunc(inner, func(r profile.Record) bool {
			return r.Kind == profile.KindInlined || r.Kind != profile.KindCount && s.mayBeRenamed(r)
		}) {
			return ""
		}
		for _, word := range []uint32{r.Line, r.Discriminator, uint32(r.Callee)} {
			shape = binary.LittleEndian.AppendUint32(shape, word)
		}
		from += 1 + len(inner)
	}
	if !hasTotal(outer) || !hasTotal(records[1:]) { // GCC may take out all that is inlined
		return ""
	}
	return string(shape)
}

// mayBeRenamed reports whether GCC may look for the callee of a record under another name than the
// one in the profile. That is the name without the suffix of a clone, or the assembler name of a
// function that the compile defines.
func (s *selection) mayBeRenamed(r profile.Record) bool {
	name := s.calleeOrNone(r).Name
	return symname.Canonical(name) != name || !cxx.IsMangled(name) && s.own.Has(program.ID(r.Callee))
}

// hasTotal reports whether the sum of the counts in records is above 0 and below maxTotal.
func hasTotal(records []profile.Record) bool {
	total := uint64(0)
	for i := range records {
		if r := &records[i]; r.Kind == profile.KindCount {
			total = saturating.Add(total, r.Count)
		}
	}
	return 0 < total && total < maxTotal
}
