package wire

import "github.com/go-afdo/afdo/internal/decode"

// A Fault describes an error in the bytes of a section. It does not implement error: the caller,
// which knows the section, converts it.
type Fault = decode.Fault
