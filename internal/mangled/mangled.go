// Package mangled takes apart what the demangler makes of the names of C++ functions.
package mangled

import "github.com/ianlancetaylor/demangle"

// MaxLen limits the length of names that are demangled. The time for some names grows with the
// square of their length.
const MaxLen = 4 << 10

// Last returns the last component of a demangled name, without scope, template arguments and
// parameters: usually a name, a constructor, a destructor or an operator.
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

// Bare returns a demangled name with its scope, without template arguments, parameters and what
// else is said about the function.
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
