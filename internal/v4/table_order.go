package v4

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Every writer that fills a file from front to back makes a section table in the order of the file.
// Such a table is checked in a pass that takes as little of each entry apart as it can.

// inOrder is scan for a table without fault that is in file order, and ends no later than at end.
// chunk returns bytes of the table from an offset on: all up to end, or more than a group of
// entries may have. It reports whether the table is one; scanAny finds out why not.
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

// passFixed notes which fixed sections lie behind a group of entries, which ends at end.
func (t *sectionTable) passFixed(group int, end int64) {
	for i := range t.fixed {
		if end <= t.fixed[i].off {
			t.fixed[i].group = group + 1
		}
	}
}

// orderScan is the state of the scan of a table in file order.
type orderScan struct {
	compact bool
	data    []byte
	pos     int
	limit   uint64 // size of the file
	end     uint64 // of the section before
	like    int    // bytes that the offset before took; compact tables only
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

// next checks any entry of varints.
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

// alike checks up to n entries of varints and returns how many it has: it stops at one of which the
// offset takes more bytes than those before or the size more than two, at a faulty one, and near
// the end of the data. Offsets of a table in order rarely change their length; knowing it, the
// processor need not find out where an entry begins before it goes on with the next.
//
// Numbers stay spread over the low seven bits of each byte, as varints have them. They compare as
// they are, and add up once the bits between are set, over which a carry then passes.
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
		longer := uint64(data[pos+s.like]) >> 7 // the size takes a second byte
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
