package gcovkind

import (
	"bytes"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/profile"
)

// An Input is a GCOV profile that a verb reads. A version 4 file is read lazily.
type Input struct {
	*input.File
	Format Format
	Order  string // byte order of v2 and v3: "little-endian" or "big-endian"

	size    int64
	reader  *afdo.Reader // of v4; of other formats, once Reader has been called
	profile *profile.Profile
}

// Open opens what a file holds. Closing the file closes it, too.
func Open(f *input.File) (*Input, error) {
	p, err := f.Profile(anyprof.V4Options(afdo.TrustIndex()))
	if err != nil {
		return nil, err
	}
	in := &Input{File: f, Format: Format(p.Format()), size: p.Size()}
	if in.Format.Old() {
		in.Order = byteOrder(f.Head())
	}
	if in.Format.V4() {
		in.reader = p.Model().(*afdo.Reader)
		return in, nil
	}
	in.profile, err = p.GCOV()
	return in, err
}

func byteOrder(head []byte) string {
	if bytes.HasPrefix(head, []byte("gcda")) {
		return "big-endian"
	}
	return "little-endian"
}

// Size returns how many bytes the file has.
func (in *Input) Size() int64 { return in.size }

// Profile returns the whole profile in memory.
func (in *Input) Profile() (*profile.Profile, error) {
	if in.profile != nil {
		return in.profile, nil
	}
	p, err := profile.Read(in.reader)
	if err == nil {
		err = countNames(p, in.size)
	}
	if err != nil {
		return nil, err
	}
	in.profile = p
	return p, nil
}

// Reader returns a reader of the profile. What is not a version 4 file is made into one, in memory.
func (in *Input) Reader() (*afdo.Reader, error) {
	if in.reader != nil {
		return in.reader, nil
	}
	p, err := in.Profile()
	if err != nil {
		return nil, err
	}
	in.profile = nil
	in.reader, err = readerOf(p)
	return in.reader, err
}

// readerOf makes a version 4 file in memory.
func readerOf(p *profile.Profile) (*afdo.Reader, error) {
	var file bytes.Buffer
	if err := builder.Write(&file, p, builder.Options{}); err != nil {
		return nil, err
	}
	return afdo.OpenBytes(file.Bytes())
}
