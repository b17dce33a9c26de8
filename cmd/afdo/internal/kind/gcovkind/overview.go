package gcovkind

import (
	"errors"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// OverviewScheme identifies the encoding of an Overview in an index, see
// docs/reference/extensions.md. It changes whenever the contents of an overview do.
const OverviewScheme = "afdo overview 1"

// An Overview contains the figures of a whole file that the verbs show, units and top print. The
// index of the file stores them, so that these verbs need not fetch the whole file from a server.
type Overview struct {
	reader *afdo.Reader // reader of the file that contains the overview
	tally  *tally       // numbers of sections and records, without the index section
	units  []unitTotals // figures of each unit, in the order of the file

	// The hottest functions, in the order of "afdo top", in a profile that has no other symbols.
	// Their Ranking has the total of the whole file.
	Hottest *profile.Profile
	Ranking *rank.Ranking
	Sampled uint64 // number of functions with samples in the whole file
}

// unitTotals are the figures of one unit that the verb units prints: the numbers of its symbols,
// functions and samples.
type unitTotals struct{ symbols, functions, samples uint64 }

// maxHottest is how many functions an overview lists: twice as many as top prints by default.
const maxHottest = 50

// NewOverview computes the overview of a file and returns it in its encoding for an index. It reads
// the whole file.
func NewOverview(r *afdo.Reader) ([]byte, error) {
	m := overviewMaker{o: Overview{tally: new(tally)}, reader: r, walker: newWalker(r)}
	if err := m.sections(); err != nil {
		return nil, err
	}
	if err := m.symbols(); err != nil {
		return nil, err
	}
	if err := m.functions(); err != nil {
		return nil, err
	}
	m.o.tally.unknown = m.walker.unknown
	return m.encode(), nil
}

// An overviewMaker computes the [Overview] of a file.
type overviewMaker struct {
	o       Overview
	reader  *afdo.Reader
	walker  *walker
	profile *profile.Profile                    // all symbols, no functions
	ids     int                                 // number of symbol IDs
	dense   []profile.SymbolRef                 // by symbol ID, plus 1; 0 if there is no symbol
	sparse  map[afdo.SymbolID]profile.SymbolRef // the same for IDs that are too large for dense
	missing bool                                // a record refers to a symbol that does not exist
	ranking *rank.Tally
}

// idsPerByte limits the memory for a table by symbol ID, because the IDs of a file may have large
// gaps. The table has at most one entry for this many bytes of the file.
const idsPerByte = 4

// addID records that the symbol with the given ID in the file is s in the overview's profile.
func (m *overviewMaker) addID(id afdo.SymbolID, s profile.SymbolRef) {
	m.ids++
	if int64(id) >= m.reader.Size()/idsPerByte {
		m.sparse[id] = s + 1
		return
	}
	if n := int(id) + 1 - len(m.dense); n > 0 {
		m.dense = append(m.dense, make([]profile.SymbolRef, n)...)
	}
	m.dense[id] = s + 1
}

// ref returns the symbol with the given ID. If there is none, it returns any symbol and sets
// m.missing. The file then gets no list of the hottest functions, because the verb top fails for
// such a file.
func (m *overviewMaker) ref(id afdo.SymbolID) profile.SymbolRef {
	s := profile.SymbolRef(0)
	if int64(id) < int64(len(m.dense)) {
		s = m.dense[id]
	} else {
		s = m.sparse[id]
	}
	if s == 0 {
		m.missing = true
		return 0
	}
	return s - 1
}

// sections counts the sections of the file and their bytes. It does not count the index.
func (m *overviewMaker) sections() error {
	t := m.o.tally
	if err := t.addSections(m.reader); err != nil {
		return err
	}
	t.findExtensions(m.reader)
	x, err := index.Read(m.reader)
	if err != nil {
		return nil // there is none that can be used; a new one replaces it
	}
	info, err := x.Info()
	if err != nil {
		return err
	}
	s := &t.sections[afdo.SectionIndex]
	s.count, s.bytes = s.count-1, s.bytes-info.Section.Size
	if info.Section.Compact {
		s.compact--
	}
	return nil
}

// symbols adds all symbols of the file to the overview's profile. It comes before functions,
// because records of any unit may refer to any symbol.
func (m *overviewMaker) symbols() error {
	m.profile = profile.New()
	m.sparse = make(map[afdo.SymbolID]profile.SymbolRef)
	for u, err := range m.reader.Units() {
		if err != nil {
			return err
		}
		file := m.profile.AddUnit(u.Path())
		for s, err := range u.Symbols() {
			if err != nil {
				return err
			}
			m.addID(s.ID(), m.profile.AddSymbol(file, s.Name()))
		}
	}
	m.ranking = rank.NewTally(m.profile.NumSymbols())
	return nil
}

// functions adds up the counts of all functions of the file, by unit and by symbol.
func (m *overviewMaker) functions() error {
	for u, err := range m.reader.Units() {
		if err != nil {
			return err
		}
		var totals unitTotals
		err := m.walker.symbols(u, func(s afdo.Symbol, f *function) error {
			totals.symbols++
			m.o.tally.symbols++
			if f != nil {
				totals.functions++
				totals.samples = saturating.Add(totals.samples, m.function(s, f))
			}
			return nil
		})
		if err != nil {
			return err
		}
		m.o.units = append(m.o.units, totals)
	}
	return nil
}

// function adds the counts of the function f of symbol s to the overview, and returns their sum.
func (m *overviewMaker) function(s afdo.Symbol, f *function) (samples uint64) {
	m.o.tally.functions++
	m.ranking.Begin(m.ref(s.ID()))
	for f.Next() {
		l := f.Location()
		m.o.tally.addLocation(l, f.Depth())
		samples = saturating.Add(samples, l.Count)
		switch l.Type {
		case afdo.LocationZero, afdo.LocationNormal, afdo.LocationWide:
			m.ranking.Count(f.Depth(), l.Count)
		case afdo.LocationInlinedFn:
			m.ranking.Inlined(f.Depth(), m.ref(l.Callee))
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			for target := range f.Targets() {
				m.ref(target.Callee)
			}
		}
	}
	m.ranking.End(f.HeadCount)
	return samples
}

// Bits of a number in an encoded overview. They say which extensions of the format the file has.
const (
	hasSources  = 1
	hasEvidence = 2
)

// encode returns the overview in the encoding that an index stores.
func (m *overviewMaker) encode() []byte {
	e := wire.Encoder{Compact: true}
	m.o.tally.encode(&e)
	e.Uint32(uint32(len(m.o.units)))
	for _, u := range m.o.units {
		e.Uint64(u.symbols)
		e.Uint64(u.functions)
		e.Uint64(u.samples)
	}
	hottest, sampled := rank.Hottest(m.profile, m.ranking.Ranking, maxHottest)
	if m.missing || m.ids != m.profile.NumSymbols() {
		hottest, sampled = nil, 0 // top fails, or adds up symbols of one name
	}
	e.Uint64(m.ranking.Total)
	e.Uint64(uint64(sampled))
	e.Uint32(uint32(len(hottest)))
	for _, s := range hottest {
		f := &m.ranking.Symbols[s]
		for _, n := range []uint64{f.Own, f.Total, f.Head} {
			e.Uint64(n)
		}
		for _, text := range []string{m.profile.SymbolName(s), m.profile.UnitPath(m.profile.SymbolUnit(s))} {
			e.Uint32(uint32(len(text)))
			e.String(text)
		}
	}
	return e.Data
}

func (t *tally) encode(e *wire.Encoder) {
	types := uint32(0)
	for _, s := range t.sections {
		if s.count > 0 {
			types++
		}
	}
	e.Uint32(types)
	for typ, s := range t.sections {
		if s.count > 0 {
			e.Byte(byte(typ))
			e.Uint64(s.count)
			e.Uint64(s.compact)
			e.Uint64(uint64(s.bytes))
		}
	}
	extensions := uint32(0)
	if t.sources {
		extensions |= hasSources
	}
	if t.evidence {
		extensions |= hasEvidence
	}
	e.Uint32(extensions)
	for _, n := range t.records {
		e.Uint64(n)
	}
	e.Uint64(t.unknown)
	e.Uint64(t.targets)
	e.Uint32(uint32(t.depth))
}

// OverviewOf returns the overview from the index of a file on a server. It returns nil if the index
// has no usable overview, or the file is not on a server. The caller then reads the whole file.
func OverviewOf(f *input.File) *Overview {
	if !f.Remote() || f.Packed() || !IsV4(f.Format()) {
		return nil // a compressed file can be opened only once
	}
	in, err := Open(f)
	if err != nil {
		return nil // reading the whole file gives the error
	}
	x, err := index.Read(in.reader)
	if err != nil {
		return nil
	}
	scheme, data, err := x.Overview()
	if err != nil || scheme != OverviewScheme {
		return nil
	}
	o := decodeOverview(data)
	if o == nil || !o.fits(in.reader) {
		return nil
	}
	o.reader = in.reader
	return o
}

// fits reports whether the overview can belong to the file that contains it, by the number of units
// and the size of the file. If so, it adds the sizes of the index and of the header, which the
// stored overview does not contain.
func (o *Overview) fits(r *afdo.Reader) bool {
	units, err := r.NumUnits()
	if err != nil || units != len(o.units) {
		return false
	}
	x, err := v4.FileOf(r).Index()
	if err != nil {
		return false
	}
	at := x.Section
	s := &o.tally.sections[afdo.SectionIndex]
	s.add(at.Size)
	if at.Compact {
		s.compact++
	}
	o.tally.indexed = true
	o.tally.header = r.Size()
	for _, s := range o.tally.sections {
		o.tally.header -= s.bytes
	}
	return o.tally.header > 0
}

// decodeOverview decodes an overview from an index. It returns nil if the data is malformed.
func decodeOverview(data []byte) *Overview {
	f := &wire.Fields{Data: data, Compact: true}
	o := &Overview{tally: new(tally), Hottest: profile.New(), Ranking: new(rank.Ranking)}
	o.tally.decode(f)
	o.units = make([]unitTotals, f.Count(uint64(f.Uint32()), 3, 3, "units"))
	for i := range o.units {
		u := &o.units[i]
		*u = unitTotals{f.Uint64(), f.Uint64(), f.Uint64()}
		o.tally.symbols += u.symbols
		o.tally.functions += u.functions
	}
	o.tally.units = uint64(len(o.units))
	o.Ranking.Total, o.Sampled = f.Uint64(), f.Uint64()
	n := f.Count(uint64(f.Uint32()), 5, 5, "functions")
	for range n {
		s := rank.Symbol{Own: f.Uint64(), Total: f.Uint64(), Head: f.Uint64()}
		name, path := text(f), text(f)
		if f.Err != nil || int(o.Hottest.AddSymbol(o.Hottest.AddUnit(path), name)) != len(o.Ranking.Symbols) {
			return nil
		}
		o.Ranking.Symbols = append(o.Ranking.Symbols, s)
	}
	if f.Err != nil || f.Rest() > 0 || uint64(n) > o.Sampled || o.Sampled > o.tally.symbols {
		return nil
	}
	return o
}

func text(f *wire.Fields) string {
	return string(f.Take(f.Count(uint64(f.Uint32()), 1, 1, "bytes"), "a name"))
}

func (t *tally) decode(f *wire.Fields) {
	for range f.Count(uint64(f.Uint32()), 4, 4, "types of sections") {
		typ := f.Byte()
		count, compact, bytes := f.Uint64(), f.Uint64(), int64(f.Uint64())
		if bytes < 0 || int(typ) >= len(t.sections) {
			f.Fail(f.Pos, afdo.ErrIndex, "sections of type %d", typ)
			return
		}
		t.sections[typ] = sectionTally{extentTally{count, bytes}, compact}
	}
	extensions := f.Uint32()
	t.sources, t.evidence = extensions&hasSources != 0, extensions&hasEvidence != 0
	for i := range t.records {
		t.records[i] = f.Uint64()
	}
	t.unknown, t.targets, t.depth = f.Uint64(), f.Uint64(), int(f.Uint32())
}

// Units returns the facts about each unit of the file, as the verb units prints them.
func (o *Overview) Units() ([]UnitFacts, error) {
	var units []UnitFacts
	for u, err := range o.reader.Units() {
		if err != nil {
			return nil, err
		}
		f, t := newUnitFacts(u.Path()), o.units[u.Index()]
		f.Symbols, f.Functions, f.Samples = t.symbols, t.functions, t.samples
		units = append(units, f)
	}
	return units, nil
}

// Lists reports whether the overview contains the n functions that "afdo top" lists first. If n is
// 0, it must contain all functions with samples.
func (o *Overview) Lists(n uint) bool {
	have := uint64(len(o.Ranking.Symbols))
	return o.Sampled > 0 && (have == o.Sampled || n > 0 && uint64(n) <= have)
}

// A tally contains the numbers that the verb show prints about a version 4 file: of sections, of
// gaps between them, and of records.
type tally struct {
	header   int64 // bytes before the first section: header and section table
	gaps     extentTally
	sections [128]sectionTally // by section type
	indexed  bool              // the section with the type of the index is an index
	sources  bool              // the section with the type for hashes of source lines can be read
	evidence bool              // the section with the type for counts of machine code can be read

	units, symbols, functions uint64
	records                   [8]uint64 // by location type
	targets                   uint64
	depth                     int // nesting of the deepest inlined body
	unknown                   uint64
}

type extentTally struct {
	count uint64
	bytes int64
}

type sectionTally struct {
	extentTally
	compact uint64 // number of sections in compact encoding
}

// takeTally counts the sections and records of a file. It reads the whole file.
func takeTally(r *afdo.Reader) (*tally, error) {
	t, err := tallySections(r)
	if err != nil {
		return nil, err
	}
	w := newWalker(r)
	err = w.units(r, func(u *afdo.Unit) error {
		t.units++
		return w.symbols(u, t.addSymbol)
	})
	t.unknown = w.unknown
	return t, err
}

// tallySections counts the sections of a file, and finds out whether its sections of extensions can
// be read. It does not count records.
func tallySections(r *afdo.Reader) (*tally, error) {
	t := new(tally)
	_, err := index.Read(r)
	t.indexed = !errors.Is(err, afdo.ErrNotFound)
	t.findExtensions(r)
	return t, t.addSections(r)
}

func (t *tally) findExtensions(r *afdo.Reader) {
	_, err := profile.ReadSources(r)
	t.sources = err == nil
	_, err = profile.ReadEvidence(r)
	t.evidence = err == nil
}

func (t *tally) addSections(r *afdo.Reader) error {
	end := int64(0)
	for s, err := range r.Sections() {
		if err != nil {
			return err
		}
		if s.Index == 0 {
			t.header = s.Offset
		} else {
			t.gaps.add(s.Offset - end)
		}
		end = s.Offset + s.Size
		k := &t.sections[s.Type]
		k.add(s.Size)
		if s.Compact {
			k.compact++
		}
	}
	t.gaps.add(r.Size() - end)
	return nil
}

func (e *extentTally) add(bytes int64) {
	if bytes > 0 {
		e.count++
		e.bytes += bytes
	}
}

func (t *tally) addSymbol(_ afdo.Symbol, f *function) error {
	t.symbols++
	if f == nil {
		return nil
	}
	t.functions++
	for f.Next() {
		t.addLocation(f.Location(), f.Depth())
	}
	return nil
}

func (t *tally) addLocation(l *afdo.Location, depth int) {
	t.records[l.Type]++
	t.targets += uint64(l.NumTargets)
	if l.Type == afdo.LocationInlinedFn {
		t.depth = max(t.depth, depth+1)
	}
}

// losses counts the sections and records of a version 4 file whose types neither the RFC nor an
// extension defines. A conversion drops them (RFC 6.3).
func (in *Input) losses() ([]kind.Loss, error) {
	take := takeTally
	if in.counted {
		take = tallySections
	}
	t, err := take(in.reader)
	if err != nil {
		return nil, err
	}
	return []kind.Loss{
		{What: "sections of unknown types", N: t.unknownSections()},
		{What: "locations of unknown types", N: t.unknown + in.unknown},
	}, nil
}

// unknownSections counts the sections whose type belongs neither to the RFC nor to an extension.
func (t *tally) unknownSections() uint64 {
	n := uint64(0)
	for typ := range t.sections {
		if !t.knownSection(afdo.SectionType(typ)) {
			n += t.sections[typ].count
		}
	}
	return n
}

func (t *tally) knownSection(typ afdo.SectionType) bool {
	switch typ {
	case afdo.SectionIndex:
		return t.indexed
	case afdo.SectionSources:
		return t.sources
	case afdo.SectionEvidence:
		return t.evidence
	}
	return typ >= afdo.SectionStringTable && typ <= afdo.SectionSymbolInfo
}
