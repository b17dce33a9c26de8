package budget

import "github.com/go-afdo/afdo"

// Names of a unit share prefixes in the file: spelled out, those of real ones take less than four
// times its size. All units together may take four times what one may, and eight times the file
// besides.
const (
	unitNamesPerByte = 4
	freeUnitNames    = 4 << 20
)

// Names is the option that lets the names of a file of a size take a few times the memory of the
// file, not the hundreds of megabytes that are the default of package afdo.
func Names(size int64) afdo.Option {
	return afdo.MaxNameBytes(int(min(afdo.DefaultMaxNameBytes, freeUnitNames+unitNamesPerByte*min(size, afdo.DefaultMaxNameBytes))))
}
