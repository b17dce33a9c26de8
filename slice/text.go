package slice

import (
	"encoding/binary"
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
	words   map[uint32]struct{} // by hash: one that is in it only by chance makes a slice larger
	defined map[string]struct{}
}

// Add adds a text of C or C++.
func (t *Text) Add(text []byte) {
	if t.words == nil {
		t.words, t.defined = make(map[uint32]struct{}), make(map[string]struct{})
	}
	definitions(text, func(name []byte) {
		if _, ok := t.defined[string(name)]; !ok {
			t.defined[string(name)] = struct{}{}
		}
	}, func(word []byte) { t.words[wordHash(word)] = struct{}{} })
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
func (t *Text) mayDefine(symbol string) bool { return needs(symbol, t.has) }

// has reports whether a word stands in the text.
func (t *Text) has(word string) bool {
	_, ok := t.words[wordHash(word)]
	return ok
}

// needs calls yield for the words that have to stand in a text which defines a symbol, until it
// returns false, and reports whether it never did. Words of the compiler's own, such as
// __va_list_tag, need not be there.
func needs(symbol string, yield func(word string) bool) bool {
	name := canonical.Name(symbol)
	if rest, ok := strings.CutPrefix(name, "_GLOBAL__sub_"); ok {
		_, name, _ = strings.Cut(rest, "_")
	}
	return !isMangled(name) || spelledBy(name, func(word string) bool {
		return strings.HasPrefix(word, "__") || slices.Contains(unwritten, word) || yield(word)
	})
}

// Empty reports whether nothing has been added.
func (t *Text) Empty() bool { return len(t.words) == 0 }

// Encode returns the text in a form for [DecodeText].
func (t *Text) Encode() []byte {
	words := make([]uint32, 0, len(t.words))
	for w := range t.words {
		words = append(words, w)
	}
	slices.Sort(words)
	data := binary.AppendUvarint(nil, uint64(len(words)))
	last := uint32(0)
	for _, w := range words {
		data = binary.AppendUvarint(data, uint64(w-last))
		last = w
	}
	names := make([]string, 0, len(t.defined))
	for name := range t.defined {
		names = append(names, name)
	}
	slices.Sort(names)
	data = binary.AppendUvarint(data, uint64(len(names)))
	for _, name := range names {
		data = binary.AppendUvarint(data, uint64(len(name)))
		data = append(data, name...)
	}
	return data
}

// DecodeText reads what [Text.Encode] wrote. It returns false for anything else.
func DecodeText(data []byte) (t *Text, ok bool) {
	t = &Text{words: make(map[uint32]struct{}), defined: make(map[string]struct{})}
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
	word := uint64(0)
	for n := next(); n > 0 && ok; n-- {
		word += next()
		ok = ok && word < 1<<32
		t.words[uint32(word)] = struct{}{}
	}
	for n := next(); n > 0 && ok; n-- {
		size := next()
		if size > uint64(len(data)) {
			return nil, false
		}
		t.defined[string(data[:size])] = struct{}{}
		data = data[size:]
	}
	return t, ok && len(data) == 0
}
