package gen

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// A record is a location record to be written.
type record struct {
	loc     naive.Location // without Locations
	hasDisc bool
	unknown []byte   // trailing bytes of a record of unknown type
	body    []record // body of an inlined function
}

func (x *record) isUnknown() bool { return x.loc.Type == 0 || x.loc.Type > naive.InlinedFn }

// kind returns a number for the kind of a record: records of one location come in the order of
// these numbers in a file (format note 15).
func (x *record) kind() int {
	switch x.loc.Type {
	case naive.Zero, naive.Normal, naive.Wide:
		return 0
	case naive.CalledFn, naive.CalledFns:
		return 1
	}
	return 2
}

// A site is what identifies a record in the body of a function: its location, its kind and its
// callee. Unless the generator makes duplicates, no two records of a body have the same site.
type site struct {
	line, disc uint32
	kind       int
	callee     uint32
}

func (x *record) site() site {
	return site{x.loc.Line, x.loc.Disc, x.kind(), x.loc.Callee}
}

// body generates the records of a function. If chain is not 0, the body contains a chain of that
// many nested inlined bodies.
func (g *generator) body(depth, chain int) []record {
	n := g.r.IntN(g.o.Records + 1)
	if depth > 0 {
		n /= 2
	}
	link := -1
	if chain > 0 && len(g.ids) > 0 {
		n = max(n, 1)
		link = g.r.IntN(n)
	}
	var records []record
	taken := map[site]bool{}
	for i := range n {
		var x record
		if i == link {
			x.loc = naive.Location{Type: naive.InlinedFn, Callee: g.callee()}
			x.body = g.body(depth+1, chain-1)
		} else {
			x = g.record(depth)
		}
		g.locate(&x, records, taken)
		records = append(records, x)
	}
	if !g.o.Odd {
		slices.SortStableFunc(records, func(a, b record) int {
			return cmp.Or(
				cmp.Compare(a.loc.Line, b.loc.Line),
				cmp.Compare(a.loc.Disc, b.loc.Disc),
				cmp.Compare(a.kind(), b.kind()),
				cmp.Compare(a.loc.Callee, b.loc.Callee))
		})
	}
	return records
}

// record generates a random record, still without line and discriminator. depth is the number of
// inlined bodies around it.
func (g *generator) record(depth int) record {
	if g.o.UnknownLocations && g.chance(8) {
		x := record{unknown: g.bytes(g.r.IntN(20))}
		x.loc.Type = uint8(g.r.IntN(122)) // 0 and 7 to 127
		if x.loc.Type > 0 {
			x.loc.Type += naive.InlinedFn
		}
		return x
	}
	if len(g.ids) > 0 || g.o.Dangling {
		switch g.r.IntN(6) {
		case 0:
			return record{loc: g.call()}
		case 1:
			if depth < g.o.Depth {
				loc := naive.Location{Type: naive.InlinedFn, Callee: g.callee()}
				return record{loc: loc, body: g.body(depth+1, 0)}
			}
		}
	}
	return record{loc: g.count()}
}

func (g *generator) count() naive.Location {
	n := g.magnitude()
	if g.chance(3) {
		n = 0
	}
	l := Count(0, 0, n)
	if g.o.Odd && g.chance(4) {
		l.Type = naive.Wide
		if n <= math.MaxUint32 && g.chance(2) {
			l.Type = naive.Normal
		}
	}
	return l
}

func (g *generator) call() naive.Location {
	n := 1
	if g.chance(2) {
		n = 1 + g.r.IntN(g.o.Targets)
	}
	if g.o.Odd && g.chance(30) {
		n = 200
	}
	l := naive.Location{Type: naive.CalledFns}
	if g.o.Odd && g.chance(4) {
		n = g.r.IntN(2)
	} else if n == 1 {
		l.Type = naive.CalledFn
	}
	taken := map[uint32]bool{}
	for range n {
		callee := g.callee()
		if !g.o.Odd && taken[callee] {
			continue
		}
		taken[callee] = true
		l.Targets = append(l.Targets, naive.Target{Callee: callee, Count: g.magnitude()})
	}
	if len(l.Targets) == 1 && !g.o.Odd {
		l.Type = naive.CalledFn
	}
	return l
}

