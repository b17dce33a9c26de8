package samples

// SetKernelSymbol gives a binary a symbol, as if its symbol table had it.
func SetKernelSymbol(b *Binary, name string, value uint64) {
	b.symbols = map[string]uint64{name: value}
}

// Address is [Layout.Offset] backwards.
func Address(l *Layout, offset uint64) (uint64, bool) { return l.code.Address(offset) }

// Recognise tells the format of an input by how it begins.
func Recognise(head []byte) Format { return recognise(head) }
