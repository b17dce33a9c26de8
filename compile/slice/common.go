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

// A commonNames is a cache for the slices of several compiles of one program. It stores the symbols
// with each unqualified name that occurs in the texts of at least two compiles. With each symbol it
// stores which words a text must contain if its compile defines the symbol. Finding these words
// takes ten times as long as looking them up in a text. The compiles of a program share most names,
// such as those of the standard library, and many symbols have a name like begin or operator().
type commonNames struct{ asked sync.Map } // of *namesakes, by unqualified name

// A namesakes has all symbols with one unqualified name. They are read from the profile when a
// second text contains the name.
type namesakes struct {
	once sync.Once
	err  error
	all  []requirements
}

// A requirements is what a text must contain if its compile defines a symbol: certain words,
// classes and namespaces, and definitions of functions.
type requirements struct {
	program.Symbol
	cut       string   // canonical name of the symbol
	words     []uint32 // hashes of the words, see wordHash
	scopes    []uint32 // hashes of the names of classes and namespaces
	functions []string // unqualified names
}

// in calls yield for the symbols that have one of the given unqualified names and that a text may
// define. It does so only for names that an earlier text contained. It returns the other names,
// which the caller has to look up in the index x. If renamed is true, a symbol may have the inline
// namespaces of an older version of the text.
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

// anyName accepts all names.
func anyName(string) bool { return true }

// requirementsOf returns what a text must contain if its compile defines a symbol.
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
