package rebase

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/symname"
)

// A Declaration is the place at which a function is declared, according to debug info.
type Declaration struct {
	Symbol string
	File   string
	Line   int // line of the declaration, from which compilers count line offsets
}

// Declarations returns the declarations of a binary's functions, including inlined ones, sorted by
// file and line. It reads the debug info of all functions.
func Declarations(ctx context.Context, f *symbolize.File) ([]Declaration, error) {
	var symbols []symbolize.Symbol
	for s, err := range f.Symbols() {
		if err != nil {
			return nil, err
		}
		symbols = append(symbols, s)
	}
	found := make(map[Declaration]bool)
	for code, err := range f.Code(ctx, symbols) {
		if err != nil {
			return nil, err
		}
		for _, span := range code.Spans {
			for i := span.Instance; i != nil; i = i.Caller {
				if i.Function.Line > 0 {
					found[Declaration{symname.Canonical(i.Function.Linkage()), i.Function.File, int(i.Function.Line)}] = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(d, e Declaration) int {
		return cmp.Or(cmp.Compare(d.File, e.File), cmp.Compare(d.Line, e.Line), cmp.Compare(d.Symbol, e.Symbol))
	}), nil
}

// Declare adds declarations of functions to the texts of their files. It ignores declarations in
// files whose text was not added. From then on, a symbol that has a declaration matches only the
// function at that place.
func (s *Sources) Declare(declarations []Declaration) {
	if s.declared == nil {
		s.declared = make(map[string][]*function)
		s.overloads = make(map[string][]*function)
		s.symbols = make(map[string]bool)
	}
	for _, d := range declarations {
		s.symbols[d.Symbol] = true
		spelled := spell(d.Symbol)
		f := s.at(d, spelled.name)
		if f == nil {
			continue
		}
		s.overloads[spelled.name] = append(s.overloads[spelled.name], f)
		for _, symbol := range structors(d.Symbol) {
			s.declared[symbol] = append(s.declared[symbol], f)
		}
	}
}

// structors returns the symbols that a function may have, given its symbol in debug info. Debug
// info has one symbol, such as C4, for all variants of a constructor or destructor.
func structors(symbol string) []string {
	symbols := []string{symbol}
	for _, v := range [...]struct {
		all      string
		variants []string
	}{{"C4E", []string{"C1E", "C2E"}}, {"D4E", []string{"D0E", "D1E", "D2E"}}} {
		if i := strings.LastIndex(symbol, v.all); i >= 0 && strings.HasPrefix(symbol, "_Z") {
			for _, variant := range v.variants {
				symbols = append(symbols, symbol[:i]+variant+symbol[i+len(v.all):])
			}
		}
	}
	return symbols
}

// at returns the function of the sources that begins at the declaration d, or nil. If several
// functions may begin on the line of the declaration, it prefers the one with the given name.
func (s *Sources) at(d Declaration, name string) *function {
	file := s.fileOf(d.File)
	if file == nil {
		return nil
	}
	var found *function
	for _, f := range file.byLine[d.Line] {
		if found == nil || f.name.Text == name {
			found = f
		}
	}
	if found == nil {
		return nil
	}
	f := *found
	f.symbol, f.file = d.Symbol, d.File
	return &f
}

// Has reports whether the sources contain the file with the given path, or a file whose path has
// the same last components.
func (s *Sources) Has(name string) bool { return s.fileOf(name) != nil }

// fileOf returns the source file whose path has the most components at its end in common with the
// path name, or nil. If several do, it prefers a whole file to the part of another file that a
// "#line" attributes to this path.
func (s *Sources) fileOf(name string) *source {
	name = path.Clean(name)
	var found *source
	most := 0
	for _, i := range s.base[path.Base(name)] {
		if n := commonEnd(name, s.files[i].path, "/"); n > most || n == most && n > 0 && found.quoted && !s.files[i].quoted {
			found, most = &s.files[i], n
		}
	}
	return found
}
