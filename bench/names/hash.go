package names

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// hash is an open-addressing hash table and the names behind it, plainly:
//
//	slots    8 bytes each: lower half of the name's xxhash64, where its entry begins; 0 if empty
//	entries  varint index, varint length, name
//
// Three of four slots are in use. The upper half of the hash says where to begin to look.
type hash struct {
	data  []byte
	slots uint32
}

const hashSlot = 8

func newHash(names []string) (Table, error) {
	t := &hash{slots: numSlots(len(names))}
	t.data = make([]byte, int(t.slots)*hashSlot)
	for i, name := range names {
		if uint64(len(t.data)) > math.MaxUint32 {
			return nil, errors.New("too many names for offsets of 32 bits")
		}
		h := xxhash.Sum64String(name)
		slot := home(h, t.slots)
		for binary.LittleEndian.Uint32(t.data[slot*hashSlot+4:]) != 0 {
			slot = (slot + 1) % t.slots
		}
		binary.LittleEndian.PutUint32(t.data[slot*hashSlot:], uint32(h))
		binary.LittleEndian.PutUint32(t.data[slot*hashSlot+4:], uint32(len(t.data)))
		t.data = binary.AppendUvarint(t.data, uint64(i))
		t.data = binary.AppendUvarint(t.data, uint64(len(name)))
		t.data = append(t.data, name...)
	}
	return t, nil
}

func numSlots(names int) uint32 { return uint32(names + names/3 + 1) }

// home returns where to begin to look for a hash.
func home(h uint64, slots uint32) uint32 {
	hi, _ := bits.Mul64(h, uint64(slots))
	return uint32(hi)
}

func (t *hash) Size() int { return len(t.data) }

func (t *hash) Find(name string) (uint32, bool) {
	h := xxhash.Sum64String(name)
	for slot := home(h, t.slots); ; {
		s := binary.LittleEndian.Uint64(t.data[slot*hashSlot:])
		if s == 0 {
			return 0, false
		}
		if uint32(s) == uint32(h) {
			i, pos := uvarint(t.data, int(s>>32))
			n, start := uvarint(t.data, pos)
			if string(t.data[start:start+n]) == name {
				return uint32(i), true
			}
		}
		if slot++; slot == t.slots {
			slot = 0
		}
	}
}

// hashOverTrie is a hash table beside a trie that has the names. It stores
// all 64 bits of the hash and takes them for the name: to be sure of
// a hit, one would have to follow the name through the trie, too.
//
//	slots  12 bytes each: xxhash64 of the name, its index plus one; 0 if empty
type hashOverTrie struct {
	data  []byte
	slots uint32
	trie  Table
}

const hashOverTrieSlot = 12

func newHashOverTrie(names []string) (Table, error) {
	names64 := make(map[uint64]bool, len(names))
	t := &hashOverTrie{slots: numSlots(len(names))}
	t.data = make([]byte, int(t.slots)*hashOverTrieSlot)
	for i, name := range names {
		h := xxhash.Sum64String(name)
		if names64[h] {
			return nil, errors.New("two names of one hash")
		}
		names64[h] = true
		slot := home(h, t.slots)
		for binary.LittleEndian.Uint32(t.data[slot*hashOverTrieSlot+8:]) != 0 {
			slot = (slot + 1) % t.slots
		}
		binary.LittleEndian.PutUint64(t.data[slot*hashOverTrieSlot:], h)
		binary.LittleEndian.PutUint32(t.data[slot*hashOverTrieSlot+8:], uint32(i+1))
	}
	var err error
	t.trie, err = newTrie(names)
	return t, err
}

func (t *hashOverTrie) Size() int { return len(t.data) + t.trie.Size() }

func (t *hashOverTrie) Find(name string) (uint32, bool) {
	h := xxhash.Sum64String(name)
	for slot := home(h, t.slots); ; {
		s := t.data[slot*hashOverTrieSlot:]
		i := binary.LittleEndian.Uint32(s[8:])
		if i == 0 {
			return 0, false
		}
		if binary.LittleEndian.Uint64(s) == h {
			return i - 1, true
		}
		if slot++; slot == t.slots {
			slot = 0
		}
	}
}
