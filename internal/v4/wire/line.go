package wire

// Offset returns how far a line is from the declaration of its function, by the number that a
// profile has for it. GCC keeps 16 bits of that, so numbers from 2^15 to 2^16 are of lines before
// the declaration (format note 25): no function is that long.
func Offset(line uint32) int32 {
	if line >= 1<<15 && line < 1<<16 {
		return int32(line) - 1<<16
	}
	return int32(line)
}

// Line is the reverse of [Offset].
func Line(offset int32) uint32 {
	if offset < 0 {
		return uint32(offset) & (1<<16 - 1)
	}
	return uint32(offset)
}
