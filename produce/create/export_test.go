package create

import "github.com/go-afdo/afdo/input/symbolize"

// Straight reports whether execution can have run from address begin to address end without a jump.
func Straight(f *symbolize.File, begin, end uint64) bool {
	return !newDecoder(f.ELF()).crosses(begin, end)
}
