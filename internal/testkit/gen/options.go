package gen

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// Options configure [Random]. With the zero Options it generates small files as a careful writer
// would lay them out: normal mode, sections and tables in order, symbol IDs from 0 without gaps,
// minimal tries, ASCII names, each location once. The switches add other legal shapes, which
// readers must accept. Each shape is used occasionally, not always.
type Options struct {
	// Maximum sizes. The actual sizes are random for each file. 0 means the default in parentheses.
	Units   int // units in addition to the one of unknown files (4)
	Symbols int // symbols per unit (6)
	Records int // location records per body (8); nested bodies have fewer
	Depth   int // levels of inlined bodies (4)
	Targets int // targets per call record (4)
	Entries int // entries of the summary (16)

	Compact bool // compact header and sections

	// Odd adds all of these shapes:
	//   - header and each section compact or not at random, overriding Compact; reserved bits of
	//     the header (note 6); sections and section table in random order (note 1); sections of
	//     types 0 and 6 to 127 (note 6)
	//   - the unit of unknown files in any position; ranges of IDs in any order; symbol IDs that
	//     start at 1, anywhere, or end at the last ID (note 9); unused IDs between and in units;
	//     empty ranges anywhere; paths that are suffixes of another unit's path
	//   - rows of symbol names and string indexes in any order (note 10); strings without a
	//     symbol, sometimes hundreds; non-terminals with one child, empty labels, shared first
	//     bytes, any order (note 11); symbols with an empty name (a root terminal)
	//   - records in any order instead of that of note 15; explicit discriminator 0, types larger
	//     than the count needs, CALLED_FNS with 0 or 1 targets, duplicate callees; symbol infos
	//     without any data (note 12)
	Odd bool

	OverLong bool // overlong varints in compact parts (format note 5)
	Gaps     bool // unused bytes before, between and after sections
	Trailing bool // unused bytes in sections after their data (note 7)

	NoUnknownUnit bool // no unit of unknown files (note 8); otherwise there always is one
	DeadEnds      bool // with Odd, also leaves that are not terminals; no note covers this; not in All

	RawNames  bool // names and paths with quotes, braces, control bytes and invalid UTF-8
	NULNames  bool // symbol names with NUL, which versions 2 and 3 cannot store
	LongNames bool // symbol names longer than 65535 bytes, one in some hundreds

	Duplicates       bool // several records of the same kind (and callee) at a location (note 13)
	WideLines        bool // line offsets above 65535
	UnknownLocations bool // records of types 0 and 7 to 127 (note 16)
	Deep             bool // some bodies nested 50 to 100 deep
	Dangling         bool // callees that do not exist; no note covers this; not in All
	TrueSummary      bool // the summary that note 19 computes from the records, instead of random numbers
}

// All returns options with all legal shapes enabled.
func All() Options {
	return Options{
		Odd: true, OverLong: true, Gaps: true, Trailing: true, NoUnknownUnit: true,
		RawNames: true, NULNames: true, LongNames: true,
		Duplicates: true, WideLines: true, UnknownLocations: true, Deep: true,
	}
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		size  *int
		value int
	}{{&o.Units, 4}, {&o.Symbols, 6}, {&o.Records, 8}, {&o.Depth, 4}, {&o.Targets, 4}, {&o.Entries, 16}} {
		if *d.size == 0 {
			*d.size = d.value
		}
	}
	return o
}

// Random generates a legal file. It also returns truth, the expected result of decoding, which it
// derives from the generated data without reading the file. The same state of r gives the same
// file.
//
// Unless o.Dangling is set, callees are symbols of the file. Paths and IDs are unique, and so are
// the names in a unit unless o.SameNames is set.
func Random(r *rand.Rand, o Options) (data []byte, truth *naive.File) {
	g := &generator{r: r, o: o.withDefaults(), seen: map[string]int{}}
	return g.file()
}

// A generator generates one random file for [Random].
type generator struct {
	r     *rand.Rand
	o     Options
	seen  map[string]int // number of occurrences of each shape that a decoded file does not show
	names []string       // all symbol names so far
	ids   []uint32       // all symbol IDs
}

