package names

import (
	"bytes"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/profile"
)

// trie is a compact string table (RFC 4.3). Nothing says where a node ends, so
// a lookup parses everything that stands before the name in the trie.
//
// The names are ones that fewer than 128 different bytes follow on any prefix of,
// so that no label is empty.
type trie struct {
	data    []byte
	indices []uint32 // by string index; not part of the table
}

// newTrie takes the string table out of a file with these names.
func newTrie(names []string) (Table, error) {
	p := profile.New()
	for _, name := range names {
		p.AddSymbol(profile.UnknownUnit, name)
	}
	var file bytes.Buffer
	if err := builder.Write(&file, p, builder.Options{Compact: true}); err != nil {
		return nil, err
	}
	r, err := afdo.OpenBytes(file.Bytes())
	if err != nil {
		return nil, err
	}
	t := &trie{indices: make([]uint32, len(names))}
	for s, err := range r.Sections() {
		if err != nil {
			return nil, err
		}
		if s.Type == afdo.SectionStringTable {
			t.data = file.Bytes()[s.Offset : s.Offset+s.Size]
		}
	}
	rank := make(map[string]uint32, len(names))
	for i, name := range names {
		rank[name] = uint32(i)
	}
	_, pos := uvarint(t.data, 1)
	t.index(pos, nil, rank)
	return t, nil
}

// index fills in the indices of the names below the node at pos, which stands
// for a prefix, and returns where it ends.
func (t *trie) index(pos int, prefix []byte, rank map[string]uint32) int {
	mask := t.data[pos]
	pos++
	if mask&0x80 != 0 {
		str, next := uvarint(t.data, pos)
		t.indices[str], pos = rank[string(prefix)], next
	}
	for range mask & 0x7f {
		n, start := uvarint(t.data, pos)
		pos = t.index(start+n, append(prefix, t.data[start:start+n]...), rank)
	}
	return pos
}

func (t *trie) Size() int { return len(t.data) }

func (t *trie) Find(name string) (uint32, bool) {
	str, ok := t.find(name)
	if !ok {
		return 0, false
	}
	return t.indices[str], true
}

// find returns the string index of a name.
func (t *trie) find(name string) (str int, ok bool) {
	_, pos := uvarint(t.data, 1) // behind the bitmask: the number of strings
	for {
		mask := t.data[pos]
		pos++
		if mask&0x80 != 0 {
			if str, pos = uvarint(t.data, pos); name == "" {
				return str, true
			}
		}
		if pos, ok = t.follow(int(mask&0x7f), pos, &name); !ok {
			return 0, false
		}
	}
}

// follow finds the child with which name goes on, one of so many at pos, and cuts its label off
// name.
func (t *trie) follow(children, pos int, name *string) (child int, ok bool) {
	for range children {
		n, start := uvarint(t.data, pos)
		pos = start + n
		if n <= len(*name) && (*name)[:n] == string(t.data[start:pos]) {
			*name = (*name)[n:]
			return pos, true
		}
		pos = t.skip(pos)
	}
	return 0, false
}

// skip returns where the node at pos ends, with all below it.
func (t *trie) skip(pos int) int {
	for pending := 1; ; {
		mask := t.data[pos]
		pos++
		if mask&0x80 != 0 {
			for t.data[pos] >= 0x80 {
				pos++
			}
			pos++
		}
		if pending += int(mask&0x7f) - 1; pending == 0 {
			return pos
		}
		n, start := uvarint(t.data, pos)
		pos = start + n
	}
}
