package slice

import (
	"github.com/go-afdo/afdo"
	fileindex "github.com/go-afdo/afdo/index"
)

// indexNames is how an index that helps slices has the names of functions.
var indexNames = fileindex.Scheme{Name: "afdo slice 4", Unqualified: keyOf}

// An indexed is the index that a version 4 file brings along.
type indexed struct {
	source  *readerSource
	program *fileindex.Program
}

// newIndex returns the index that a file brings along if the Reader trusts it and it has what
// slices ask for, and a scan if not.
func newIndex(s *readerSource) index {
	if x, err := fileindex.Read(s.r); err == nil && x.Trusted() {
		if info, err := x.Info(); err == nil && info.Unqualified == indexNames.Name {
			return &indexed{source: s, program: fileindex.NewProgram(s.r)}
		}
	}
	return &scan{source: s} // with a damaged index, reading the file fails
}

func (x *indexed) keyOf(cut string) string { return keyOf(cut) }

func (x *indexed) byCanonical(cut string, yield func(symbol)) error {
	return x.each(x.program.Clones(cut), yield)
}

func (x *indexed) byKeys(keys []string, wanted func(name string) bool, yield func(symbol)) error {
	return x.each(x.program.Unqualified(keys, indexNames, wanted), yield)
}

func (x *indexed) byPlainKey(key string, yield func(symbol)) error {
	return x.byKeys([]string{key}, isPlain, yield)
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
	return x.each(x.program.InlinedInto(callees), yield)
}
