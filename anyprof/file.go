package anyprof

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/unpack"
)

// A File is a file that is open and of which nothing has been read but how it begins, which tells
// its format. What it holds is there as a [Profile] or, unpacked, as bytes: a caller takes the one
// or the other, once. It is used by one goroutine.
type File struct {
	format Format
	stream *unpack.Stream
	file   *os.File    // what OpenFile has opened
	path   string      // of a file that can be opened again to read the same, or empty
	at     io.ReaderAt // of a file that is read in pieces, or nil
	size   int64       // of what is read in pieces or by its path
	read   int64       // how far it has been read from its beginning
	onRead func(n int)

	profile *Profile // nil before it has been asked for
}

// OpenFile opens a file by its path. It must be a regular file; for pipes and the like use
// [ReadFile]. The caller closes the File. An error is that of the system or of unpacking, or
// matches [ErrUnknown].
func OpenFile(ctx context.Context, path string) (*File, error) {
	file, info, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := newFile(ctx, file, &File{file: file, path: path, at: file, size: info.Size()})
	if err != nil {
		file.Close()
	}
	return f, err
}

// readSize is how much of a file is read at a time where all of it is read through an io.ReaderAt.
const readSize = 4 << 20

// FileAt is [OpenFile] for a file of size bytes that is read through src, which must allow reads
// from many goroutines. Close does not close src.
func FileAt(ctx context.Context, src io.ReaderAt, size int64) (*File, error) {
	head := min(HeadLen, size)
	rest := bufio.NewReaderSize(io.NewSectionReader(src, head, size-head), readSize)
	whole := io.MultiReader(io.NewSectionReader(src, 0, head), rest)
	return newFile(ctx, whole, &File{at: src, size: size})
}

// ReadFile is [OpenFile] for a file that can be read only from its beginning to its end. Close does
// not close r.
func ReadFile(ctx context.Context, r io.Reader) (*File, error) {
	return newFile(ctx, r, new(File))
}

// newFile looks at how a file begins.
func newFile(ctx context.Context, whole io.Reader, f *File) (_ *File, err error) {
	if f.stream, err = unpack.New(&cancelable{ctx: ctx, r: whole}); err != nil {
		return nil, err
	}
	if err := f.detect(); err != nil {
		f.stream.Close()
		return nil, err
	}
	if f.stream.Packed {
		f.path, f.at = "", nil
	}
	return f, nil
}

// detect tells the format by the head, which it makes longer for a text with comments or long names
// before what tells it.
func (f *File) detect() (err error) {
	for {
		if f.format, err = Detect(f.stream.Head); err == nil || !lines.Undecided(f.stream.Head) {
			return err
		}
		if more, readErr := f.stream.More(); readErr != nil {
			return readErr
		} else if !more {
			break
		}
	}
	if lines.OnlyComments(f.stream.Head) {
		return ErrEmpty
	}
	return err
}

// Format returns the format, as far as the first bytes tell it: see [Detect].
func (f *File) Format() Format { return f.format }

// Head returns the first [HeadLen] bytes, or more of a text that begins with comments, or all there
// are.
func (f *File) Head() []byte { return f.stream.Head }

// Path returns the path by which the file can be opened again to read the same bytes, empty if it
// is compressed or was not opened by one.
func (f *File) Path() string { return f.path }

// Packed reports whether the file is compressed.
func (f *File) Packed() bool { return f.stream.Packed }

// OnRead has report called with how many more bytes have been read from the beginning of the file
// towards its end, unpacked. Of a file that is read in pieces there are none.
func (f *File) OnRead(report func(n int)) { f.onRead = report }

// Read reads on, from the beginning at first. What is compressed is unpacked.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.stream.Read(p)
	f.read += int64(n)
	if f.onRead != nil {
		f.onRead(n)
	}
	return n, err
}

// How many bytes there is memory for before they have been read: of a file of this machine, which
// has holes if it says more than it has, and of one whose size is a server's claim.
const (
	maxLocalHint  = 1 << 30
	maxRemoteHint = 48 << 20
)

// all reads the file to its end. Where its size is known the bytes are not moved as they arrive.
func (f *File) all() ([]byte, error) {
	hint := int64(maxRemoteHint)
	if f.file != nil {
		hint = maxLocalHint
	}
	var whole bytes.Buffer
	whole.Grow(int(min(f.size, hint)) + bytes.MinRead)
	_, err := whole.ReadFrom(f)
	return whole.Bytes(), err
}

// Profile opens the profile that the file holds: in pieces if the format and the file allow it, or
// else by reading to the end. It is the Profile of the File: to close the one closes the other. See
// [Open] for errors.
func (f *File) Profile(opts ...Option) (*Profile, error) {
	var o options
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	p, err := formats[f.format](f, &o)
	if err != nil {
		return nil, err
	}
	if p.format == 0 { // the head has told all
		p.format = f.format
	}
	p.concurrent = f.at != nil && f.file == nil
	p.file, f.profile = f, p
	return p, nil
}

// Close closes the file and its profile.
func (f *File) Close() error {
	if f.profile != nil {
		return f.profile.Close()
	}
	f.release()
	return nil
}

// release closes what is read. There is no error worth telling: nothing was written.
func (f *File) release() {
	f.stream.Close()
	if f.file != nil {
		_ = f.file.Close()
	}
}

// cancelable is a reader that fails once a context is done.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
