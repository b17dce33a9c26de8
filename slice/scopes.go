package slice

import "strings"

// A function of a class is only there where the class is complete, and one of a namespace where
// that is opened: somewhere the name stands between "class", "struct", "union" or "namespace" and a
// brace, or a typedef gives it to a class that has none. So a text defines no function of a class
// that it merely mentions. Whose function a definition is cannot be told so easily, as there are
// typedefs, inline namespaces and friends.

// A scopeFinder finds those names among the tokens of a preprocessed text.
type scopeFinder struct {
	notes    textNotes
	until    byte     // what ends the words below, 0 if there are none to come
	words    [][]byte // all words of what may be a head: the name, attributes, bases and their arguments
	depth    int      // of parentheses in it
	braces   int
	typedefs []int // how many braces are open around typedefs that have not ended
}

// What a text has more of is not remembered, and then all of its words count as scopes.
const (
	maxHeadWords = 1 << 12
	maxTypedefs  = 1 << 8
)

// The tokens that end the words of a head and make them scopes.
const (
	endOfHead    = '{'
	endOfTypedef = ';'
)

// identifier takes a word, and the first byte of the token before.
func (f *scopeFinder) identifier(word []byte, prev byte) {
	if f.until != 0 {
		if len(f.words) == maxHeadWords {
			f.notes.unsure()
			return
		}
		f.words = append(f.words, word)
		return
	}
	switch string(word) {
	case "class", "struct", "union":
		if prev != '<' && prev != ',' { // of a template's parameters
			f.until = endOfHead
		}
	case "namespace":
		f.until = endOfHead
	case "typedef":
		if prev == '}' { // struct { } typedef S;
			f.until = endOfTypedef
		}
		if len(f.typedefs) == maxTypedefs {
			f.notes.unsure()
			return
		}
		f.typedefs = append(f.typedefs, f.braces)
	}
}

func (f *scopeFinder) punctuation(c byte) {
	switch c {
	case '(':
		f.depth++
	case ')':
		f.depth--
		if f.depth < 0 { // a parameter
			f.close(false)
		}
	case '{':
		f.braces++
		if f.depth == 0 {
			f.close(true)
		}
	case '}':
		f.braces--
		if n := len(f.typedefs); f.until == 0 && n > 0 && f.typedefs[n-1] == f.braces {
			f.until, f.depth = endOfTypedef, 0
		}
	case ';':
		if f.depth == 0 {
			f.close(f.until == endOfTypedef)
		}
		if n := len(f.typedefs); n > 0 && f.typedefs[n-1] >= f.braces {
			f.typedefs = f.typedefs[:n-1]
		}
	}
	if f.until == 0 {
		f.depth = 0
	}
}

// close ends a head, whose words are those of a scope or not.
func (f *scopeFinder) close(scope bool) {
	if scope {
		for _, word := range f.words {
			f.notes.scope(word)
		}
	}
	f.until, f.words, f.depth = 0, f.words[:0], 0
}

// scopesOf calls yield for the classes and namespaces in a mangled name of which something is
// named there, until it returns false, and reports whether it never did. It may leave out some: of
// a name that it does not understand it yields none.
func scopesOf(name string, yield func(scope string) bool) bool {
	var scopes scopeList
	s := speller{rest: name[len("_Z"):], begin: true, scopes: &scopes}
	for {
		word, ok := s.next()
		if !ok {
			return true
		}
		if word == "" {
			break
		}
	}
	for _, scope := range scopes.found {
		if !strings.HasPrefix(scope, "__") && !strings.HasPrefix(scope, "_GLOBAL__N") && !yield(scope) {
			return false
		}
	}
	return true
}

// A scopeList takes note of the scopes in a name that a speller goes through. In N…E each component
// is one but for the last.
type scopeList struct {
	latest [maxQuickDepth + 1]string // by how much is open: the component that is a scope if another one follows
	found  []string
}

// follows tells that a component begins in the N that is open, depth deep. It is empty if it is
// none that could be a scope.
func (l *scopeList) follows(depth int, component string) {
	if scope := l.latest[depth]; scope != "" {
		l.found = append(l.found, scope)
	}
	l.latest[depth] = component
}
