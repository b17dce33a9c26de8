package v4

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Every sequential writer creates a section table in file order. This file checks such a table in a
// fast pass that decodes as little of each entry as possible.

// inOrder scans a valid table in file order that ends at or before end. chunk returns bytes of the
// table from an offset on: either all up to end, or more than a group of entries can have. If
// inOrder returns false, scanAny finds out why.
func (t *sectionTable) inOrder(end int, chunk func(at int) ([]byte, error)) (ordered bool, err error) {
	s := orderScan{compact: t.Section.Compact, limit: uint64(t.size)}
	t.fixed[0].group, t.fixed[1].group = 0, 0
	at := t.entries
	var checkpoints []uint32
	if s.compact {
		checkpoints = make([]uint32, 0, t.groups()+1)
	}
	for i := 0; i < t.count; at += s.pos {
		if s.data, err = chunk(at); err != nil {
			return false, err
		}
		s.pos = 0
		for last := at+len(s.data) == end; i < t.count && (last || len(s.data)-s.pos >= maxGroupBytes); i += checkpointEvery {
			if s.compact {
				checkpoints = append(checkpoints, uint32(at+s.pos))
			}
			if !s.entries(min(checkpointEvery, t.count-i)) {
				return false, nil
			}
			t.passFixed(i/checkpointEvery, int64(s.end))
		}
	}
	if s.compact {
		checkpoints = append(checkpoints, uint32(at))
	}
	t.checkpoints, t.end = checkpoints, int64(at)
	return true, nil
}

// passFixed records the fixed sections that come after a group of entries, which ends at offset
// end.
func (t *sectionTable) passFixed(group int, end int64) {
	for i := range t.fixed {
		if end <= t.fixed[i].off {
			t.fixed[i].group = group + 1
		}
	}
}

// orderScan is the state of a scan of a table in file order.
type orderScan struct {
	compact bool
	data    []byte
	pos     int
	limit   uint64 // size of the file
	end     uint64 // end of the previous section
	like    int    // compact tables only: number of bytes of the previous offset
}

// entries checks the next n entries.
func (s *orderScan) entries(n int) bool {
	if !s.compact {
		return s.wide(n)
	}
	for ; n > 0; n-- {
		if n -= s.alike(n); n > 0 && !s.next() {
			return false
		}
	}
	return true
}

// wide checks n entries of fixed width.
func (s *orderScan) wide(n int) bool {
	if len(s.data)-s.pos < 16*n {
		return false
	}
	end, limit := s.end, s.limit
	table := s.data[s.pos : s.pos+16*n]
	for ; len(table) >= 16; table = table[16:] {
		off, size := binary.BigEndian.Uint64(table), binary.BigEndian.Uint64(table[8:])
		if off < end || size-1 >= limit || off > limit-size {
			return false
		}
		end = off + size
	}
	s.pos, s.end = s.pos+16*n, end
	return true
}

// next checks an entry of varints of any length.
func (s *orderScan) next() bool {
	off, n := wire.Varint(s.data[s.pos:])
	if n <= 0 {
		return false
	}
	size, m := wire.Varint(s.data[s.pos+n:])
	if m <= 0 || off < s.end || size-1 >= s.limit || off > s.limit-size {
		return false
	}
	s.pos, s.end, s.like = s.pos+n+m, off+size, n
	return true
}

// alike checks up to n entries of varints and returns the number of entries checked. It stops at an
// entry whose offset is longer than the previous one or whose size takes more than two bytes, at an
// invalid entry, and near the end of the data. In a table in file order, the length of offsets
// rarely changes. If it is known in advance, the processor need not determine where an entry begins
// before it continues with the next.
//
// Numbers stay in their encoded form, with seven bits per byte. Encoded numbers of the same length
// compare like decoded ones. To add them, the flag bits between the groups of seven bits are set,
// so that a carry passes over them.
func (s *orderScan) alike(n int) int {
	if s.like < 1 || s.like > 5 || s.end>>56 != 0 {
		return 0
	}
	shift := uint(8 * s.like)
	offset := uint64(1)<<shift - 1
	flags := offset & wire.VarintFlags
	continued := flags &^ (1 << (shift - 1))
	offset &^= flags
	data, pos, end := s.data, s.pos, wire.Spread7(s.end)
	done := 0
	for ; done < n && len(data)-pos >= 8; done++ {
		w := binary.LittleEndian.Uint64(data[pos:])
		longer := uint64(data[pos+s.like]) >> 7 // 1 if the size has a second byte
		size := w >> shift & (0x7f | 0xff00&-longer)
		off := w & offset
		if w&flags^continued|size&0x8000 != 0 || off < end || size == 0 {
			break
		}
		end = ((off | wire.VarintFlags) + size) &^ wire.VarintFlags
		pos += s.like + 1 + int(longer)
	}
	if last := wire.Gather7(end); last <= s.limit {
		s.pos, s.end = pos, last
		return done
	}
	return 0
}
