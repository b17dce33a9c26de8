package cxx

import "strings"

// Scopes calls yield for the classes and namespaces in a mangled name that contain another
// component, until yield returns false. It returns false if yield did. If a name cannot be decoded
// entirely, it yields the scopes up to there. In contrast to words, scopes that begin with "__" are
// not the compiler's own: std::__1 belongs to libc++, and no text for libstdc++ opens it.
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

// follows records that a component begins in the nested name that is open at a depth. own says that
// it is the nested name of the function itself. component is empty if it cannot be a scope.
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
