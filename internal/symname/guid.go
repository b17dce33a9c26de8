package symname

import (
	"crypto/md5" //nolint:gosec // the format's hash
	"encoding/binary"
)

// GUID returns the hash of a function's name that LLVM's profiles and pseudo probes contain: the
// first eight bytes of the name's MD5, little-endian.
func GUID[Name string | []byte](name Name) uint64 {
	sum := md5.Sum([]byte(name))
	return binary.LittleEndian.Uint64(sum[:])
}
