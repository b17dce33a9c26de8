// Package guid makes what LLVM's profiles and pseudo probes have for the name of a function.
package guid

import (
	"crypto/md5" //nolint:gosec // the format's hash
	"encoding/binary"
)

// Of returns the first eight bytes of the MD5 of a name, little-endian.
func Of[Name string | []byte](name Name) uint64 {
	sum := md5.Sum([]byte(name))
	return binary.LittleEndian.Uint64(sum[:])
}
