package memprof_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// naive decodes a section as simply as possible, and returns the same text as plain. It panics if
// the section is malformed.
func naive(section []byte, offset int64) string {
	u64 := func(at uint64) uint64 { return binary.LittleEndian.Uint64(section[at:]) }
	u32 := func(at uint64) uint64 { return uint64(binary.LittleEndian.Uint32(section[at:])) }
	u16 := func(at uint64) uint64 { return uint64(binary.LittleEndian.Uint16(section[at:])) }
	at := func(i int) uint64 { return u64(uint64(8*i)) - uint64(offset) }
	version := u64(0)
	schemaAt := map[uint64]uint64{2: 48, 3: 32, 4: 40 + 4}[version]
	if version == 4 {
		schemaAt += 8 * u32(40)
	}
	schema := u64(schemaAt)
	end := schemaAt + 8 + 8*schema

	// table returns where the data of each key is and how long.
	table := func(payload, head uint64, lean bool) (keys []uint64, data map[uint64][2]uint64) {
		data = make(map[uint64][2]uint64)
		for left := u64(head + 8); left > 0; {
			n := u16(payload)
			payload += 2
			for range n {
				payload += 8
				if !lean {
					payload += 8
				}
				size, key := u64(payload), u64(payload+8)
				keys = append(keys, key)
				data[key] = [2]uint64{payload + 16, size}
				payload += 16 + size
				left--
			}
		}
		return keys, data
	}
	frame := func(at uint64) string {
		return fmt.Sprintf(" %x:%d:%d:%v", u64(at), u32(at+8), u32(at+12), section[at+16] != 0)
	}
	var stack func(id uint64) string
	recordPayload, recordTable, idSize := at(2), at(3), uint64(4)
	if version == 2 {
		recordPayload, recordTable, idSize = end, at(1), 8
		_, frames := table(at(2), at(3), false)
		_, stacks := table(at(4), at(5), true)
		stack = func(id uint64) (s string) {
			for i := range stacks[id][1] / 8 {
				s += frame(frames[u64(stacks[id][0]+8*i)][0])
			}
			return s
		}
	} else {
		stack = func(id uint64) (s string) {
			i := at(1) + 4*id
			n := u32(i)
			for i += 4; n > 0; n, i = n-1, i+4 {
				if v := u32(i); v>>31 == 1 {
					i += 4 * (1<<32 - v)
				}
				s += frame(end + 17*u32(i))
			}
			return s
		}
	}
	id := func(at uint64) uint64 {
		if idSize == 8 {
			return u64(at)
		}
		return u32(at)
	}
	sizes := [...]uint64{0, 4, 8, 8, 8, 8, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 4, 8, 8, 4, 4, 8, 4, 4, 4, 8}
	var lines []string
	keys, data := table(recordPayload, recordTable, false)
	for _, key := range keys {
		p := data[key][0]
		lines = append(lines, fmt.Sprintf("%x", key))
		n := u64(p)
		p += 8
		for range n {
			var block [28]uint64
			line := fmt.Sprintf("%x alloc%s", key, stack(id(p)))
			p += idSize
			for i := range schema {
				tag := u64(schemaAt + 8 + 8*i)
				if block[tag] = u32(p); sizes[tag] == 8 {
					block[tag] = u64(p)
				}
				p += sizes[tag]
			}
			block[27] = 0
			lines = append(lines, fmt.Sprintf("%s %v", line, block))
		}
		n = u64(p)
		p += 8
		for range n {
			lines = append(lines, fmt.Sprintf("%x call%s", key, stack(id(p))))
			if p += idSize; version == 4 {
				p += 8 + 8*u64(p)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
