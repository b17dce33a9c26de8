package v4

// A Handle is embedded in the Reader of package afdo. It gives other packages of this module access
// to the Reader's [File] without exporting anything to importers, who cannot name this package.
type Handle struct {
	file   *File
	public func(error) error
}

// NewHandle returns the handle of a file. public converts errors of this package to those of
// package afdo.
func NewHandle(v *File, public func(error) error) Handle { return Handle{v, public} }

func (h *Handle) held() *Handle { return h }

// A Holder is a type that embeds a [Handle].
type Holder interface{ held() *Handle }

// FileOf returns the file of a Reader, nil for the zero Reader.
func FileOf(r Holder) *File { return r.held().file }

// Public converts an error of this package about the Reader's file to one of package afdo.
func Public(r Holder, err error) error {
	if public := r.held().public; public != nil {
		return public(err)
	}
	return err
}
