package slice

import (
	"sync"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/internal/symtab"
)

// An index answers what a slice asks of the whole program.
type index interface {
	// byCanonical calls yield for every symbol whose name, cut at its first '.', is cut.
	byCanonical(cut string, yield func(symbol)) error

	// keyOf is the function of that name, for canonical names.
	keyOf(cut string) string

	// byKeys calls yield for every symbol that keyOf gives one of some keys, each of them there
	// once, and whose name is wanted, and byPlainKey for those of a key that are plain.
	byKeys(keys []string, wanted func(name string) bool, yield func(symbol)) error
	byPlainKey(key string, yield func(symbol)) error

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
	keys  *symtab.Names[symbolID] // by key, where that is not the canonical name
	plain *symtab.Names[symbolID] // those of keys that are plain
	slow  map[string]string       // the keys of the names that take long

	callersOnce sync.Once
	callersErr  error
	callers     symtab.Callers[symbolID]
}

// names goes through all names, once.
func (x *scan) names() error {
	x.once.Do(func() {
		x.cut, x.keys, x.plain = symtab.NewNames[symbolID](), symtab.NewNames[symbolID](), symtab.NewNames[symbolID]()
		x.slow = make(map[string]string)
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
		x.keys.Build()
		x.plain.Build()
	})
	return x.err
}

func (x *scan) add(sym symbol) {
	cut := canonical.Name(sym.name)
	x.rememberKey(cut)
	x.cut.Add(cut, sym.id)
	key := x.keyOf(cut)
	if key == cut {
		return
	}
	x.keys.Add(key, sym.id)
	if isPlain(cut) {
		x.plain.Add(key, sym.id)
	}
}

func (x *scan) byCanonical(cut string, yield func(symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	return x.lookup(x.cut, cut, canonical.Name, yield)
}

func (x *scan) byKeys(keys []string, wanted func(name string) bool, yield func(symbol)) error {
	for _, key := range keys {
		err := x.byKeyIn(&x.keys, key, func(sym symbol) {
			if wanted(sym.name) {
				yield(sym)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *scan) byPlainKey(key string, yield func(symbol)) error {
	return x.byKeyIn(&x.plain, key, yield)
}

func (x *scan) byKeyIn(t **symtab.Names[symbolID], key string, yield func(symbol)) error {
	if err := x.names(); err != nil {
		return err
	}
	err := x.lookup(x.cut, key, canonical.Name, func(sym symbol) {
		if x.keyOf(canonical.Name(sym.name)) == key {
			yield(sym)
		}
	})
	if err != nil {
		return err
	}
	return x.lookup(*t, key, func(name string) string { return x.keyOf(canonical.Name(name)) }, yield)
}

// keyOf returns the key of a canonical name. To demangle it takes long, and closing slices asks for
// the same ones again and again.
func (x *scan) keyOf(cut string) string {
	if key, ok := x.slow[cut]; ok {
		return key
	}
	return keyOf(cut)
}

// rememberKey keeps the key of a name that has to be demangled for it.
func (x *scan) rememberKey(cut string) {
	if isMangled(cut) && lastOfSimple(cut) == "" {
		if _, ok := x.slow[cut]; !ok {
			x.slow[cut] = keyOf(cut)
		}
	}
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
