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

// A commonNames stores the symbols of each unqualified name that the texts of several compiles
// contain, from the second such text on. With each symbol it stores which other words a text must
// contain if the compile defines the symbol. The compiles of one program share most names, such as
// those of the standard library's functions, and many symbols have a name like begin or operator().
// Finding the words of a symbol takes ten times as long as looking them up in a text.
type commonNames struct{ asked sync.Map } // of *namesakes, by unqualified name

// A namesakes has the symbols with one unqualified name. They are read from the profile when a
// second text contains the name.
type namesakes struct {
	once sync.Once
	err  error
	all  []requirements
}

// requirements are what a text must contain if its compile defines a symbol: words, names of
// classes and namespaces, and definitions of functions.
type requirements struct {
	program.Symbol
	cut       string   // canonical name of the symbol
	words     []uint32 // hashes of the words, see wordHash
	scopes    []uint32 // hashes of the names of classes and namespaces
	functions []string // unqualified names
}

// in calls yield for the symbols that a text may define, of those with one of the given unqualified
// names. It returns the names that occur for the first time, which the caller has to look up. With
// renamed, a symbol may have the inline namespaces of another version of the text.
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

func anyName(string) bool { return true }

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
