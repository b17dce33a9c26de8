package slice

import (
	"sync"

	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/slice/internal/cxx"
	"github.com/go-afdo/afdo/slice/internal/program"
)

// implicitNames are the unqualified names of functions that no text spells because the compiler
// creates them: lambdas, assignments and comparisons, conversions, whose names are types, and code
// that runs before and after main. The last line is clang's.
var implicitNames = []string{
	"operator()", "_FUN", "operator=", "operator==", cxx.ConversionKey, cxx.OddKey,
	cxx.Initializing + "0", "__tls_init",
	cxx.Invoker, "__cxx_global_var_init", "__cxx_global_array_dtor",
}

// implicitFunctions are the symbols with [implicitNames], each with its requirement of a text. A
// program has many of them, mostly lambdas, and each slice looks at all of them.
type implicitFunctions struct {
	once sync.Once
	err  error
	all  []requirements
}

// requirements are the words, scopes and functions that a text must have to define a symbol.
type requirements struct {
	program.Symbol
	words     []uint32 // by hash, as a Text has them
	scopes    []uint32
	functions []string
}

// in calls yield for the symbols that a text may define. The first call takes all of them apart.
func (f *implicitFunctions) in(t *Text, x program.Index, yield func(program.Symbol)) error {
	f.once.Do(func() {
		f.err = x.ByKeys(implicitNames, anyName, func(sym program.Symbol) { f.all = append(f.all, requirementsOf(sym)) })
	})
	for i := range f.all {
		if t.satisfies(&f.all[i]) {
			yield(f.all[i].Symbol)
		}
	}
	return f.err
}

func anyName(string) bool { return true }

func requirementsOf(sym program.Symbol) requirements {
	r := requirements{Symbol: sym}
	hashed := func(to *[]uint32) func(string) bool {
		return func(word string) bool {
			*to = append(*to, wordHash(word))
			return true
		}
	}
	needs(symname.Canonical(sym.Name), requirement{hashed(&r.words), hashed(&r.scopes), func(name string) bool {
		r.functions = append(r.functions, name)
		return true
	}})
	return r
}

// satisfies reports whether a text has all of it, or gives a function that name for the assembler.
func (t *Text) satisfies(r *requirements) bool {
	if cut := symname.Canonical(r.Name); t.isLabel(cut) || t.onlyC && t.has(cut) {
		return true
	} else if !t.mayName(cut) {
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
