package indexfmt

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// places is an array of ascending numbers, each with an offset. Two blocks begin with one: that of
// groups of callers, by symbol ID, and that of the parts of names, by unit.
type places struct {
	x               *Index
	n               int
	idBits, offBits uint8
	rows            int64 // offset of the array in the content
	end             int64 // offset of the first byte after it
}

// places returns the array at the start of a block.
func (x *Index) places(kind Kind) (*places, error) {
	b := x.byKind[kind]
	f, err := x.fields(b.Off, int(min(b.Size, wire.MaxVarintLen+2)))
	if err != nil {
		return nil, err
	}
	n := f.Uint32()
	p := &places{x: x, n: int(n), idBits: f.Byte(), offBits: f.Byte()}
	if f.Err != nil {
		return nil, x.misread(b.Off, &f)
	}
	p.rows = b.Off + int64(f.Pos)
	p.end = p.rows + packedSize(uint64(n)+1, p.idBits+p.offBits)
	if p.idBits > 32 || p.offBits > 48 || p.end > b.Off+b.Size {
		return nil, x.fault(b.Off, "%d places of %d and %d bits in %d bytes", n, p.idBits, p.offBits, b.Size)
	}
	return p, nil
}

// row returns number i and its offset. The row after the last one has the end of what the offsets
// count in.
func (p *places) row(i int) (id uint32, off int64, err error) {
	pos := uint64(i) * uint64(p.idBits+p.offBits)
	first, err := p.x.bits(p.rows, pos, p.idBits)
	if err != nil {
		return 0, 0, err
	}
	at, err := p.x.bits(p.rows, pos+uint64(p.idBits), p.offBits)
	return uint32(first), int64(at), err
}

// at returns number i, its offset, and the offset of the next number. Offsets are at most size.
func (p *places) at(i int, size int64) (id uint32, from, to int64, err error) {
	id, from, err = p.row(i)
	if err != nil {
		return 0, 0, 0, err
	}
	_, to, err = p.row(i + 1)
	if err == nil && (from > to || to > size) {
		err = p.x.fault(p.rows, "place %d from %d to %d of %d", i, from, to, size)
	}
	return id, from, to, err
}

// find returns the position of the last number that is at most id, or -1 if there is none.
func (p *places) find(id uint32) (i int, err error) {
	above := sort.Search(p.n, func(i int) bool {
		first, _, e := p.row(i)
		if e != nil {
			err = e
		}
		return first > id
	})
	return above - 1, err
}

// appendPlaces appends an array of numbers and their offsets, of which there is one more.
func appendPlaces(dst []byte, compact bool, ids, offsets []uint64) []byte {
	dst = appendUint(dst, compact, 4, uint64(len(ids)))
	ids = append(ids, 0)
	idBits, offBits := uint8(bits.Len64(slices.Max(ids))), uint8(bits.Len64(offsets[len(offsets)-1]))
	p := packer{dst: append(dst, idBits, offBits)}
	for i, id := range ids {
		p.put(id, idBits)
		p.put(offsets[i], offBits)
	}
	p.align()
	return p.dst
}

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

// callersGroup returns the first callee of a group, and its offset and bytes.
func (x *Index) callersGroup(g *places, i int) (first uint32, off int64, data []byte, err error) {
	b := x.byKind[Callers]
	first, from, to, err := g.at(i, b.Size)
	if err != nil {
		return 0, 0, nil, err
	}
	data, err = x.content(b.Off+from, to-from)
	return first, b.Off + from, data, err
}

// findCallers returns the encoded list of a callee in a group whose first callee is given. It is
// empty if the group has none. Before each list is twice its size in bytes. This is an odd number
// if the list's callee does not directly follow the callee before. Then the distance comes next. A
// list without bytes is the same as the list before.
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

// AppendCallers returns the blocks of callers and of groups. lists yields the functions that were
// inlined, ascending, each with its callers, which ascend as well.
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

