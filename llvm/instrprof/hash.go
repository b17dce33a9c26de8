package instrprof

import (
	"crypto/md5" //nolint:gosec // the format's hash
	"encoding/binary"
)

// NameHash returns what stands for a name in indexed and raw files: the first eight bytes of its
// MD5, little-endian.
func NameHash(name string) uint64 { return nameHash([]byte(name)) }

func nameHash(name []byte) uint64 {
	sum := md5.Sum(name)
	return binary.LittleEndian.Uint64(sum[:])
}
