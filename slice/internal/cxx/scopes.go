package cxx

// A function of a class is only there where the class is complete, and one of a namespace where
// that is opened: somewhere the name stands between "class", "struct", "union" or "namespace" and a
// brace, or a typedef gives it to a class that has none. So a text defines no function of a class
// that it merely mentions. GCC mangles templates of aliases like classes: somewhere their name
// stands between "using" and "=". Whose function a definition is cannot be told so easily, as there
// are typedefs, inline namespaces and friends.

// A scopeFinder finds those names among the tokens of a preprocessed text, but for those of
// typedefs.
type scopeFinder struct {
	notes Notes
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
			f.notes.AnyScope()
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
				f.notes.Scope(word)
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
