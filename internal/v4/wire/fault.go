package wire

import "github.com/go-afdo/afdo/internal/decode"

// A Fault describes a fault in the bytes of a section. It is not an error: the caller, which knows
// the section, makes one of it.
type Fault = decode.Fault
