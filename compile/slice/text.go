package slice

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
)

// A Text is what a slice depends on in the source text that a compile reads: the words of the text,
// and the unqualified names of the functions that it may define. The name of each function that the
// compile defines consists of words of the text. So the compile uses no other functions of a
// profile.
//
// A Text should be made of preprocessed sources, with line markers such as # 1 "a.cc": the
// functions that initialize the variables of a file are named after the file. If macros are not
// expanded, functions whose names only a macro puts together are missed.
//
// The zero Text is empty. Methods that only read may be called from many goroutines.
type Text struct {
	// OnlyC is set if the whole text is C. Such a text defines only functions whose names it
	// contains, so its slices contain no C++ functions.
	OnlyC bool

	// DropsUnused is set if the compiler drops inline functions of C that nothing mentions but
	// their own declarations, as GCC does without options that keep them: -fkeep-inline-functions,
	// OpenMP and plugins. Slices for GCC then omit these functions.
	DropsUnused bool

	words    map[uint32]wordUse  // by the word's wordHash; a hash that is equal by chance makes a slice larger
	defined  map[string]struct{} // unqualified names of functions that it may define
	labels   map[string]struct{} // assembler names that asm labels give to functions
	inlines  mangled.Inlines     // inline namespaces
	anyScope bool                // any word may be the name of a class or namespace
}

// A wordUse says how a text uses a word: whether it counts as mentioned, and whether it names a
// class or namespace.
type wordUse uint8

const (
	usedAsScope wordUse = 1 << iota // it is the name of a class, a namespace or an alias template
	mentioned                       // it occurs not only as the name of a function in declarations, see cxx.Notes
)

// Add adds a source text of C or C++ to the Text: its words, and the names of the functions that it
// may define.
func (t *Text) Add(text []byte) {
	if t.words == nil {
		empty := newText()
		t.words, t.defined, t.labels, t.inlines = empty.words, empty.defined, empty.labels, empty.inlines
	}
	cxx.Definitions(text, cxx.Notes{
		Function: func(name []byte) { addBytes(t.defined, name) },
		Word:     t.addWord,
		Label:    func(name []byte) { addBytes(t.labels, name) },
		Scope:    func(word []byte) { t.words[wordHash(word)] |= usedAsScope },
		Inline:   func(outer, name []byte) { t.inlines.Add(string(outer), string(name)) },
		AnyScope: func() { t.anyScope = true },
	})
}

// addWord adds a word to the text. If the word has characters that are not ASCII, it also adds the
// form that the word has in the names of functions that initialize variables, where each of these
// characters is replaced by '_'.
func (t *Text) addWord(word []byte, isMentioned bool) {
	h := wordHash(word)
	use, ok := t.words[h]
	if isMentioned && use&mentioned == 0 {
		t.words[h] = use | mentioned
	} else if !ok {
		t.words[h] = 0
	}
	if slices.ContainsFunc(word, func(c byte) bool { return c >= 0x80 }) {
		t.addWord([]byte(cxx.Cleaned(string(word))), isMentioned)
	}
}

// newText returns a Text without words, to which words can be added.
func newText() *Text {
	return &Text{words: make(map[uint32]wordUse), defined: make(map[string]struct{}), labels: make(map[string]struct{}), inlines: make(mangled.Inlines)}
}

// addBytes adds a name, given as bytes, to a set of strings. It allocates a string only if the set
// does not have the name yet.
func addBytes(set map[string]struct{}, name []byte) {
	if _, ok := set[string(name)]; !ok {
		set[string(name)] = struct{}{}
	}
}

// wordHash returns the hash of a word. A Text stores these hashes in place of the words.
func wordHash[T string | []byte](word T) uint32 {
	h := uint64(xxhash.Sum64String(string(word)))
	return uint32(h)
}

