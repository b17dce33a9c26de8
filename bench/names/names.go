// Package names has encodings of a set of names in which a name can be looked
// up, to compare what they take and how fast they answer: the trie of version 4
// as it is, one that can be skipped through, and two hash tables.
//
// All of them give each name its index in the list that they were made of, and
// answer from their encoded bytes without decoding them first.
package names

import "encoding/binary"

// A Table is an encoded set of names.
type Table interface {
	// Find returns the index of a name.
	Find(name string) (index uint32, ok bool)
	// Size returns the bytes that the table takes.
	Size() int
}

// Kinds are the kinds of tables, and how to make one of names that are all different.
var Kinds = []struct {
	Name string
	New  func(names []string) (Table, error)
}{
	{"trie", newTrie},
	{"skip-trie", newSkipTrie},
	{"hash", newHash},
	{"hash-over-trie", newHashOverTrie},
}

// uvarint reads a varint at pos and returns where it ends. The tables here are
// this package's own, not anybody's input.
func uvarint(data []byte, pos int) (v, next int) {
	b := data[pos]
	if b < 0x80 {
		return int(b), pos + 1
	}
	u, n := binary.Uvarint(data[pos:])
	return int(u), pos + n
}
