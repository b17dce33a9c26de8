package slice

import (
	"sync"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/internal/symname"
)

// implicitNames are the unqualified names of functions that no text spells because the compiler
// creates them: lambdas, assignments and comparisons, conversions, whose names are types, and code
// that runs before and after main. The last line is clang's.
var implicitNames = []string{
	"operator()", "_FUN", "operator=", "operator==", cxx.ConversionKey, cxx.OddKey,
	cxx.Initializing + "0", "__tls_init",
	cxx.Invoker, "__cxx_global_var_init", "__cxx_global_array_dtor",
}

// commonNames keeps the symbols that have an unqualified name, from the second time on that a
// source text asks for the name. It keeps what each symbol requires: the other words that a text
// must contain if it is to define the symbol. The texts of one program share most names, such as
// those of the standard library's functions, and many symbols have a name like begin or operator().
// To read what a symbol requires takes ten times as long as to compare that with a text.
type commonNames struct{ asked sync.Map } // of *namesakes, by unqualified name

// namesakes are the symbols with one unqualified name. Reading them is left to the second text that
// has the name.
type namesakes struct {
	once sync.Once
	err  error
	all  []requirements
}

// requirements are the words, scopes and functions that a text must have to define a symbol.
type requirements struct {
	program.Symbol
	cut       string   // the canonical name
	words     []uint32 // by hash, as a Text has them
	scopes    []uint32
	functions []string
}

// in calls yield for the symbols with one of the names that a text may define. It returns the names
// that no text has asked for before.
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

// satisfies reports whether a text has all of it, or gives a function that name for the assembler.
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
