package v4

// A Handle is what a Reader of package afdo embeds. It lets packages of this module have the [File]
// of the Reader: they alone can name this package, and it exports nothing else.
type Handle struct {
	file   *File
	public func(error) error
}

// NewHandle returns the handle of a file. public makes errors of package afdo of those of this one.
func NewHandle(v *File, public func(error) error) Handle { return Handle{v, public} }

func (h *Handle) held() *Handle { return h }

// A Holder is what embeds a [Handle].
type Holder interface{ held() *Handle }

// FileOf returns the file of a Reader, nil for the zero Reader.
func FileOf(r Holder) *File { return r.held().file }

// Public makes an error of package afdo of one of this package, which has come of the file of a
// Reader.
func Public(r Holder, err error) error {
	if public := r.held().public; public != nil {
		return public(err)
	}
	return err
}
