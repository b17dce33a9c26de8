package indexfmt

import (
	"encoding/binary"
	"math"
)

// Packed numbers have a fixed width in bits. The first number is in the highest bits of the first
// byte.

// packedSize returns the size in bytes of n numbers of width bits.
func packedSize(n uint64, width uint8) int64 { return int64((n*uint64(width) + 7) / 8) }

// bits returns the number of width bits, at most 56, that begins pos bits after offset off.
func (x *Index) bits(off int64, pos uint64, width uint8) (uint64, error) {
	if width == 0 {
		return 0, nil // such an array has no bytes and may be at the end of the content
	}
	off += int64(pos / 8)
	at := off % pageContent
	var w uint64
	if at <= pageContent-8 {
		p, err := x.page(off / pageContent)
		if err != nil {
			return 0, err
		}
		w = binary.BigEndian.Uint64(p[at:])
	} else {
		var b [8]byte
		if err := x.read(b[:min(8, x.size-off)], off); err != nil {
			return 0, err
		}
		w = binary.BigEndian.Uint64(b[:])
	}
	return w << (pos % 8) >> (64 - width), nil
}

// packer appends packed numbers.
type packer struct {
	dst  []byte
	bits uint64 // bits not appended yet
	n    uint8  // their number, below 8
}

// put appends a number of up to 56 bits.
func (p *packer) put(v uint64, width uint8) {
	p.bits = p.bits<<width | v&(math.MaxUint64>>(64-width))
	for p.n += width; p.n >= 8; p.n -= 8 {
		p.dst = append(p.dst, byte(p.bits>>(p.n-8)))
	}
}

// align advances to the next whole byte.
func (p *packer) align() {
	if p.n > 0 {
		p.put(0, 8-p.n)
	}
}
