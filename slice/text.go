package slice

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/canonical"
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
	words   map[uint32]bool // by hash, and whether they are scopes: one that is in it only by chance makes a slice larger
	defined map[string]struct{}
	labels  map[string]struct{} // names that functions are given for the assembler
	unsure  bool                // any word may be that of a scope
}

// Add adds a text of C or C++.
func (t *Text) Add(text []byte) {
	if t.words == nil {
		*t = *newText()
	}
	definitions(text, textNotes{
		function: func(name []byte) { addBytes(t.defined, name) },
		word: func(word []byte) {
			if h := wordHash(word); !t.words[h] {
				t.words[h] = false
			}
		},
		label:  func(name []byte) { addBytes(t.labels, name) },
		scope:  func(word []byte) { t.words[wordHash(word)] = true },
		unsure: func() { t.unsure = true },
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
	names := make([]string, 0, len(t.defined)+len(unwritten))
	for name := range t.defined {
		names = append(names, name)
	}
	names = append(names, unwritten...)
	slices.Sort(names)
	return slices.Compact(names)
}

// unwritten are the functions that the compiler brings: those of lambdas,
// assignments and comparisons, conversions, whose names are types, and what runs
// before and after main.
var unwritten = []string{
	"operator()", "_FUN", "operator=", "operator==", conversionKey, oddKey,
	initializing + "0", "__tls_init",
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
func (t *Text) hasScope(name string) bool { return t.unsure || t.words[wordHash(name)] }

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
	return !isMangled(name) || spelledBy(name, func(w string) bool {
		return strings.HasPrefix(w, "__") || slices.Contains(unwritten, w) || word(w)
	}) && scopesOf(name, scope)
}

// Empty reports whether nothing has been added.
func (t *Text) Empty() bool { return len(t.words) == 0 }

// TextForm names the form that [Text.Encode] writes. It belongs into the keys of caches.
const TextForm = "afdo text 4"

// Encode returns the text in a form for [DecodeText].
func (t *Text) Encode() []byte {
	words := make([]uint32, 0, len(t.words))
	for w := range t.words {
		words = append(words, w)
	}
	slices.Sort(words)
	data := binary.AppendUvarint(nil, bit(t.unsure))
	data = binary.AppendUvarint(data, uint64(len(words)))
	last := uint32(0)
	for _, w := range words {
		data = binary.AppendUvarint(data, uint64(w-last)<<1|bit(t.words[w]))
		last = w
	}
	return appendNames(appendNames(data, t.defined), t.labels)
}

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func appendNames(data []byte, set map[string]struct{}) []byte {
	data = binary.AppendUvarint(data, uint64(len(set)))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		data = binary.AppendUvarint(data, uint64(len(name)))
		data = append(data, name...)
	}
	return data
}

// DecodeText reads what [Text.Encode] wrote. It returns false for anything else.
func DecodeText(data []byte) (t *Text, ok bool) {
	t = newText()
	next := func() uint64 {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			data, ok = nil, false
			return 0
		}
		data = data[n:]
		return v
	}
	ok = true
	t.unsure = next() != 0
	word := uint64(0)
	for n := next(); n > 0 && ok; n-- {
		gap := next()
		word += gap >> 1
		ok = ok && word < 1<<32
		t.words[uint32(word)] = gap&1 != 0
	}
	for _, set := range []map[string]struct{}{t.defined, t.labels} {
		for n := next(); n > 0 && ok; n-- {
			size := next()
			if size > uint64(len(data)) {
				return nil, false
			}
			set[string(data[:size])] = struct{}{}
			data = data[size:]
		}
	}
	return t, ok && len(data) == 0
}
