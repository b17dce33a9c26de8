package budget

import "github.com/go-afdo/afdo"

// In the file, names of a unit share prefixes. Written out in full, the names of a real unit take
// less than four times the size of the file. v4.MaxTableBytes limits the names of all units
// together.
const (
	unitNamesPerByte = 4
	freeUnitNames    = 4 << 20
)

// Names is the option that lets the names of a file of a size take a few times the memory of the
// file, not the hundreds of megabytes that are the default of package afdo.
func Names(size int64) afdo.Option {
	return afdo.MaxNameBytes(int(min(afdo.DefaultMaxNameBytes, freeUnitNames+unitNamesPerByte*min(size, afdo.DefaultMaxNameBytes))))
}
