package cxx

import (
	"strings"

	"github.com/go-afdo/afdo/internal/cpp"
)

// A scopeFinder finds the names of classes, namespaces and alias templates that a preprocessed text
// may define. Names that typedefs give to classes are left to the scanner.
//
// A text can define a function of a class only where the class is complete, and a function of a
// namespace only where the namespace is opened. So somewhere the name is between "class", "struct",
// "union" or "namespace" and a brace, or a typedef gives the name to an unnamed class. A text that
// only mentions a class defines none of its functions. GCC mangles alias templates like classes:
// somewhere their name is between "using" and "=". It is harder to find out to which scope a
// definition belongs, because of typedefs, inline namespaces and friends.
//
// The words from "class", "namespace" or "using" to the brace or "=" are called the head of a
// definition here.
type scopeFinder struct {
	notes Notes
	head  bool     // a head may have begun
	alias bool     // the head is of an alias template
	words [][]byte // all words of the head: the name, attributes, bases and their arguments
	depth int      // number of open parentheses in the head

	opened []byte // the namespace whose brace is the latest token
	inline bool   // the latest token is "inline" after that brace
	outer  []byte // the namespace around, if this head may be of an inline namespace
	space  bool   // the head is of a namespace
	using  bool   // the next word is the name of what may be an alias
	named  []byte // that name, which clang gives to a class without a name after the "="
}

// maxHeadWords limits how many words between "class" or "namespace" and the brace are stored. If
// there are more, all words of the text count as names of classes and namespaces.
const maxHeadWords = 1 << 12

// identifier reads a word of the text, which may be a keyword such as class or the name of a class.
// prev is the first byte of the token before the word.
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

// punctuation reads a character that is not part of a word or literal.
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

// namespace stores the name of a namespace at its opening brace, and reports it if it is inline.
func (f *scopeFinder) namespace() {
	if !f.space || len(f.words) != 1 {
		return
	}
	f.opened = f.words[0]
	if f.outer != nil {
		f.notes.Inline(f.outer, f.opened)
	}
}

// end ends the head of a definition: the words after "class", "namespace" or "using".
func (f *scopeFinder) end() {
	f.head, f.alias, f.space, f.words, f.depth = false, false, false, f.words[:0], 0
}

// UnnamedClass is the name that is reported for each class without a name that is outside of
// functions and classes. GCC calls these classes ._anon_7, and looks for their functions under the
// part of the symbol before the dot, such as _ZNK8. So it cannot distinguish them, and one may get
// the samples of another.
const UnnamedClass = "._anon"

// endsInUnnamed reports whether a mangled name, cut at its first dot, is that of a function of a
// class without a name. rest is the part that a nameReader could not read: the length of the
// class's name.
func endsInUnnamed(rest string) bool { return rest != "" && strings.Trim(rest, "0123456789") == "" }

// An unnamedFinder finds classes without a name in a preprocessed text. If attributes precede the
// name of a class, it may treat the class as one without a name.
type unnamedFinder struct {
	notes  Notes
	braces int  // number of open braces
	spaces int  // number of the outermost ones that are of namespaces and extern "C"
	space  bool // the head of a namespace has begun

	head  bool // the head of a class has begun
	named bool // the class has a name
	colon bool // the names of base classes follow
	bases bool // there was the name of a base class
	depth int  // number of open parentheses and brackets in the head
	typed bool // "typedef" was right before the head, or is the latest word

	body   bool // the body of a class without a name in a typedef is open
	naming bool // that body has been closed, and the names of the typedef follow
	words  int  // number of these names so far
}

// identifier reads a word of the text, which may be a keyword such as class or the name of a class.
// prev is the first byte of the token before the word.
func (f *unnamedFinder) identifier(word []byte, prev byte) {
	switch string(word) {
	case "typedef":
		f.typed, f.head = true, false
		return
	case "namespace":
		f.space = true
	case "class", "struct", "union":
		if prev != '<' && prev != ',' && f.braces == f.spaces { // of a template's parameters
			f.head, f.named, f.colon, f.bases, f.depth = true, false, false, false, 0
			return
		}
	}
	if f.head && f.depth == 0 && !cpp.TakesNoParameters(word) {
		f.bases = f.bases || f.colon
		f.named = f.named || !f.bases
	}
	f.typed = f.typed && f.head
	if f.naming {
		f.words++
		if f.words == 1 && (cpp.TakesNoParameters(word) || string(word) == "const" || string(word) == "volatile") {
			f.found()
		}
	}
}

// punctuation reads a character that is not part of a word, such as the brace after class. prev is
// the first byte of the token before the character.
func (f *unnamedFinder) punctuation(c, prev byte) {
	f.inNames(c)
	f.inHead(c, prev)
	switch c {
	case '{':
		f.open(prev)
	case '}':
		f.close()
	case ';', '=':
		f.space = false
	}
	f.typed = f.typed && f.head
}

// inNames reads a character among the names that a typedef gives to a class. If the first of these
// is not a plain name, as in "typedef struct { } *p", the class has no name.
func (f *unnamedFinder) inNames(c byte) {
	switch {
	case !f.naming:
	case f.words == 0, f.words == 1 && (c == '[' || c == '('):
		f.found()
	case c == ';', c == ',':
		f.naming = false
	}
}

// inHead reads a character between "class" and the brace of a class. It counts parentheses, and
// finds base classes and the end of the declaration.
func (f *unnamedFinder) inHead(c, prev byte) {
	switch {
	case !f.head:
		return
	case c == '(', c == '[':
		f.depth++
	case c == ')', c == ']':
		f.depth--
	case c == ':':
		f.colon = f.depth == 0 && !(f.colon && prev == ':') // the second one of a::b takes it back
	}
	if f.depth < 0 || f.depth == 0 && (c == ';' || c == '=') {
		f.head = false
	}
}

// open reads an opening brace. If it is that of a class, open finds out whether the class has a
// name. prev is the first byte of the token before the brace.
func (f *unnamedFinder) open(prev byte) {
	if f.braces == f.spaces && (f.space || prev == '"') {
		f.spaces++
	}
	f.braces++
	f.space = false
	if !f.head || f.depth > 0 {
		return
	}
	f.head = false
	switch {
	case f.named:
	case f.typed:
		f.body = true
	default:
		f.found()
	}
}

// close reads a closing brace. If it ends a class in a typedef, the names that the typedef gives to
// the class follow.
func (f *unnamedFinder) close() {
	f.braces = max(f.braces-1, 0)
	f.spaces = min(f.spaces, f.braces)
	if f.braces == f.spaces {
		f.naming, f.body, f.words = f.body, false, 0
	}
}

// found reports to Notes that the text defines a class without a name.
func (f *unnamedFinder) found() {
	f.naming = false
	f.notes.Scope([]byte(UnnamedClass))
}
