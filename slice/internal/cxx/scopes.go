package cxx

// A text can define a function of a class only where the class is complete, and a function of a
// namespace only where the namespace is opened: somewhere the name is between "class", "struct",
// "union" or "namespace" and a brace, or a typedef gives the name to an unnamed class. So a text
// defines no function of a class that it merely mentions. GCC mangles alias templates like classes:
// somewhere their name is between "using" and "=". It is harder to find out to which scope a
// definition belongs, because of typedefs, inline namespaces and friends.

// A scopeFinder finds those names among the tokens of a preprocessed text, except the names that
// typedefs give.
type scopeFinder struct {
	notes Notes
	head  bool     // one may have begun
	alias bool     // and it is that of an alias
	words [][]byte // all words of it: the name, attributes, bases and their arguments
	depth int      // of parentheses in it

	opened []byte // the namespace whose brace was opened just now
	inline bool   // "inline" follows
	outer  []byte // the namespace around the inline one that this head may be of
	space  bool   // the head is of a namespace
	using  bool   // the next word is the name of what may be an alias
	named  []byte // that name: clang gives it to the class without a name that follows
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
	opened, inline := f.opened, f.inline
	f.opened, f.inline, f.outer = nil, false, nil
	named := f.named
	f.named = nil
	if f.using {
		f.named = word
	}
	f.using = false
	switch string(word) {
	case "inline":
		f.opened, f.inline = opened, opened != nil
	case "class", "struct", "union":
		f.head = prev != '<' && prev != ',' // of a template's parameters
		if prev == '=' && named != nil {
			f.words = append(f.words, named)
		}
	case "namespace":
		f.head, f.space = true, true
		if inline {
			f.outer = opened
		}
	case "using":
		f.alias = prev != ';' && prev != '{' && prev != ':' // there the declaration of no template ends
		f.head, f.using = f.alias, !f.alias
	}
}

func (f *scopeFinder) punctuation(c byte) {
	f.opened, f.inline, f.using = nil, false, false
	if c != '=' {
		f.named = nil
	}
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
			f.namespace()
			f.end()
		}
	case ';':
		if f.depth == 0 {
			f.end()
		}
	}
}

// namespace takes note of the name of a namespace without attributes, at its brace.
func (f *scopeFinder) namespace() {
	if !f.space || len(f.words) != 1 {
		return
	}
	f.opened = f.words[0]
	if f.outer != nil {
		f.notes.Inline(f.outer, f.opened)
	}
}

func (f *scopeFinder) end() {
	f.head, f.alias, f.space, f.words, f.depth = false, false, false, f.words[:0], 0
}
