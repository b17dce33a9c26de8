package decode

import "errors"

// Classes of faults, which package afdo exports.
var (
	ErrTruncated = errors.New("truncated section")
	ErrVarint    = errors.New("bad varint")
	ErrCount     = errors.New("bad count")
)

// A Fault says what is wrong with bytes, and where in them. It is no error yet: who knows what the
// bytes are makes one of it.
type Fault struct {
	Part   string // what was being read, if a format has names for that
	Pos    int    // of the offending byte
	Class  error  // such as ErrTruncated
	Detail string
	Other  error // instead of all this: an error that is not about these bytes
}

// Reworded returns a class that says what it is in other words and matches class under errors.Is.
func Reworded(class error, text string) error { return &reworded{class, text} }

type reworded struct {
	class error
	text  string
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.class }