// names returns, in order, the unqualified names of the functions that the text may define. The
// result also has implicitNames: names that no text contains, because the compiler makes them.
func (t *Text) names() []string {
	names := make([]string, 0, len(t.defined)+len(implicitNames))
	for name := range t.defined {
		if t.isUnused(name) {
			continue
		}
		names = append(names, name)
		if cxx.IsMangled(name) { // one of C that looks like that
			names = append(names, cxx.KeyOf(name))
		}
	}
	names = append(names, implicitNames...)
	slices.Sort(names)
	return slices.Compact(names)
}

// isUnused reports whether GCC drops a function that the text defines: nothing mentions the
// function, and GCC itself makes no calls to it.
func (t *Text) isUnused(name string) bool {
	if !t.DropsUnused || !t.OnlyC || t.anyScope || cxx.MayBeCalledByGCC(name) {
		return false
	}
	use, ok := t.words[wordHash(name)]
	return ok && use&mentioned == 0
}

// mayDefine reports whether the text may define the function with a symbol.
func (t *Text) mayDefine(symbol string) bool {
	cut := symname.Canonical(symbol)
	return t.isLabel(cut) || t.OnlyC && t.has(cut) || t.mayName(cut) && needs(cut, requirement{t.has, t.hasScope, t.defines})
}

// mayName reports whether the compiler may give the canonical name cut to a function of the text.
// For a text of C++ it always may. For a text of C it may if the text contains the name, or if it
// is a name that the compiler makes for C as well. There are two kinds of these names: of code that
// runs before and after main, such as _GLOBAL__sub_I_f and _sub_I_00099_1, and of clones for
// vectors and transactions, such as _ZGVbN4v_f and _ZGTt1f.
func (t *Text) mayName(cut string) bool {
	return !t.OnlyC || t.has(cut) || strings.HasPrefix(cut, "_GLOBAL_") || strings.HasPrefix(cut, "_sub_") || strings.HasPrefix(cut, "_ZG")
}

// has reports whether the text contains a word.
func (t *Text) has(word string) bool {
	_, ok := t.words[wordHash(word)]
	return ok
}

// InlineRenames compares the inline namespaces in the symbols of a profile with those that the text
// opens. It returns the changes that give the symbols their present names, as pairs of mangled
// components: an old one and a new one, for example of the versions 1 and 2 of a library. It
// returns nil if the text may open namespaces by macros, because the names are then unknown.
func (t *Text) InlineRenames(symbols iter.Seq[string]) []string {
	if t.anyScope {
		return nil
	}
	return t.inlines.Renames(symbols, t.has)
}

// mayDefineRenamed reports whether the text may define the function that a symbol of the profile
// belongs to, if the text has replaced inline namespaces in the symbol by others.
func (t *Text) mayDefineRenamed(symbol string) bool {
	now := t.inlines.Spelled(symbol, t.has)
	return now != symbol && t.mayDefine(now)
}

// hasScope reports whether the text may define a class or an alias template with a name, or open a
// namespace with it.
func (t *Text) hasScope(name string) bool {
	return t.anyScope || t.words[wordHash(name)]&usedAsScope != 0
}

// defines reports whether the text may define a function with an unqualified name.
func (t *Text) defines(name string) bool {
	_, ok := t.defined[name]
	return ok || name == cxx.Placement && t.defines(cxx.Allocation)
}

// isLabel reports whether the text gives some function the assembler name name, by an asm label.
func (t *Text) isLabel(name string) bool {
	_, ok := t.labels[name]
	return ok
}

// A requirement has the functions that [needs] calls with what a text must contain if it defines a
// symbol. There is one function for a word, one for the definition of a class or namespace, and one
// for the definition of a function. needs does not require words that the compiler creates, such as
// __va_list_tag, or clang's $_0 for an unnamed type.
type requirement struct {
	word, scope, function func(string) bool
}

