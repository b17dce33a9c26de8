package wire

import (
	"errors"

	"github.com/go-afdo/afdo/internal/decode"
)

// Classes of faults, which package afdo exports.
var (
	ErrTruncated = decode.ErrTruncated
	ErrVarint    = decode.ErrVarint
	ErrCount     = decode.ErrCount
	ErrTrie      = errors.New("bad string table")
	ErrChecksum  = errors.New("bad checksum")
	ErrIndex     = errors.New("bad index")
	ErrLimit     = errors.New("limit exceeded")
)

// A Fault says what is wrong with the bytes of a section, and where in it. It is no error yet: who
// knows which section that is makes one of it.
type Fault = decode.Fault
