package samples

// SetKernelSymbol sets the address that the linker assigned to a symbol of a kernel.
func SetKernelSymbol(b *Binary, name string, value uint64) {
	b.symbols = map[string]uint64{name: value}
}

// Address returns the address that the linker assigned to a file offset. It is the inverse of
// [Layout.Offset].
func Address(l *Layout, offset uint64) (uint64, bool) { return l.code.Address(offset) }

// Recognise returns the format of an input, given its first bytes.
func Recognise(head []byte) Format { return recognise(head) }

// ErrNoCode is errNoCode, the error for an ELF file without code.
var ErrNoCode = errNoCode

// AddTime records that a file offset was sampled at a time.
func (s *Set) AddTime(offset, time uint64) { s.addTime(offset, time) }
