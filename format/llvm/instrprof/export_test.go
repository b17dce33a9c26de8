package instrprof

import "io"

// AddText adds a text, whatever it begins with.
func AddText(p *Profile, text io.Reader) error {
	t, err := newTextReader(text)
	if err != nil {
		return err
	}
	return (&adder{p: p, weight: 1}).text(t)
}

// EncodedValues returns the value data of a record as indexed files hold it.
func EncodedValues(r Record) []byte { return r.values.append(nil, sameValue) }

// The classes of errors.
var (
	ErrPointer   = errPointer
	ErrValues    = errValues
	ErrHashTable = errHashTable
)
