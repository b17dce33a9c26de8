package indexfmt

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Sum returns the checksum of the bytes of a section.
func Sum(data []byte) uint32 { return uint32(xxhash.Sum64(data)) }

// Checksum returns the checksum of a section before the index.
func (x *Index) Checksum(section int) (uint32, error) {
	v, err := x.bits(x.byKind[Checksums].Off+int64(section)*SumSize, 0, 8*SumSize)
	return uint32(v), err
}

// AppendChecksum appends the checksum of the next section.
func AppendChecksum(dst []byte, sum uint32) []byte { return binary.BigEndian.AppendUint32(dst, sum) }