// needs finds out what a text must contain if it defines the symbol with the canonical name cut,
// such as words and classes. It calls the functions of r with each of these requirements, until one
// of them returns false. Then needs returns false, and otherwise true.
func needs(cut string, r requirement) bool {
	name := cut
	if variable, ok := cxx.CleansUp(name); ok {
		if variable == "" {
			return r.word("~")
		}
		name = variable
	} else if after, ok := cxx.InitializedBy(name); ok {
		name = after
	}
	if name != cut && !cxx.IsMangled(name) {
		return r.word(name)
	}
	if !cxx.IsMangled(name) {
		key := cxx.KeyOf(name)
		return (!cxx.IsOfLambda(key) || r.function(key)) && cxx.TemplateWords(name, r.word)
	}
	if allocation := cxx.AllocationOf(name); allocation != "" && !r.function(allocation) {
		return false
	}
	if cxx.IsOtherInvoke(name) && !r.function(cxx.Invoker) {
		return false
	}
	return cxx.Identifiers(name, func(w string) bool {
		return strings.HasPrefix(w, "__") || isUnnamed(w) || slices.Contains(implicitNames, w) || r.word(w)
	}) && cxx.Scopes(name, func(w string) bool { return isUnnamed(w) || r.scope(w) })
}

// isUnnamed reports whether a word is clang's name for a lambda or another type without a name.
func isUnnamed(word string) bool { return strings.HasPrefix(word, "$_") }

// Empty reports whether no source text has been added to the Text.
func (t *Text) Empty() bool { return len(t.words) == 0 }

// TextForm is the version of the encoding that [Text.Encode] writes. Keys of caches should contain
// it.
const TextForm = "afdo text 11"

// Encode encodes the words and names of the Text for a cache. [DecodeText] decodes them.
func (t *Text) Encode() []byte {
	words := make([]uint32, 0, len(t.words))
	for w := range t.words {
		words = append(words, w)
	}
	slices.Sort(words)
	data := binary.AppendUvarint(nil, bit(t.anyScope)|bit(t.OnlyC)<<1|bit(t.DropsUnused)<<2)
	data = binary.AppendUvarint(data, uint64(len(words)))
	last := uint32(0)
	for _, w := range words {
		data = binary.AppendUvarint(data, uint64(w-last)<<2|uint64(t.words[w]))
		last = w
	}
	data = appendNames(appendNames(data, t.defined), t.labels)
	data = binary.AppendUvarint(data, uint64(len(t.inlines)))
	for _, outer := range slices.Sorted(maps.Keys(t.inlines)) {
		names := t.inlines[outer]
		data = binary.AppendUvarint(appendName(data, outer), uint64(len(names)))
		for _, name := range names {
			data = appendName(data, name)
		}
	}
	return data
}

// bit returns 1 for true and 0 for false.
func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

// appendNames appends the number of names in a set and the names, in order, to encoded data.
func appendNames(data []byte, set map[string]struct{}) []byte {
	data = binary.AppendUvarint(data, uint64(len(set)))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		data = appendName(data, name)
	}
	return data
}

// appendName appends the length of a name and the name to encoded data.
func appendName(data []byte, name string) []byte {
	return append(binary.AppendUvarint(data, uint64(len(name))), name...)
}

// DecodeText returns the Text that [Text.Encode] has encoded. ok is false if data is malformed.
func DecodeText(data []byte) (t *Text, ok bool) {
	t = newText()
	d := decode.Buffer{Data: data}
	name := func() string { return string(d.Take(d.ULEB(), "a name")) }
	flags := d.ULEB()
	t.anyScope, t.OnlyC, t.DropsUnused = flags&1 != 0, flags&2 != 0, flags&4 != 0
	word := uint64(0)
	for n := d.ULEB(); n > 0 && d.Err == nil && word < 1<<32; n-- {
		gap := d.ULEB()
		word += gap >> 2
		t.words[uint32(word)] = wordUse(gap & 3)
	}
	for _, set := range []map[string]struct{}{t.defined, t.labels} {
		for n := d.ULEB(); n > 0 && d.Err == nil; n-- {
			set[name()] = struct{}{}
		}
	}
	for n := d.ULEB(); n > 0 && d.Err == nil; n-- {
		outer := name()
		t.inlines[outer] = nil
		for names := d.ULEB(); names > 0 && d.Err == nil; names-- {
			t.inlines[outer] = append(t.inlines[outer], name())
		}
	}
	return t, d.Err == nil && d.Rest() == 0 && flags < 8 && word < 1<<32
}
