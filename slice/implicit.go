package slice

import "sync"

// implicitNames are the unqualified names of functions that no text spells out, as the compiler
// brings them: those of lambdas, assignments and comparisons, conversions, whose names are types,
// and what runs before and after main.
var implicitNames = []string{
	"operator()", "_FUN", "operator=", "operator==", conversionKey, oddKey,
	initializing + "0", "__tls_init",
}

// implicitFunctions are the symbols with [implicitNames], each with what it requires of a text. A
// program has many, of lambdas above all, and each of its slices asks for all of them.
type implicitFunctions struct {
	once sync.Once
	err  error
	all  []requirements
}

// requirements are the words and scopes that a text must have to define a symbol.
type requirements struct {
	symbol
	words  []uint32 // by hash, as a Text has them
	scopes []uint32
}

// in calls yield for the symbols that a text may define. The first call takes all of them apart.
func (f *implicitFunctions) in(t *Text, x index, yield func(symbol)) error {
	f.once.Do(func() {
		f.err = x.byKeys(implicitNames, anyName, func(sym symbol) { f.all = append(f.all, requirementsOf(sym)) })
	})
	for i := range f.all {
		if t.satisfies(&f.all[i]) {
			yield(f.all[i].symbol)
		}
	}
	return f.err
}

func anyName(string) bool { return true }

func requirementsOf(sym symbol) requirements {
	r := requirements{symbol: sym}
	needs(sym.name, func(word string) bool {
		r.words = append(r.words, wordHash(word))
		return true
	}, func(scope string) bool {
		r.scopes = append(r.scopes, wordHash(scope))
		return true
	})
	return r
}

// satisfies reports whether the words and scopes are in the text.
func (t *Text) satisfies(r *requirements) bool {
	for _, word := range r.words {
		if _, ok := t.words[word]; !ok {
			return false
		}
	}
	for _, scope := range r.scopes {
		if !t.anyScope && !t.words[scope] {
			return false
		}
	}
	return true
}
