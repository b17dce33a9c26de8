package cxx

import "strings"

// Scopes calls yield for the classes and namespaces in a mangled name of which something is named
// there, until it returns false, and reports whether it never did. Of a name that it does not
// understand it yields those of the part before that. Unlike words, scopes that begin with "__" are
// not the compiler's own: std::__1 is libc++'s, and no text for libstdc++ opens it.
func Scopes(name string, yield func(scope string) bool) bool {
	var scopes scopeList
	s := nameReader{rest: name[len("_Z"):], begin: true, scopes: &scopes}
	for word, ok := s.next(); ok && word != ""; word, ok = s.next() {
	}
	if s.atName() && endsInUnnamed(s.rest) {
		scopes.found = append(scopes.found, UnnamedClass)
	}
	for _, scope := range scopes.found {
		if !strings.HasPrefix(scope, "_GLOBAL__N") && !yield(scope) {
			return false
		}
	}
	return true
}

// A scopeList takes note of the scopes in a name that a nameReader goes through. In N…E each
// component is one but for the last. In the types of parameters and results only the first one is
// for certain: after a parameter of a template, or a template of aliases, there may be a typedef.
type scopeList struct {
	// By how much is open: the component that is a scope if another one follows, and whether
	// something has been there already.
	latest [maxQuickDepth + 1]string
	begun  [maxQuickDepth + 1]bool

	found []string
}

func (l *scopeList) enter(depth int) { l.latest[depth], l.begun[depth] = "", false }

// follows tells that a component begins in the N that is open, depth deep, which is that of the
// function itself or not. It is empty if it is none that could be a scope.
func (l *scopeList) follows(depth int, component string, own bool) {
	if scope := l.latest[depth]; scope != "" {
		l.found = append(l.found, scope)
	}
	l.latest[depth] = ""
	if own || !l.begun[depth] {
		l.latest[depth] = component
	}
	l.begun[depth] = true
}
