package wire

import "errors"

// Classes of faults, which package afdo exports.
var (
	ErrTruncated = errors.New("truncated section")
	ErrVarint    = errors.New("bad varint")
	ErrCount     = errors.New("bad count")
	ErrTrie      = errors.New("bad string table")
	ErrChecksum  = errors.New("bad checksum")
	ErrIndex     = errors.New("bad index")
	ErrLimit     = errors.New("limit exceeded")
)

// A Fault says what is wrong with the bytes of a section, and where in it. It is no error yet: who
// knows which section that is makes one of it.
type Fault struct {
	Pos    int   // of the offending byte
	Class  error // such as ErrTruncated
	Detail string
}
