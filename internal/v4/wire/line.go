package wire

// Offset converts the number of a line in a profile to its distance from the declaration of its
// function. GCC stores 16 bits, so numbers from 2^15 to 2^16 are lines before the declaration
// (format note 25). No function is long enough to make this ambiguous.
func Offset(line uint32) int32 {
	if line >= 1<<15 && line < 1<<16 {
		return int32(line) - 1<<16
	}
	return int32(line)
}

// Line is the inverse of [Offset].
func Line(offset int32) uint32 {
	if offset < 0 {
		return uint32(offset) & (1<<16 - 1)
	}
	return uint32(offset)
}
