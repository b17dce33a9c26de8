package perfdata

import "encoding/binary"

// An encoder writes the fields that a cursor reads, in the byte order of this machine, which is the
// one of the records that its kernel makes.
type encoder struct{ b []byte }

// nativeBig tells that this machine has the first byte at the top.
var nativeBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func (e *encoder) bytes(b []byte) { e.b = append(e.b, b...) }
func (e *encoder) zeros(n int)    { e.b = append(e.b, make([]byte, n)...) }
func (e *encoder) u16(v uint16)   { e.b = binary.NativeEndian.AppendUint16(e.b, v) }
func (e *encoder) u32(v uint32)   { e.b = binary.NativeEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64)   { e.b = binary.NativeEndian.AppendUint64(e.b, v) }
func (e *encoder) part(p part)    { e.u64(p.offset); e.u64(p.size) }

// name writes a string with NUL, padded to a multiple of a number.
func (e *encoder) name(s string, multiple int) {
	e.b = append(e.b, s...)
	e.zeros(multiple - len(s)%multiple)
}

// counted writes a string as features have it: its size with NUL and padding, then both.
func (e *encoder) counted(s string) {
	const multiple = 64
	e.u32(uint32(len(s)/multiple*multiple + multiple))
	e.name(s, multiple)
}

// magic writes what a recording begins with.
func (e *encoder) magic() {
	magic := magicLittle
	if nativeBig {
		magic = magicBig
	}
	e.bytes([]byte(magic))
}