// CheckCallers compares the lists of callers with the expected ones.
func (x *Index) CheckCallers(want iter.Seq2[uint32, []uint32]) error {
	callers, groups := AppendCallers(x.compact, want)
	for _, b := range []struct {
		kind Kind
		want []byte
	}{{Callers, callers}, {CallerGroups, groups}} {
		got, err := x.All(b.kind)
		if err != nil || !bytes.Equal(got, b.want) {
			return orElse(err, x.fault(x.byKind[b.kind].Off, "the block of %s differs from the inlined functions of the file", b.kind))
		}
	}
	return nil
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

// The copies block has copies of the small parts of the index that a lookup needs before all
// others. It is near the end of the file, where one read has all of them.

// copied are the blocks whose first bytes are in the copies block.
var copied = [...]Kind{Names, Unqualified, Fingerprints}

// copies is the decoded block.
type copies struct {
	summary, fileNames uint32 // checksums
	heads              [numKinds][]byte
}

// copies returns the block, or nil if the index has none that can be used or reads are cheap.
func (x *Index) copies() *copies {
	if !x.Has(Copies) || !x.src.Slow() {
		return nil
	}
	if c := x.copied.Load(); c != nil {
		return c
	}
	b := x.byKind[Copies]
	f, err := x.fields(b.Off, int(min(b.Size, pageContent)))
	if err != nil {
		return nil
	}
	c := decodeCopies(&f)
	if c != nil {
		x.copied.Store(c)
	}
	return c
}

func decodeCopies(f *wire.Fields) *copies {
	c := new(copies)
	sums := f.Take(2*SumSize, "checksums")
	for f.Err == nil && f.Rest() > 0 {
		kind := Kind(f.Byte())
		head := f.Take(int(f.Byte()), "the head of a block")
		if kind < numKinds {
			c.heads[kind] = head
		}
	}
	if f.Err != nil {
		return nil
	}
	c.summary, c.fileNames = binary.BigEndian.Uint32(sums), binary.BigEndian.Uint32(sums[SumSize:])
	return c
}

// FixedChecksums returns the checksums of the summary and of the file names from their copies. It
// returns false if there are no copies, or if reads are cheap.
func (x *Index) FixedChecksums() (summary, fileNames uint32, ok bool) {
	if c := x.copies(); c != nil {
		return c.summary, c.fileNames, true
	}
	return 0, 0, false
}

// headFields returns a decoder for the first n bytes of a block, or for fewer of them if a copy has
// all that decode needs. It calls decode once or twice, and returns the position after the fields.
func (x *Index) headFields(kind Kind, b Block, n int, decode func(f *wire.Fields)) (pos int, err error) {
	if c := x.copies(); c != nil && c.heads[kind] != nil {
		f := wire.Fields{Data: c.heads[kind], Compact: x.compact}
		if decode(&f); f.Err == nil {
			return f.Pos, nil
		}
	}
	f, err := x.fields(b.Off, n)
	if err != nil {
		return 0, err
	}
	if decode(&f); f.Err != nil {
		return 0, x.misread(b.Off, &f)
	}
	return f.Pos, nil
}

// headOf returns the first bytes of a block that are copied.
func headOf(kind Kind, compact bool, data []byte) []byte {
	f := wire.Fields{Data: data, Compact: compact}
	if kind != Names {
		f.Take(int(f.Byte()), "the name of a scheme")
	}
	if kind != Fingerprints {
		decodeTable(&f)
	}
	return data[:f.Pos]
}

// AppendCopies appends the block of copies. blocks returns the contents of a block.
func AppendCopies(dst []byte, compact bool, summary, fileNames uint32, blocks func(Kind) []byte) []byte {
	dst = AppendChecksum(AppendChecksum(dst, summary), fileNames)
	for _, kind := range copied {
		data := blocks(kind)
		if len(data) == 0 {
			continue
		}
		if head := headOf(kind, compact, data); len(head) <= 0xff {
			dst = append(append(dst, byte(kind), byte(len(head))), head...)
		}
	}
	return dst
}

// CheckCopies compares the block of copies with the expected one.
func (x *Index) CheckCopies(summary, fileNames uint32) error {
	got, err := x.All(Copies)
	if err != nil {
		return err
	}
	want := AppendCopies(nil, x.compact, summary, fileNames, func(kind Kind) []byte {
		data, readErr := x.All(kind)
		err = orElse(err, readErr)
		return data
	})
	if err != nil || !bytes.Equal(got, want) {
		return orElse(err, x.fault(x.byKind[Copies].Off, "the copies differ from the blocks and checksums of the index"))
	}
	return nil
}
