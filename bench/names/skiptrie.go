package names

import (
	"encoding/binary"
	"slices"
	"strings"
)

// skipTrie is a trie whose nodes say how long their children are: what the
// format could have been. A node is
//
//	varint  number of children, times two, plus one if a name ends here
//	varint  its index, if so
//	for each child: varint length of its label, label, varint size of the child, child
type skipTrie struct{ data []byte }

func newSkipTrie(names []string) (Table, error) {
	order := make([]uint32, len(names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(names[a], names[b]) })
	return &skipTrie{encodeNode(names, order, 0)}, nil
}

// encodeNode encodes names, in their order, all of which have the first prefix bytes in common.
func encodeNode(names []string, order []uint32, prefix int) []byte {
	var head, body []byte
	terminal := 0
	if len(names[order[0]]) == prefix {
		terminal = 1
		head = binary.AppendUvarint(head, uint64(order[0]))
		order = order[1:]
	}
	children := 0
	for len(order) > 0 {
		first := names[order[0]]
		n := 1
		for n < len(order) && names[order[n]][prefix] == first[prefix] {
			n++
		}
		label := common(first, names[order[n-1]])
		child := encodeNode(names, order[:n], label)
		body = binary.AppendUvarint(body, uint64(label-prefix))
		body = append(body, first[prefix:label]...)
		body = binary.AppendUvarint(body, uint64(len(child)))
		body = append(body, child...)
		order = order[n:]
		children++
	}
	node := binary.AppendUvarint(nil, uint64(2*children+terminal))
	return append(append(node, head...), body...)
}

// common returns how many bytes two strings begin with in common.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (t *skipTrie) Size() int { return len(t.data) }

func (t *skipTrie) Find(name string) (index uint32, ok bool) {
	for pos := 0; ; {
		head, next := uvarint(t.data, pos)
		pos = next
		if head&1 != 0 {
			if name == "" {
				i, _ := uvarint(t.data, pos)
				return uint32(i), true
			}
			_, pos = uvarint(t.data, pos)
		}
		if pos, ok = t.follow(head/2, pos, &name); !ok {
			return 0, false
		}
	}
}

// follow finds the child with which name goes on, one of so many at pos, and cuts its label off
// name.
func (t *skipTrie) follow(children, pos int, name *string) (child int, ok bool) {
	if *name == "" {
		return 0, false
	}
	for range children {
		n, label := uvarint(t.data, pos)
		size, child := uvarint(t.data, label+n)
		if t.data[label] == (*name)[0] { // no other child begins so
			if n > len(*name) || (*name)[:n] != string(t.data[label:label+n]) {
				return 0, false
			}
			*name = (*name)[n:]
			return child, true
		}
		pos = child + size
	}
	return 0, false
}
