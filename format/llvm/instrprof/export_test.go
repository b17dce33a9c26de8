package instrprof

import (
	"io"

	"github.com/go-afdo/afdo/internal/fault"
)

// AddText adds a text to a profile without detecting its format.
func AddText(p *Profile, text io.Reader) error {
	t, err := newTextReader(text)
	if err != nil {
		return err
	}
	return (&adder{p: p, weight: 1}).text(t)
}

// EncodedValues returns the value data of a record in the encoding of indexed files.
func EncodedValues(r Record) []byte { return r.values.append(nil, sameValue) }

// The classes of errors.
var (
	// Classes of errors that only this package uses.
	ErrPointer   = errPointer
	ErrValues    = errValues
	ErrHashTable = fault.ErrHashTable
)
