package indexfmt

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The callers block lists, for each function that was inlined anywhere, the functions into which it
// was inlined, at any depth. Compiling a function's unit needs them, and without the lists all
// records would have to be read to find them. The lists are in groups, which are decoded as a
// whole. The groups block has the first function and the position of each group. It is a block of
// its own so that it can be near the end of the file. It is there even if no function was inlined.

// callersGroup is the number of lists in a group: a group has a few hundred bytes, and its place
// takes less than a bit for each list.
const callersGroup = 64

// HasCallers reports whether the index lists the functions into which each function was inlined.
func (x *Index) HasCallers() bool { return x.Has(CallerGroups) }

// Callers appends the functions into which a function was inlined.
func (x *Index) Callers(callee uint32, ids []uint32) ([]uint32, error) {
	g, err := x.places(CallerGroups)
	if err != nil {
		return nil, err
	}
	i, err := g.find(callee)
	if err != nil || i < 0 {
		return ids, err
	}
	first, off, data, err := x.callersGroup(g, i)
	if err != nil {
		return nil, err
	}
	list, ok := findCallers(data, first, callee)
	if ok {
		var callers []uint32
		callers, ok = ascending(list)
		ids = append(ids, callers...)
	}
	if !ok {
		return nil, x.fault(off, "group %d of callers is malformed", i)
	}
	return ids, nil
}

// callersGroup reads a group of lists of callers. It returns the callee to which the first list
// belongs, and the offset and the bytes of the group. i is the number of the group, and g has the
// positions of all groups.
func (x *Index) callersGroup(g *places, i int) (first uint32, off int64, data []byte, err error) {
	b := x.byKind[Callers]
	first, from, to, err := g.at(i, b.Size)
	if err != nil {
		return 0, 0, nil, err
	}
	data, err = x.content(b.Off+from, to-from)
	return first, b.Off + from, data, err
}

// findCallers searches a group of lists of callers for the list of a callee. It returns the encoded
// list, or nil if the group has none. ok is false if the group is malformed. first is the callee of
// the group's first list.
//
// Each list is preceded by twice its size in bytes, plus one if its callee is not the ID after that
// of the previous list. Then the difference of the two IDs comes next. A list of size 0 is the same
// as the previous one.
func findCallers(group []byte, first, callee uint32) (list []byte, ok bool) {
	f := wire.Fields{Data: group, Compact: true}
	for at := int64(first) - 1; f.Rest() > 0; {
		size, distance := f.Uint32(), int64(1)
		if size%2 != 0 {
			distance = int64(f.Uint32())
		}
		at += distance
		if size > 1 {
			list = f.Take(f.Count(uint64(size/2), 1, 1, "bytes"), "a list of callers")
		}
		if f.Err != nil || len(list) == 0 {
			return nil, false
		}
		if at == int64(callee) {
			return list, true
		}
		if at > int64(callee) {
			return nil, true
		}
	}
	return nil, true
}

// AppendCallers returns two blocks of an index: the lists of the functions into which each function
// was inlined, its callers, and the positions of groups of these lists. lists yields each inlined
// function in ascending order, with its callers, which ascend as well.
func AppendCallers(compact bool, lists iter.Seq2[uint32, []uint32]) (callers, groups []byte) {
	var firsts, offsets []uint64
	var list, previous []byte
	n, next := 0, uint32(0)
	for callee, ids := range lists {
		if n%callersGroup == 0 {
			firsts, offsets, next = append(firsts, uint64(callee)), append(offsets, uint64(len(callers))), callee
			previous = previous[:0]
		}
		list = appendAscending(list[:0], ids)
		if bytes.Equal(list, previous) {
			list = list[:0]
		} else {
			previous = append(previous[:0], list...)
		}
		e := wire.Encoder{Data: callers, Compact: true}
		if callee == next {
			e.Uint32(uint32(2 * len(list)))
		} else {
			e.Uint32(uint32(2*len(list) + 1))
			e.Uint32(callee - next + 1)
		}
		e.Bytes(list)
		callers, next = e.Data, callee+1
		n++
	}
	return callers, appendPlaces(nil, compact, firsts, append(offsets, uint64(len(callers))))
}

// ascending decodes ascending numbers, which are stored as the first number and the differences.
func ascending(data []byte) (numbers []uint32, ok bool) {
	next := uint64(0)
	for len(data) > 0 {
		v, n := wire.Varint(data)
		if n <= 0 || v > math.MaxUint32 || next+v > math.MaxUint32 {
			return nil, false
		}
		next += v
		numbers = append(numbers, uint32(next))
		next++
		data = data[n:]
	}
	return numbers, true
}

func appendAscending(dst []byte, numbers []uint32) []byte {
	next := uint32(0)
	for _, v := range numbers {
		dst = binary.AppendUvarint(dst, uint64(v-next))
		next = v + 1
	}
	return dst
}
