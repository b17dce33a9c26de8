package rebase

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/produce/rebase/internal/outline"
)

// A spelling is the name of a symbol's function as sources write it: unqualified name, scopes and
// parameters.
type spelling struct {
	name   string   // unqualified name
	scope  []string // classes and namespaces, outermost first
	params []uint32 // hashes of the words in the parameters' types, in order; nil if the symbol does not contain them
	known  bool     // scope is known, because the symbol is mangled
}

// spell returns the spelling of a symbol.
func spell(symbol string) spelling {
	tree := treeOf(symbol)
	if tree == nil {
		return spelling{name: symname.Canonical(symbol)}
	}
	s := spelling{known: true}
	if f := typeOf(tree); f != nil {
		s.params = outline.Words([]byte(demangle.ASTToString(&demangle.FunctionType{Args: f.Args})))
	}
	s.name, s.scope = lastName(tree), scopesOf(tree)
	return s
}

// lastName returns the unqualified name of a demangled function.
func lastName(tree demangle.AST) string {
	prefix := ""
	for {
		switch t := mangled.Last(tree).(type) {
		case *demangle.Constructor:
			tree = t.Name
		case *demangle.Destructor:
			tree, prefix = t.Name, "~"
		case *demangle.Operator:
			return "operator" + strings.TrimSpace(t.Name)
		case *demangle.Closure:
			return "operator()"
		default:
			return prefix + demangle.ASTToString(t, demangle.NoTemplateParams)
		}
	}
}

// scopesOf returns the classes, namespaces and functions that enclose a demangled function,
// outermost first.
func scopesOf(tree demangle.AST) []string {
	var parts []string // innermost first, the function itself included
	for {
		q, ok := mangled.Bare(tree).(*demangle.Qualified)
		if !ok {
			break
		}
		parts = append(parts, scopeName(q.Name))
		tree = q.Scope
	}
	parts = append(parts, scopeName(tree))
	slices.Reverse(parts)
	parts = parts[:len(parts)-1]
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// scopeName returns the name of a scope, such as a class, or "" if sources give it no name, such as
// an anonymous namespace.
func scopeName(tree demangle.AST) string {
	name := demangle.ASTToString(mangled.Last(tree), demangle.NoTemplateParams)
	if strings.HasPrefix(name, "{") || strings.HasPrefix(name, "(") {
		return ""
	}
	return name
}

// typeOf returns the type of a demangled function, or nil if its symbol does not contain the type.
func typeOf(tree demangle.AST) *demangle.FunctionType {
	typed, ok := tree.(*demangle.Typed)
	if !ok {
		return nil
	}
	function := typed.Type
	if m, ok := function.(*demangle.MethodWithQualifiers); ok { // const and the like
		function = m.Method
	}
	f, _ := function.(*demangle.FunctionType)
	return f
}

// A use is a symbol of a profile, with the lines and calls at which it has records.
type use struct {
	symbol, file string
	lines        []int32  // line offsets with records, ascending
	callees      []callee // called or inlined functions by line offset
}

// A callee is a function that is called or inlined at a line offset. word is the hash of its
// unqualified name.
type callee struct {
	line int32
	word uint32
}

// A place is one record of a profile in any format: its line and count, and the innermost function
// that contains it.
type place struct {
	symbol int
	line   int32
	callee int    // symbol that is called or inlined there, or none
	count  uint64 // number of samples
}

// gather adds the lines and callees in the records of a profile to the symbols in uses.
func gather(uses []use, places iter.Seq[place]) {
	words := make([]uint32, len(uses)) // 0 is one that nobody has asked for
	for p := range places {
		u := &uses[p.symbol]
		u.lines = append(u.lines, p.line)
		if p.callee != none {
			if words[p.callee] == 0 {
				words[p.callee] = outline.Word(spell(uses[p.callee].symbol).name)
			}
			u.callees = append(u.callees, callee{p.line, words[p.callee]})
		}
	}
	for i := range uses {
		u := &uses[i]
		slices.Sort(u.lines)
		u.lines = slices.Compact(u.lines)
		slices.SortFunc(u.callees, func(a, b callee) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.word, b.word)) })
		u.callees = slices.Compact(u.callees)
	}
}
