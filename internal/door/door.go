// Package door is how packages of this module get at what a Reader of package afdo knows and its
// users have no need for.
package door

import (
	"math"

	"github.com/go-afdo/afdo/internal/indexfmt"
)

// An Index is the index of a Reader's file.
type Index struct {
	*indexfmt.Index
	Section int // its section index
	Offset  int64
	Size    int64
	Compact bool
	Trusted bool // lookups are to go by it
	Lenient bool // a page that is damaged is no error of a lookup
}

// IndexOf returns the index of a Reader's file. The errors are those of index.Read. Package afdo
// sets it.
var IndexOf func(reader any) (*Index, error)

// MaxTableBytes is how many bytes the symbol tables of all units of a file of a size may take in a
// Reader: four times what the names of one unit may be, and eight times the file, several times
// what those of real files do.
func MaxTableBytes(maxNameBytes int, size int64) int64 {
	const perByte = 8
	return 4*int64(maxNameBytes) + perByte*min(size, math.MaxInt64/(2*perByte))
}
