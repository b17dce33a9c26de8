package slice

import (
	"sync"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/internal/symname"
)

// implicitNames are the unqualified names of functions that no source text contains, because the
// compiler creates them: lambdas, assignments and comparisons, conversions, whose names are types,
// and code that runs before and after main. The last line has those of clang.
var implicitNames = []string{
	"operator()", "_FUN", "operator=", "operator==", cxx.ConversionKey, cxx.OddKey,
	cxx.Initializing + "0", "__tls_init",
	cxx.Invoker, "__cxx_global_var_init", "__cxx_global_array_dtor",
}

// A commonNames is a cache for the slices of several compiles of one program. The texts of most
// compiles contain the same names, such as those of the standard library, and many symbols have a
// name like begin or operator(). For each unqualified name that at least two texts contain, the
// cache stores the symbols with the name, and what a text must contain if its compile defines the
// symbol, see [requirements]. To compute these requirements takes ten times as long as to look them
// up in a text.
type commonNames struct{ asked sync.Map } // of *namesakes, by unqualified name

// A namesakes has all symbols of a profile that share one unqualified name, with their
// requirements. They are read from the profile when a second text contains the name.
type namesakes struct {
	once sync.Once
	err  error
	all  []requirements
}

// A requirements is what a text must contain if its compile defines a certain symbol: words,
// classes and namespaces, and definitions of functions.
type requirements struct {
	program.Symbol
	cut       string   // canonical name of the symbol
	words     []uint32 // hashes of the words, see wordHash
	scopes    []uint32 // hashes of the names of classes and namespaces
	functions []string // unqualified names
}

// in looks up names that the text of a compile contains. For each name that an earlier text
// contained as well, it takes the symbols with this unqualified name from the cache, and calls
// yield for those that the text may define. It returns the names that no earlier text contained,
// which the caller has to look up in the index x. If renamed is true, a symbol may also contain
// names of inline namespaces that the text has replaced by newer ones.
func (c *commonNames) in(t *Text, names []string, renamed bool, x program.Index, yield func(program.Symbol)) (others []string, err error) {
	for _, name := range names {
		known, again := c.asked.LoadOrStore(name, new(namesakes))
		if !again {
			others = append(others, name)
			continue
		}
		same := known.(*namesakes)
		same.once.Do(func() {
			same.err = x.ByKeys([]string{name}, anyName, func(sym program.Symbol) { same.all = append(same.all, requirementsOf(sym)) })
		})
		if same.err != nil {
			return nil, same.err
		}
		for i := range same.all {
			if r := &same.all[i]; t.satisfies(r) || renamed && t.mayDefineRenamed(r.Name) {
				yield(r.Symbol)
			}
		}
	}
	return others, nil
}

// anyName returns true: as a filter of symbol names it accepts all names.
func anyName(string) bool { return true }

// requirementsOf finds out what a text must contain if its compile defines the symbol sym, such as
// words and classes.
func requirementsOf(sym program.Symbol) requirements {
	r := requirements{Symbol: sym, cut: symname.Canonical(sym.Name)}
	hashed := func(to *[]uint32) func(string) bool {
		return func(word string) bool {
			*to = append(*to, wordHash(word))
			return true
		}
	}
	needs(r.cut, requirement{hashed(&r.words), hashed(&r.scopes), func(name string) bool {
		r.functions = append(r.functions, name)
		return true
	}})
	return r
}

// satisfies reports whether a text contains all that a symbol requires, or gives a function the
// symbol's name by an asm label.
func (t *Text) satisfies(r *requirements) bool {
	if t.isLabel(r.cut) || t.OnlyC && t.has(r.cut) {
		return true
	} else if !t.mayName(r.cut) {
		return false
	}
	for _, function := range r.functions {
		if !t.defines(function) {
			return false
		}
	}
	for _, word := range r.words {
		if _, ok := t.words[word]; !ok {
			return false
		}
	}
	for _, scope := range r.scopes {
		if !t.anyScope && t.words[scope]&usedAsScope == 0 {
			return false
		}
	}
	return true
}
