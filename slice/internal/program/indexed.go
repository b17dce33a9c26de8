package program

import (
	"github.com/go-afdo/afdo"
	fileindex "github.com/go-afdo/afdo/index"
	"github.com/go-afdo/afdo/slice/internal/cxx"
)

// Names is how an index that helps slices has the names of functions.
var Names = fileindex.Scheme{Name: "afdo slice 5", Unqualified: cxx.KeyOf}

// An indexed is the index that a version 4 file brings along.
type indexed struct {
	file    *file
	program *fileindex.Program
}

// newIndex returns the index that a file brings along if the Reader trusts it and it has what
// slices ask for, and a scan if not.
func newIndex(s *file) Index {
	if x, err := fileindex.Read(s.r); err == nil && x.Trusted() {
		if info, err := x.Info(); err == nil && info.Unqualified == Names.Name {
			return &indexed{file: s, program: fileindex.NewProgram(s.r)}
		}
	}
	return &scan{store: s} // with a damaged index, reading the file fails
}

func (x *indexed) KeyOf(cut string) string { return cxx.KeyOf(cut) }

func (x *indexed) ByCanonical(cut string, yield func(Symbol)) error {
	return x.each(x.program.Clones(cut), yield)
}

func (x *indexed) ByKeys(keys []string, wanted func(name string) bool, yield func(Symbol)) error {
	return x.each(x.program.Unqualified(keys, Names, wanted), yield)
}

func (x *indexed) ByPlainKey(key string, yield func(Symbol)) error {
	return x.ByKeys([]string{key}, cxx.IsPlain, yield)
}

func (x *indexed) each(symbols func(func(afdo.Symbol, error) bool), yield func(Symbol)) error {
	for sym, err := range symbols {
		if err != nil {
			return err
		}
		yield(x.file.from(sym.Unit().Index(), sym))
	}
	return nil
}

// InlinedInto leaves out the own symbols themselves.
func (x *indexed) InlinedInto(own []ID, yield func(Symbol)) error {
	callees := make([]afdo.SymbolID, len(own))
	for i, id := range own {
		callees[i] = afdo.SymbolID(id)
	}
	return x.each(x.program.InlinedInto(callees), yield)
}
