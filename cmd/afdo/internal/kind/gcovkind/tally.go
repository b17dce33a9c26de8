package gcovkind

import (
	"errors"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// A tally is what a file consists of.
type tally struct {
	header   int64 // bytes before the first section: header and section table
	gaps     extentTally
	sections [128]sectionTally // by type
	indexed  bool              // the section of the index's type is an index
	sources  bool              // the one of that of sources remembers them
	evidence bool              // the one of that of evidence can be read

	units, symbols, functions uint64
	records                   [8]uint64 // by location type
	targets                   uint64
	depth                     int // of the deepest inlined body
	unknown                   uint64
}

type extentTally struct {
	count uint64
	bytes int64
}

type sectionTally struct {
	extentTally
	compact uint64 // how many are in compact encoding
}

// takeTally walks over a whole file.
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

// tallySections looks at the section table, the index and the sources of a file.
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

// losses counts what of a version 4 file is not of the RFC, which no conversion keeps (RFC 6.3).
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

// unknownSections counts the sections of types that are neither of the RFC nor of an extension.
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
