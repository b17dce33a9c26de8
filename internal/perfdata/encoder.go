package perfdata

import "encoding/binary"

// An encoder writes the fields that a cursor reads. It uses the byte order of this machine, which
// is also that of the kernel's records.
type encoder struct{ b []byte }

// nativeBig reports whether this machine is big-endian.
var nativeBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func (e *encoder) bytes(b []byte) { e.b = append(e.b, b...) }
func (e *encoder) zeros(n int)    { e.b = append(e.b, make([]byte, n)...) }
func (e *encoder) u16(v uint16)   { e.b = binary.NativeEndian.AppendUint16(e.b, v) }
func (e *encoder) u32(v uint32)   { e.b = binary.NativeEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64)   { e.b = binary.NativeEndian.AppendUint64(e.b, v) }
func (e *encoder) part(p part)    { e.u64(p.offset); e.u64(p.size) }

// name writes a NUL-terminated string, padded to a multiple of the given number of bytes.
func (e *encoder) name(s string, multiple int) {
	e.b = append(e.b, s...)
	e.zeros(multiple - len(s)%multiple)
}

// counted writes a string in the form that the optional sections of perf.data use. First comes the
// size of the string with its padding, then the string, a NUL, and the padding.
func (e *encoder) counted(s string) {
	const multiple = 64
	e.u32(uint32(len(s)/multiple*multiple + multiple))
	e.name(s, multiple)
}

// magic writes the magic number with which perf.data begins.
func (e *encoder) magic() {
	magic := magicLittle
	if nativeBig {
		magic = magicBig
	}
	e.bytes([]byte(magic))
}
