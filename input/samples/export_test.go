package samples

// SetKernelSymbol gives a binary a symbol, as if its symbol table had it.
func SetKernelSymbol(b *Binary, name string, value uint64) {
	b.symbols = map[string]uint64{name: value}
}

// Address is [Layout.Offset] backwards.
func Address(l *Layout, offset uint64) (uint64, bool) { return l.code.Address(offset) }

// Recognise tells the format of an input by how it begins.
func Recognise(head []byte) Format { return recognise(head) }

// ErrNoCode is the error for a binary without code.
var ErrNoCode = errNoCode

// AddTime notes that a file offset was sampled at a time.
func (s *Set) AddTime(offset, time uint64) { s.addTime(offset, time) }
