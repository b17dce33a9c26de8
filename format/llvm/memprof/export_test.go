package memprof

// The classes of errors.
var (
	ErrOffset    = errOffset
	ErrSchema    = errSchema
	ErrValue     = errValue
	ErrHashTable = errHashTable
)
