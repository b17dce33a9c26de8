package gcovkind

import (
	"bytes"
	"io"
	"os"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/cli/input"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// An Input is a GCOV profile that a verb reads. A version 4 file is read lazily; other formats are
// read whole when they are first needed.
type Input struct {
	*input.File
	Format Format
	Order  string // byte order of v2 and v3: "little-endian" or "big-endian"

	reader  *afdo.Reader // of v4; of other formats, once Reader has been called
	profile *profile.Profile
}

// Open recognises the format of a file. A version 4 file is mapped, or read in pieces if a server
// has it; what can be neither, standard input above all, is read into memory. Closing the file
// closes the reader, too.
func Open(f *input.File) (*Input, error) {
	in := &Input{File: f}
	var err error
	if in.Format, err = Recognise(f.Head); err != nil {
		return nil, err
	}
	switch {
	case in.Format.V4():
		err = in.openV4()
	case in.Format.Old():
		in.Order = byteOrder(f.Head)
	}
	return in, err
}

func byteOrder(head []byte) string {
	if hasMagic(head, "gcda") {
		return "big-endian"
	}
	return "little-endian"
}

func (in *Input) openV4() (err error) {
	switch {
	case in.Path != "":
		in.reader, err = OpenReader(in.Path, afdo.TrustIndex())
	case in.At != nil:
		in.reader, err = afdo.NewReader(in.At, in.File.Size, afdo.TrustIndex())
	default:
		var data []byte
		if data, err = io.ReadAll(in.File); err != nil {
			return err
		}
		in.reader, err = afdo.OpenBytes(data, afdo.TrustIndex(), boundNames(int64(len(data))))
	}
	if err != nil {
		return err
	}
	in.CloseToo(in.reader)
	if in.reader.Header().Compact {
		in.Format = V4Compact
	}
	return nil
}

// OpenReader opens a version 4 file. Its names may take a few times the memory of the file, not the
// hundreds of megabytes that are the default of package afdo.
func OpenReader(path string, options ...afdo.Option) (*afdo.Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return afdo.Open(path, append(slices.Clip(options), boundNames(info.Size()))...)
}

// Names of a unit share prefixes in the file: spelled out, those of real ones take less than four
// times its size. All units together may take four times what one may, and eight times the file
// besides.
const (
	namesPerByte = 4
	freeNames    = 4 << 20
)

func boundNames(size int64) afdo.Option {
	return afdo.MaxNameBytes(int(min(afdo.DefaultMaxNameBytes, freeNames+namesPerByte*min(size, afdo.DefaultMaxNameBytes))))
}

// Size returns how many bytes the file has, of other formats than version 4 once it has been read.
func (in *Input) Size() int64 {
	if in.Format.V4() {
		return in.reader.Size()
	}
	return in.Offset()
}

// Profile returns the whole profile in memory.
func (in *Input) Profile() (*profile.Profile, error) {
	if in.profile != nil {
		return in.profile, nil
	}
	var err error
	switch {
	case in.Format.V4():
		in.profile, err = profile.Read(in.reader)
	case in.Format.Old():
		in.profile, err = gcov.Read(in.File)
	default:
		in.profile, err = textfmt.Parse(in.File)
	}
	return in.profile, err
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
