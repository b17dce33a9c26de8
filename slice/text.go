package slice

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/slice/internal/cxx"
)

// A Text is what one compile reads, as far as slices need to know: the words
// that stand in it, and the unqualified names of the functions that it may define.
// A profile has samples of a function of the compile only under names that are
// made of these.
//
// A Text of preprocessed sources leaves out nothing; where macros have
// not been expanded, functions are missed whose names only a macro puts together.
//
// The zero Text is empty. Methods that only read may be called from many goroutines.
type Text struct {
	words    map[uint32]bool // by hash, and whether they are scopes: one that is in it only by chance makes a slice larger
	defined  map[string]struct{}
	labels   map[string]struct{} // names that functions are given for the assembler
	anyScope bool                // any word may be that of a scope
}

// Add adds a text of C or C++.
func (t *Text) Add(text []byte) {
	if t.words == nil {
		*t = *newText()
	}
	cxx.Definitions(text, cxx.Notes{
		Function: func(name []byte) { addBytes(t.defined, name) },
		Word: func(word []byte) {
			if h := wordHash(word); !t.words[h] {
				t.words[h] = false
			}
		},
		Label:    func(name []byte) { addBytes(t.labels, name) },
		Scope:    func(word []byte) { t.words[wordHash(word)] = true },
		AnyScope: func() { t.anyScope = true },
	})
}

func newText() *Text {
	return &Text{words: make(map[uint32]bool), defined: make(map[string]struct{}), labels: make(map[string]struct{})}
}

// addBytes adds to a set, and makes a string only of what is new.
func addBytes(set map[string]struct{}, name []byte) {
	if _, ok := set[string(name)]; !ok {
		set[string(name)] = struct{}{}
	}
}

func wordHash[T string | []byte](word T) uint32 {
	h := uint64(xxhash.Sum64String(string(word)))
	return uint32(h)
}

// names returns the unqualified names of functions in the text, and of those
// that no text spells out, in order.
func (t *Text) names() []string {
	names := make([]string, 0, len(t.defined)+len(implicitNames))
	for name := range t.defined {
		names = append(names, name)
	}
	names = append(names, implicitNames...)
	slices.Sort(names)
	return slices.Compact(names)
}

// mayDefine reports whether a function that has one of the names may have that symbol.
func (t *Text) mayDefine(symbol string) bool { return needs(symbol, t.has, t.hasScope) }

// has reports whether a word stands in the text.
func (t *Text) has(word string) bool {
	_, ok := t.words[wordHash(word)]
	return ok
}

// hasScope reports whether the text may define a class or a template of aliases of that name, or
// open such a namespace.
func (t *Text) hasScope(name string) bool { return t.anyScope || t.words[wordHash(name)] }

// isLabel reports whether a function is given that name for the assembler.
func (t *Text) isLabel(name string) bool {
	_, ok := t.labels[name]
	return ok
}

// needs calls word for the words that have to stand in a text which defines a symbol, and scope for
// the classes and namespaces that it has to define, until one returns false, and reports whether
// none did. Words of the compiler's own, such as __va_list_tag, need not be there.
func needs(symbol string, word, scope func(string) bool) bool {
	name := canonical.Name(symbol)
	if rest, ok := strings.CutPrefix(name, "_GLOBAL__sub_"); ok {
		_, name, _ = strings.Cut(rest, "_")
	}
	return !cxx.IsMangled(name) || cxx.Identifiers(name, func(w string) bool {
		return strings.HasPrefix(w, "__") || slices.Contains(implicitNames, w) || word(w)
	}) && cxx.Scopes(name, scope)
}

// Empty reports whether nothing has been added.
func (t *Text) Empty() bool { return len(t.words) == 0 }
