package slice

import "strings"

// A function of a class is only there where the class is complete, and one of a namespace where
// that is opened: somewhere the name stands between "class", "struct", "union" or "namespace" and a
// brace, or a typedef gives it to a class that has none. So a text defines no function of a class
// that it merely mentions. GCC mangles templates of aliases like classes: somewhere their name
// stands between "using" and "=". Whose function a definition is cannot be told so easily, as there
// are typedefs, inline namespaces and friends.

// A scopeFinder finds those names among the tokens of a preprocessed text, but for those of
// typedefs.
type scopeFinder struct {
	notes textNotes
	head  bool     // one may have begun
	alias bool     // and it is that of an alias
	words [][]byte // all words of it: the name, attributes, bases and their arguments
	depth int      // of parentheses in it
}

// maxHeadWords is how many words of a head are remembered. If there are more, all words of the text
// count as scopes.
const maxHeadWords = 1 << 12

// identifier takes a word, and the first byte of the token before.
func (f *scopeFinder) identifier(word []byte, prev byte) {
	if f.head {
		if len(f.words) == maxHeadWords {
			f.notes.unsure()
			return
		}
		f.words = append(f.words, word)
		return
	}
	switch string(word) {
	case "class", "struct", "union":
		f.head = prev != '<' && prev != ',' // of a template's parameters
	case "namespace":
		f.head = true
	case "using":
		f.alias = prev != ';' && prev != '{' && prev != ':' // there the declaration of no template ends
		f.head = f.alias
	}
}

func (f *scopeFinder) punctuation(c byte) {
	if !f.head {
		return
	}
	switch c {
	case '(':
		f.depth++
	case ')':
		f.depth--
		if f.depth < 0 { // a parameter
			f.end()
		}
	case '{', '=':
		if f.depth == 0 && f.alias == (c == '=') {
			for _, word := range f.words {
				f.notes.scope(word)
			}
			f.end()
		}
	case ';':
		if f.depth == 0 {
			f.end()
		}
	}
}

func (f *scopeFinder) end() { f.head, f.alias, f.words, f.depth = false, false, f.words[:0], 0 }

// scopesOf calls yield for the classes and namespaces in a mangled name of which something is named
// there, until it returns false, and reports whether it never did. Of a name that it does not
// understand it yields those of the part before that. Unlike words, scopes that begin with "__" are
// not the compiler's own: std::__1 is libc++'s, and no text for libstdc++ opens it.
func scopesOf(name string, yield func(scope string) bool) bool {
	var scopes scopeList
	s := speller{rest: name[len("_Z"):], begin: true, scopes: &scopes}
	for word, ok := s.next(); ok && word != ""; word, ok = s.next() {
	}
	for _, scope := range scopes.found {
		if !strings.HasPrefix(scope, "_GLOBAL__N") && !yield(scope) {
			return false
		}
	}
	return true
}

// A scopeList takes note of the scopes in a name that a speller goes through. In N…E each
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
