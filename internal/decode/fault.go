package decode

// A Fault describes a fault in some bytes. It is not an error: the caller, which knows the origin
// of the bytes, makes one of it.
type Fault struct {
	Part   string // name of the part that was being read, if the format has such names
	Pos    int    // of the faulty byte
	Class  error  // such as fault.ErrTruncated
	Detail string
	Other  error // if set, an error that is not about these bytes; the other fields are unused
}

// Reworded returns a class with another text that matches class under errors.Is.
func Reworded(class error, text string) error { return &reworded{class, text} }

type reworded struct {
	class error
	text  string
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.class }
