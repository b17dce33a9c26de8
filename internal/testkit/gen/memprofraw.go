package gen

import "encoding/binary"

// Values in the segments of RawMemory: their addresses, and the build ID of their binary.
const (
	memoryBase    = 0x400000
	memorySegment = 1 << 20
	memoryBuildID = 0x04030201
	memoryBlock   = 132 // bytes of the fields of version 3, all of which are 0
)

// RawMemory returns a raw memory profile of version 3 with the given numbers of blocks, addresses
// per stack, segments, and copies of each segment. Each stack has one address that no other stack
// has. Addresses start at 0x1000 in the binary, whose build ID is 01020304.
func RawMemory(blocks, addresses, segments, times int) []byte {
	p := appendWords([]byte("\x81rforpm\xff"), 3, 0, 0, 0, 0)
	patch := func(i int) { binary.LittleEndian.PutUint64(p[8*i:], uint64(len(p))) }
	patch(3)
	p = appendWords(p, uint64(segments*times))
	for range times {
		for i := range uint64(segments) {
			start := memoryBase + i*memorySegment
			p = appendWords(p, start, start+memorySegment, memoryBase, 4, memoryBuildID, 0, 0, 0)
		}
	}
	patch(4)
	p = appendWords(p, uint64(blocks))
	for i := range uint64(blocks) {
		p = append(appendWords(p, i), make([]byte, memoryBlock)...)
	}
	patch(5)
	p = appendWords(p, uint64(blocks))
	for i := range uint64(blocks) {
		p = appendWords(p, i, uint64(addresses), memoryBase+0x1000+i)
		for k := range uint64(addresses) - 1 {
			p = appendWords(p, memoryBase+0x1000+uint64(blocks)+k)
		}
	}
	patch(2)
	return p
}