func (g *generator) callee() uint32 {
	if len(g.ids) == 0 || g.o.Dangling && g.chance(8) {
		g.saw("dangling callee")
		return g.r.Uint32()
	}
	return g.ids[g.r.IntN(len(g.ids))]
}

// locate gives a new record a random line and discriminator. before are the records of the body so
// far, and taken are their sites. locate avoids these sites unless the generator makes duplicates.
func (g *generator) locate(x *record, before []record, taken map[site]bool) {
	if g.o.Duplicates && len(before) > 0 && g.chance(5) {
		other := before[g.r.IntN(len(before))]
		x.loc.Line, x.loc.Disc = other.loc.Line, other.loc.Disc
		if g.chance(2) && x.kind() == other.kind() && x.kind() == 2 && !x.isUnknown() && !other.isUnknown() {
			x.loc.Callee = other.loc.Callee
		}
		if taken[x.site()] {
			g.saw("duplicate record")
		}
		g.discriminate(x)
		return
	}
	for tries := 0; ; tries++ {
		lines := 30
		if g.chance(6) || tries > 20 {
			lines = 1 << 16
			if g.o.WideLines {
				lines = 1 << 24
			}
		}
		x.loc.Line = uint32(g.r.IntN(lines))
		if lines > 1<<16 && g.chance(4) {
			x.loc.Line = 1<<24 - 1
		}
		x.loc.Disc = 0
		switch g.r.IntN(6) {
		case 0, 1:
			x.loc.Disc = uint32(1 + g.r.IntN(5))
		case 2:
			x.loc.Disc = uint32(g.r.IntN(1 << 16))
		}
		if g.o.Duplicates || !taken[x.site()] {
			taken[x.site()] = true
			g.discriminate(x)
			return
		}
	}
}

// discriminate decides whether a record is written with a discriminator field. It is if the
// discriminator is not 0, and sometimes also if it is 0, which is legal but unusual.
func (g *generator) discriminate(x *record) {
	x.hasDisc = x.loc.Disc != 0
	if g.o.Odd && !x.hasDisc && g.chance(4) {
		g.saw("explicit discriminator 0")
		x.hasDisc = true
	}
}

// says converts generated records to the locations that the naive decoder should return for them.
// The decoder skips records of unknown types. So says leaves these out, and adds their number to
// skipped.
func says(records []record, skipped *int) []naive.Location {
	var ls []naive.Location
	for i := range records {
		x := &records[i]
		if x.isUnknown() {
			*skipped++
			continue
		}
		l := x.loc
		if l.Type == naive.InlinedFn {
			l.NumLocations = uint32(len(x.body))
			l.Locations = says(x.body, skipped)
		}
		ls = append(ls, l)
	}
	return ls
}

// encodeRecords writes the number of locations and the records (RFC 4.8).
func encodeRecords(e *Enc, records []record) {
	e.U32(uint32(len(records)))
	for i := range records {
		x := &records[i]
		encodeHead(e, x.loc.Type, x.loc.Line, x.loc.Disc, x.hasDisc)
		if x.isUnknown() {
			e.U32(uint32(len(x.unknown)))
			e.Bytes(x.unknown)
			continue
		}
		if encodeRest(e, &x.loc); x.loc.Type == naive.InlinedFn {
			encodeRecords(e, x.body)
		}
	}
}

// magnitude generates a random count. Sometimes it is a limit, such as the largest number of 32
// bits. Otherwise it has a random number of bits, so that small and large counts are equally
// likely.
func (g *generator) magnitude() uint64 {
	switch g.r.IntN(20) {
	case 0:
		return math.MaxUint64
	case 1:
		return math.MaxUint32
	case 2:
		return math.MaxUint32 + 1
	}
	return g.r.Uint64() >> g.r.IntN(65)
}
