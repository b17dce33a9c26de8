package slice

import (
	"encoding/binary"
	"maps"
	"slices"
)

// TextForm names the form that [Text.Encode] writes. It belongs into the keys of caches.
const TextForm = "afdo text 10"

// Encode returns the text in a form for [DecodeText].
func (t *Text) Encode() []byte {
	words := make([]uint32, 0, len(t.words))
	for w := range t.words {
		words = append(words, w)
	}
	slices.Sort(words)
	data := binary.AppendUvarint(nil, bit(t.anyScope)|bit(t.onlyC)<<1)
	data = binary.AppendUvarint(data, uint64(len(words)))
	last := uint32(0)
	for _, w := range words {
		data = binary.AppendUvarint(data, uint64(w-last)<<1|bit(t.words[w]))
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

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func appendNames(data []byte, set map[string]struct{}) []byte {
	data = binary.AppendUvarint(data, uint64(len(set)))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		data = appendName(data, name)
	}
	return data
}

func appendName(data []byte, name string) []byte {
	return append(binary.AppendUvarint(data, uint64(len(name))), name...)
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
	name := func() string {
		size := next()
		if size > uint64(len(data)) {
			data, ok = nil, false
			return ""
		}
		s := string(data[:size])
		data = data[size:]
		return s
	}
	ok = true
	flags := next()
	t.anyScope, t.onlyC, ok = flags&1 != 0, flags&2 != 0, ok && flags < 4
	word := uint64(0)
	for n := next(); n > 0 && ok; n-- {
		gap := next()
		word += gap >> 1
		ok = ok && word < 1<<32
		t.words[uint32(word)] = gap&1 != 0
	}
	for _, set := range []map[string]struct{}{t.defined, t.labels} {
		for n := next(); n > 0 && ok; n-- {
			set[name()] = struct{}{}
		}
	}
	for n := next(); n > 0 && ok; n-- {
		outer := name()
		t.inlines[outer] = nil
		for names := next(); names > 0 && ok; names-- {
			t.inlines[outer] = append(t.inlines[outer], name())
		}
	}
	return t, ok && len(data) == 0
}
