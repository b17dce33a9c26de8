package slice

import (
	"github.com/go-afdo/afdo"
)

// Names is how slices find symbols by unqualified name. A version 4 file whose
// index has these names, see [afdo.IndexOptions], lets [FromReader] do without a
// look at all names and records.
var Names = afdo.NameScheme{Name: "afdo slice 2", Unqualified: keyOf}

// FingerprintScheme names the keys that an index may have of units: those of
// [Program.Fingerprint] for a request of the unit alone and FingerprintTarget.
const (
	FingerprintScheme = fingerprintForm + " for version 2"
	FingerprintTarget = Version2
)

// An indexed is the index that a version 4 file brings along.
type indexed struct {
	source *readerSource
}

// newIndex returns the index that a file brings along if it has what slices ask for, and a scan if not.
func newIndex(s *readerSource) index {
	info, err := s.r.Index()
	if err != nil || info.Unqualified != Names.Name {
		return &scan{source: s} // with a damaged index, reading the file fails
	}
	return &indexed{source: s}
}

func (x *indexed) byCanonical(cut string, yield func(symbol)) error {
	return x.each(x.source.r.SymbolsCut(cut), yield)
}

func (x *indexed) byKey(key string, yield func(symbol)) error {
	return x.each(x.source.r.SymbolsUnqualified(key, Names), yield)
}

func (x *indexed) each(symbols func(func(afdo.Symbol, error) bool), yield func(symbol)) error {
	for sym, err := range symbols {
		if err != nil {
			return err
		}
		yield(x.source.from(sym.Unit().Index(), sym))
	}
	return nil
}

// inlinedInto leaves out the own symbols themselves.
func (x *indexed) inlinedInto(own []symbolID, yield func(symbol)) error {
	callees := make([]afdo.SymbolID, len(own))
	for i, id := range own {
		callees[i] = afdo.SymbolID(id)
	}
	return x.each(x.source.r.InlinedInto(callees), yield)
}