// A unit is a source file of the generated profile, before it is encoded.
type unit struct {
	truth   naive.Unit
	symbols []symbol // in the order of the rows
}

// A symbol is a function of a unit, before it is encoded.
type symbol struct {
	truth   naive.Symbol
	records []record
}

// A piece is a section of the generated file before its data are encoded. The function placed is
// called with the index of the section in the file, once this is known. The function encode writes
// the data, which may contain the indexes of other sections.
type piece struct {
	typ    uint8
	placed func(index int) // called with the section index
	encode func(e *Enc)
}

func (g *generator) chance(oneIn int) bool { return g.r.IntN(oneIn) == 0 }
func (g *generator) saw(shape string)      { g.seen[shape]++ }

func (g *generator) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.r.Uint32())
	}
	return b
}

func (g *generator) file() ([]byte, *naive.File) {
	units := g.units()
	g.number(units)
	for _, u := range units {
		for i := range u.symbols {
			g.info(&u.symbols[i])
		}
		if g.o.Odd {
			g.r.Shuffle(len(u.symbols), func(i, j int) { u.symbols[i], u.symbols[j] = u.symbols[j], u.symbols[i] })
		}
		g.strings(u)
	}

	truth := &naive.File{Version: 4}
	layout := &Layout{}
	pieces := g.place(truth, layout, units)
	truth.Summary = g.summary(truth)

	trailing := g.encode(layout, pieces)
	data, placed := layout.Assemble()
	for i := range placed {
		placed[i].Trailing = trailing[i]
	}
	truth.Compact = layout.Compact
	truth.Sections = placed
	return data, truth
}

// units generates the units of a file and their symbols, with the paths and names.
func (g *generator) units() []*unit {
	var units []*unit
	for range g.r.IntN(g.o.Units + 1) {
		u := &unit{}
		u.truth.Path = g.path(units)
		units = append(units, u)
	}
	if !g.o.NoUnknownUnit || !g.chance(4) {
		units = append(units, &unit{})
		if g.o.Odd {
			g.r.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
		}
	}
	for _, u := range units {
		n := g.r.IntN(g.o.Symbols + 1)
		if g.chance(8) {
			n = 0
		}
		taken := map[string]bool{}
		for range n {
			var s symbol
			s.truth.Name = g.name(taken)
			u.symbols = append(u.symbols, s)
		}
	}
	return units
}

