// Package mangled analyses the names of C++ functions, mangled and demangled.
package mangled

import "github.com/ianlancetaylor/demangle"

// MaxLen is the maximum length of names that are demangled. Demangling some names takes time
// proportional to the square of their length.
const MaxLen = 4 << 10

// Last returns the last component of a demangled function name, without scope, template arguments
// and parameters. It is usually a name, a constructor, a destructor or an operator.
func Last(tree demangle.AST) demangle.AST {
	for {
		tree = Bare(tree)
		q, ok := tree.(*demangle.Qualified)
		if !ok {
			return tree
		}
		tree = q.Name
	}
}

// Bare returns a demangled function name with its scope, but without template arguments,
// parameters, qualifiers and suffixes of clones.
func Bare(tree demangle.AST) demangle.AST {
	for {
		switch t := tree.(type) {
		case *demangle.Typed:
			tree = t.Name
		case *demangle.Template:
			tree = t.Name
		case *demangle.MethodWithQualifiers:
			tree = t.Method
		case *demangle.Clone:
			tree = t.Base
		case *demangle.TaggedName:
			tree = t.Name
		case *demangle.Friend:
			tree = t.Name
		case *demangle.Constraint:
			tree = t.Name
		case *demangle.ModuleEntity:
			tree = t.Name
		default:
			return tree
		}
	}
}
