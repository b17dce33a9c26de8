package slice

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/internal/symtab"
)

// An index answers what a slice asks of the whole program.
type index interface {
	// byCanonical calls yield for every symbol whose name, cut at its first '.', is cut.
	byCanonical(cut string, yield func(symbol)) error

	// byUnqualifiedName calls yield for every symbol of an unqualified name that
	// is not mangled, or that several units may have for themselves.
	byUnqualifiedName(name string, yield func(symbol)) error

	// mayMatch tells whether a symbol that is not mangled may have the
	// unqualified name of a mangled name. It is quick, and never wrong with a no.
	mayMatch(mangled string) (bool, error)

	// inlinedInto calls yield for every symbol with a function inlined into its samples that is
	// in own. It may leave out those that are in own themselves.
	inlinedInto(own []symbolID, yield func(symbol)) error
}

// A scan is the index of a program that brings none: it goes through all
// names, and for inlinedInto through all records, when it is first asked.
type scan struct {
	source source

	once  sync.Once
	err   error
	cut   *symtab.Names[symbolID] // all names, by canonical name
	inner *symtab.Names[symbolID] // by unqualified name, where that is not the canonical name
	codes []string                // the operators among names that are not mangled, as mangled names have them

	callersOnce sync.Once
	callersErr  error
	callers     symtab.Callers[symbolID]
}

// names goes through all names, once.
func (x *scan) names() error {
	x.once.Do(func() {
		x.cut, x.inner = symtab.NewNames[symbolID](), symtab.NewNames[symbolID]()
		for unit := range x.source.numUnits() {
			for sym, err := range x.source.symbols(unit) {
				if err != nil {
					x.err = err
					return
				}
				x.add(sym)
			}
		}
		x.cut.Build()
		x.inner.Build()
	})
	return x.err
}

func (x *scan) add(sym symbol) {
	cut := canonical.Name(sym.name)
	x.cut.Add(cut, sym.id)
	if isMangled(cut) {
		if isInternal(cut) {
			if name := unqualified(cut); name != "" {
				x.inner.Add(name, sym.id)
			}
		}
		return
	}
	name := unqualified(cut)
	if name != cut {
		x.inner.Add(name, sym.id)
	}
	for _, code := range codesOf(name) {
		if !slices.Contains(x.codes, code) {
			x.codes = append(x.codes, code)
		}
	}
}

func (x *scan) byCanonical(cut string, yield func(symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	return x.lookup(x.cut, cut, canonical.Name, yield)
}

func (x *scan) byUnqualifiedName(name string, yield func(symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	err := x.lookup(x.cut, name, canonical.Name, func(sym symbol) {
		if !isMangled(sym.name) && unqualified(sym.name) == name {
			yield(sym)
		}
	})
	if err != nil {
		return err
	}
	return x.lookup(x.inner, name, unqualified, yield)
}

// lookup yields the symbols of a table whose key is the one given.
func (x *scan) lookup(t *symtab.Names[symbolID], key string, keyOf func(name string) string, yield func(symbol)) error {
	for id := range t.Candidates(key) {
		sym, err := x.source.symbol(id)
		if err != nil {
			return err
		}
		if keyOf(sym.name) == key {
			yield(sym)
		}
	}
	return nil
}

func (x *scan) mayMatch(mangled string) (bool, error) {
	if err := x.names(); err != nil {
		return false, err
	}
	for _, code := range x.codes {
		if strings.Contains(mangled, code) {
			return true, nil
		}
	}
	return mentioned(mangled, func(id string) bool {
		return x.cut.Has(id) || x.inner.Has(id)
	}), nil
}

func (x *scan) inlinedInto(own []symbolID, yield func(symbol)) error {
	x.callersOnce.Do(func() { x.callersErr = x.readCallers() })
	if x.callersErr != nil {
		return x.callersErr
	}
	var seen idSet
	var callers []symbolID
	for _, id := range own {
		for caller := range x.callers.Of(uint64(id), uint64(id)+1) {
			if seen.add(caller) {
				callers = append(callers, caller)
			}
		}
	}
	for _, id := range callers {
		sym, err := x.source.symbol(id)
		if err != nil {
			return err
		}
		yield(sym)
	}
	return nil
}

// readCallers goes through all records.
func (x *scan) readCallers() error {
	err := x.source.inlinings(x.callers.Add)
	x.callers.Build()
	return err
}