// number chooses the ID of each symbol, and the range of IDs of each unit.
func (g *generator) number(units []*unit) {
	order := slices.Clone(units)
	if g.o.Odd {
		g.r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	next := uint32(0)
	gap := func() {
		if !g.o.Odd {
			return
		}
		switch n := g.r.IntN(12); {
		case n == 0 && next < 1<<30:
			next += uint32(g.r.IntN(1 << 24))
		case n < 4:
			next += uint32(g.r.IntN(5))
		}
	}
	for _, u := range order {
		gap()
		u.truth.Start = next
		for i := range u.symbols {
			gap()
			u.symbols[i].truth.ID = next
			next++
		}
		gap()
		u.truth.End = next
	}

	base := uint32(0)
	if most := math.MaxUint32 - next; g.o.Odd {
		base = [...]uint32{0, 1, most, g.r.Uint32() % most}[g.r.IntN(4)]
	}
	for _, u := range units {
		u.truth.Start += base
		u.truth.End += base
		for i := range u.symbols {
			u.symbols[i].truth.ID += base
			g.ids = append(g.ids, u.symbols[i].truth.ID)
		}
		if g.o.Odd && len(u.symbols) == 0 && g.chance(2) {
			g.saw("empty range anywhere")
			u.truth.Start = [...]uint32{0, math.MaxUint32, base + uint32(g.r.IntN(int(next)+1))}[g.r.IntN(3)]
			u.truth.End = u.truth.Start
		}
	}
}

// info generates the samples of a symbol, or none: not every symbol has a symbol info section.
func (g *generator) info(s *symbol) {
	s.truth.InfoSection = naive.NoInfo
	if g.chance(4) {
		return
	}
	s.truth.HasInfo = true
	if g.o.Odd && g.chance(16) {
		return
	}
	s.truth.Head = g.magnitude()
	if g.chance(2) {
		s.truth.Timestamp = g.magnitude()
	}
	chain := 0
	if g.o.Deep && g.chance(100) {
		chain = 50 + g.r.IntN(51)
	}
	s.records = g.body(0, chain)
	if !g.o.Odd && s.truth.Head == 0 && s.truth.Timestamp == 0 && len(s.records) == 0 {
		s.truth.Head = 1
	}
	s.truth.NumLocations = uint32(len(s.records))
	s.truth.Locations = says(s.records, &s.truth.Skipped)
}

// strings generates the string table of a unit and the string indexes of its symbols.
func (g *generator) strings(u *unit) {
	index := map[string]uint32{}
	for i := range u.symbols {
		index[u.symbols[i].truth.Name] = 0
	}
	if g.o.Odd && g.chance(3) {
		for range 1 + g.r.IntN(4) {
			index[g.anyName()] = 0
		}
		if g.chance(20) {
			for i := range 200 {
				index[string([]byte{byte(i + 1)})] = 0
			}
		}
	}
	names := slices.Sorted(maps.Keys(index))
	if g.o.Odd {
		g.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	for i, name := range names {
		index[name] = uint32(i)
	}
	for i := range u.symbols {
		s := &u.symbols[i].truth
		s.StringIndex = index[s.Name]
	}
	if len(names) > 0 {
		u.truth.Strings = names
	}
}

// place decides in which order the file has its sections, and returns the sections in this order.
// It also adds the units to truth, the expected result of decoding the file.
func (g *generator) place(truth *naive.File, layout *Layout, units []*unit) []piece {
	pieces := g.arrange(g.pieces(truth, layout, units))
	for _, u := range units {
		for i := range u.symbols {
			u.truth.Symbols = append(u.truth.Symbols, u.symbols[i].truth)
		}
		truth.Units = append(truth.Units, u.truth)
	}
	return pieces
}

// pieces returns all sections of the file in the order in which a careful writer has them: summary,
// file names, and the sections of one unit after the other.
func (g *generator) pieces(truth *naive.File, layout *Layout, units []*unit) []piece {
	pieces := []piece{{
		typ:    naive.SummaryInfo,
		placed: func(index int) { layout.Summary = index },
		encode: func(e *Enc) { encodeSummary(e, &truth.Summary) },
	}, {
		typ:    naive.FileNames,
		placed: func(index int) { layout.FileNames = index },
		encode: func(e *Enc) {
			e.U32(uint32(len(truth.Units)))
			for i := range truth.Units {
				encodeFileName(e, &truth.Units[i])
			}
		},
	}}
	for _, u := range units {
		pieces = append(pieces, g.unitPieces(u)...)
	}
	return pieces
}

func (g *generator) unitPieces(u *unit) []piece {
	pieces := []piece{{
		typ:    naive.StringTable,
		placed: func(index int) { u.truth.StringTableSection = uint32(index) },
		encode: func(e *Enc) { g.encodeStrings(e, u.truth.Strings) },
	}, {
		typ:    naive.SymbolNames,
		placed: func(index int) { u.truth.SymbolNamesSection = uint32(index) },
		encode: func(e *Enc) {
			e.U32(uint32(len(u.symbols)))
			for i := range u.symbols {
				encodeRow(e, &u.symbols[i].truth)
			}
		},
	}}
	for i := range u.symbols {
		s := &u.symbols[i]
		if !s.truth.HasInfo {
			continue
		}
		pieces = append(pieces, piece{
			typ:    naive.SymbolInfo,
			placed: func(index int) { s.truth.InfoSection = uint32(index) },
			encode: func(e *Enc) {
				e.U64(s.truth.Head)
				e.U64(s.truth.Timestamp)
				encodeRecords(e, s.records)
			},
		})
	}
	return pieces
}

func (g *generator) encodeStrings(e *Enc, names []string) {
	if !g.o.Odd || g.chance(4) {
		encodeStringTable(e, names)
		return
	}
	e.U32(uint32(len(names)))
	var ends []end
	for i, name := range names {
		ends = append(ends, end{name, uint32(i)})
	}
	(&trie{e: e, shape: g.oddShape}).node(ends)
}

// arrange decides the order of the sections. With the option Odd it adds sections of unknown types
// and usually shuffles all sections. It then tells each piece its index in the file.
func (g *generator) arrange(pieces []piece) []piece {
	if g.o.Odd {
		for range g.r.IntN(4) {
			typ := uint8(g.r.IntN(123)) // 0 and 6 to 127
			if typ > 0 {
				typ += naive.SymbolInfo
			}
			data := g.bytes(g.r.IntN(30))
			p := piece{typ, func(int) {}, func(e *Enc) { e.Bytes(data) }}
			pieces = slices.Insert(pieces, g.r.IntN(len(pieces)+1), p)
		}
	}
	if g.o.Odd && !g.chance(4) {
		g.r.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	}
	for i, p := range pieces {
		p.placed(i)
	}
	return pieces
}

// encode encodes the sections and adds them to the layout, with random gaps, modes and lengths of
// varints if the options allow these. It returns, for each section, the number of random bytes
// after its data, which readers must ignore.
func (g *generator) encode(l *Layout, pieces []piece) (trailing []int64) {
	compact := func() bool {
		if g.o.Odd {
			return g.chance(2)
		}
		return g.o.Compact
	}
	gap := func() []byte {
		if g.o.Gaps && g.chance(5) {
			g.saw("gap")
			return g.bytes(1 + g.r.IntN(9))
		}
		return nil
	}
	var stretching func() int
	if g.o.OverLong && g.chance(2) {
		stretching = func() int { return stretch(g.r) }
	}

	l.Compact, l.Stretch = compact(), stretching
	if g.o.Odd && g.chance(3) {
		l.Reserved = uint8(g.r.IntN(128))
	}
	for i, p := range pieces {
		e := &Enc{Compact: compact(), Stretch: stretching}
		if p.encode(e); e.Compact && stretching != nil {
			g.saw("over-long varints")
		}
		trailing = append(trailing, 0)
		if known := p.typ > 0 && p.typ <= naive.SymbolInfo; known && g.o.Trailing && g.chance(5) {
			trailing[i] = int64(1 + g.r.IntN(5))
			e.Bytes(g.bytes(int(trailing[i])))
		}
		l.Add(Section{Gap: gap(), Type: p.typ, Compact: e.Compact, Data: e.Buf})
		if i != l.Summary && i != l.FileNames {
			l.Table = append(l.Table, i)
		}
	}
	l.Tail = gap()
	if g.o.Odd && g.chance(2) {
		g.r.Shuffle(len(l.Table), func(i, j int) { l.Table[i], l.Table[j] = l.Table[j], l.Table[i] })
		if !slices.IsSorted(l.Table) {
			g.saw("table out of order")
		}
	}
	return trailing
}

// summary generates the summary of the file f. It is random and does not fit the counts of the
// file, unless the option TrueSummary is set or the file has no functions.
func (g *generator) summary(f *naive.File) naive.Summary {
	if p, err := f.Canonical(); g.o.TrueSummary || err == nil && len(p.Functions) == 0 {
		return f.Summarize() // a file without functions may not count samples
	}
	s := naive.Summary{
		TotalCount: g.magnitude(), MaxCount: g.magnitude(), MaxFnCount: g.magnitude(),
		NumCounts: g.magnitude(), NumFunctions: g.magnitude(),
	}
	for range g.r.IntN(g.o.Entries + 1) {
		s.Entries = append(s.Entries, naive.Entry{Cutoff: g.r.Uint32(), MinCount: g.magnitude(), NumCounts: g.magnitude()})
	}
	return s
}
