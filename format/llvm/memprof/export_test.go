package memprof

import "github.com/go-afdo/afdo/internal/fault"

// The classes of errors.
var (
	// Classes of errors that only this package uses.
	ErrOffset    = errOffset
	ErrSchema    = errSchema
	ErrValue     = errValue
	ErrHashTable = fault.ErrHashTable
)
