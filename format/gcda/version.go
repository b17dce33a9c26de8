package gcda

import (
	"encoding/binary"
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// A Version is the version word of a file, four characters such as "B22*" for GCC 12.2.
type Version uint32

// The first and the last major version of GCC whose files this package can read.
const (
	oldest = 8
	newest = 16
)

// Major returns the major version of GCC, such as 12, or 0 if v is not a version.
func (v Version) Major() int {
	first, second, last := byte(v>>24), byte(v>>16), byte(v)
	switch {
	case last < ' ' || last > '~' || second < '0' || second > '9':
		return 0
	case first >= 'A' && first <= 'Z':
		return int(first-'A')*10 + int(second-'0')
	case first >= '0' && first <= '9':
		return int(first - '0')
	}
	return 0
}

// String returns the four characters of the version word, such as "B22*".
func (v Version) String() string {
	return string([]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// check returns an error if this package cannot read files of version v. kind is the magic number
// of the file, for the error.
func (v Version) check(kind string) error {
	major := v.Major()
	if major >= oldest && major <= newest {
		return nil
	}
	detail := fmt.Sprintf("version %q, not one of GCC %d to %d", v.String(), oldest, newest)
	return &fault.VersionError{Format: "gcda", Kind: kind, Version: uint64(v), Detail: detail}
}

// inBytes reports whether the lengths in a file count bytes instead of words. That is so since GCC
// 12. Since then, the header also has a checksum.
func (v Version) inBytes() bool { return v.Major() >= 12 }

// hasDir reports whether the header of a .gcno file has the directory of the compile. Files that
// have it also have the column at which a function ends.
func (v Version) hasDir() bool { return v.Major() >= 9 }

// hasHistogram reports whether a summary contains a histogram, as in GCC 8.
func (v Version) hasHistogram() bool { return v.Major() <= 8 }

// IsCounters reports whether a file begins like a .gcda file, perhaps of an unsupported version.
// Versions 2 and 3 of the GCOV AutoFDO format have the same magic number, but a small version.
func IsCounters(head []byte) bool {
	const size = 2 * wordSize
	if len(head) < size {
		return false
	}
	var order binary.ByteOrder = binary.BigEndian
	if head[0] == byte(magicCounters&0xff) {
		order = binary.LittleEndian
	}
	return order.Uint32(head) == magicCounters && Version(order.Uint32(head[wordSize:])).Major() > 0
}
