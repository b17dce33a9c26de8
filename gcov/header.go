package gcov

import (
	"encoding/binary"

	"github.com/go-afdo/afdo/internal/fault"
)

// The magic numbers in little-endian and big-endian files, and that of version 4.
const (
	magicLittle   = "adcg"
	magicBig      = "gcda"
	magicVersion4 = "gcov"
)

const headerSize = 12 // magic, version, 0

// A Header is the decoded header of a file.
type Header struct {
	Version   uint32 // 2 or 3
	ByteOrder binary.ByteOrder
}

// DecodeHeader decodes the header from the first bytes of a file, at least 12. If this package
// cannot read the file, the error is a [*afdo.VersionError] or matches afdo.ErrMagic.
func DecodeHeader(data []byte) (Header, error) {
	h := Header{ByteOrder: binary.LittleEndian}
	switch string(data[:min(4, len(data))]) {
	case magicLittle:
	case magicBig, magicVersion4:
		h.ByteOrder = binary.BigEndian
	default:
		return Header{}, faultAt(0, fault.ErrMagic, "the file does not begin with %s or %s", magicLittle, magicBig)
	}
	if len(data) < headerSize {
		return Header{}, faultAt(int64(len(data)), fault.ErrTruncated, "the header is cut")
	}
	h.Version = h.ByteOrder.Uint32(data[4:])
	if h.Version != version2 && h.Version != version3 || string(data[:4]) == magicVersion4 {
		return Header{}, versionError(string(data[:4]), h.Version)
	}
	return h, nil
}

func (e *encoder) header() {
	if e.big {
		e.data = append(e.data, magicBig...)
	} else {
		e.data = append(e.data, magicLittle...)
	}
	e.word(e.version)
	e.word(0)
}
