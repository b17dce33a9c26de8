package anyprof

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"

	"github.com/go-afdo/afdo/internal/arriving"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/unpack"
	v4file "github.com/go-afdo/afdo/internal/v4"
)

// A File is an open file of which only the first bytes have been read, to detect its format. The
// caller then uses its contents once, either as a [Profile] or as uncompressed bytes. A File is not
// safe for concurrent use.
type File struct {
	format Format
	stream *unpack.Stream
	file   *os.File    // opened by OpenFile, or nil
	path   string      // path of a file that can be opened again to read the same bytes, or ""
	at     io.ReaderAt // for a file that can be read in pieces, or nil
	size   int64       // size of a file that has at or path
	read   int64       // number of bytes read sequentially so far
	onRead func(n int)

	profile *Profile // nil before Profile is called
}

// OpenFile opens a regular file. Use [ReadFile] for pipes and other files. The caller must close
// the File. Errors are those of the system and of decompression, or match [ErrUnknown].
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

// readSize is the size of each read when a whole file is read through an io.ReaderAt.
const readSize = 4 << 20

// FileAt is like [OpenFile] for a file of size bytes behind src, which must allow concurrent reads.
// Close does not close src.
func FileAt(ctx context.Context, src io.ReaderAt, size int64) (*File, error) {
	return newFile(ctx, sequential(src, size), &File{at: src, size: size})
}

// sequential returns a reader of a whole file. Its first read has only as many bytes as [Detect]
// needs. Later reads have readSize bytes.
func sequential(src io.ReaderAt, size int64) io.Reader {
	head := min(HeadLen, size)
	rest := bufio.NewReaderSize(io.NewSectionReader(src, head, size-head), readSize)
	return io.MultiReader(io.NewSectionReader(src, 0, head), rest)
}

// TrustedFileAt is like [FileAt] for a caller that trusts the index of a version 4 file, see
// [afdo.TrustIndex]. It recognises such a file by the end of the index, which holds a copy of the
// first bytes, so it saves a read. [File.Head] then returns this copy, which may be shorter than
// [HeadLen].
func TrustedFileAt(ctx context.Context, src io.ReaderAt, size int64) (*File, error) {
	f := &File{at: src, size: size}
	seekable, err := f.seek()
	if err != nil {
		return nil, err
	}
	head := v4file.HeadByEnd(f.at, f.size)
	if format, err := Detect(head); head != nil && err == nil && format == V4 {
		return f, f.known(ctx, head)
	}
	if seekable {
		return f, f.readHead(ctx)
	}
	return FileAt(ctx, src, size)
}

// ReadFile is like [OpenFile] for a file that can only be read sequentially. Close does not close
// r.
func ReadFile(ctx context.Context, r io.Reader) (*File, error) {
	return newFile(ctx, r, new(File))
}

// seek reads the end of the file, to find out whether the file has the zstd seekable format. If so,
// seek sets f.at to a reader of the uncompressed contents, and returns true.
func (f *File) seek() (bool, error) {
	s, err := unpack.OpenSeekable(f.at, f.size)
	if s != nil {
		f.path, f.at, f.size = "", s, s.Size()
	}
	return s != nil, err
}

// known sets the first bytes of a file to head, which has been read already, and detects the
// format. Later sequential reads of the file return these bytes first.
func (f *File) known(ctx context.Context, head []byte) error {
	f.stream = unpack.Known(head, &cancelable{ctx: ctx, r: sequential(f.at, f.size)})
	return f.detect()
}

// readHead reads the first bytes of a file of which parts can be read, and detects the format.
func (f *File) readHead(ctx context.Context) error {
	head, err := arriving.ReadAt(f.at, nil, 0, int(min(HeadLen, f.size)))
	if err != nil {
		return err
	}
	return f.known(ctx, head)
}

// newFile completes a File: it reads the first bytes from whole and detects the format. If the file
// is compressed, it sets up the decompression.
func newFile(ctx context.Context, whole io.Reader, f *File) (_ *File, err error) {
	whole = &cancelable{ctx: ctx, r: whole}
	if f.at != nil {
		head := make([]byte, HeadLen)
		n, err := io.ReadFull(whole, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		if bytes.HasPrefix(head[:n], []byte(unpack.ZstdMagic)) {
			seekable, err := f.seek()
			if err == nil && seekable {
				err = f.readHead(ctx)
			}
			if err != nil || seekable {
				return f, err
			}
		}
		whole = io.MultiReader(bytes.NewReader(head[:n]), whole)
	}
	if f.stream, err = unpack.New(whole); err != nil {
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

// detect detects the format from the first bytes. It reads more if a text begins with comments or
// long names.
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

// Format returns the format as detected from the first bytes, see [Detect].
func (f *File) Format() Format { return f.format }

// Head returns the first [HeadLen] bytes, or all if there are fewer, or more for a text that begins
// with comments.
func (f *File) Head() []byte { return f.stream.Head }

// InPieces reports whether parts of the file can be read without the others. It is false for a
// stream and for a file whose compression does not allow that. The readers of some formats read the
// whole file all the same.
func (f *File) InPieces() bool { return f.at != nil }

// Path returns the path at which the same bytes can be read again. It is empty if the file is
// compressed or was not opened by path.
func (f *File) Path() string { return f.path }

// Packed reports whether the file is compressed.
func (f *File) Packed() bool { return f.stream.Packed }

// OnRead sets a function that is called after each sequential read, with the number of uncompressed
// bytes read. It is not called for files that are read in pieces.
func (f *File) OnRead(report func(n int)) { f.onRead = report }

// Read reads the file sequentially, uncompressed.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.stream.Read(p)
	f.read += int64(n)
	if f.onRead != nil {
		f.onRead(n)
	}
	return n, err
}

// Limits on the memory that [File.ReadAll] allocates in advance, in bytes. The size of a file may
// be misleading: a local file may be sparse, and the size of a remote file is only what the server
// claims.
const (
	maxLocalHint  = 1 << 30
	maxRemoteHint = 48 << 20
)

// ReadAll reads the file to its end, uncompressed. If the size is known, it does not copy the bytes
// as the buffer grows.
func (f *File) ReadAll() ([]byte, error) {
	hint := int64(maxRemoteHint)
	if f.file != nil {
		hint = maxLocalHint
	}
	var whole bytes.Buffer
	whole.Grow(int(min(f.size, hint)) + bytes.MinRead)
	_, err := whole.ReadFrom(f)
	return whole.Bytes(), err
}

// Profile opens the profile in the file. It reads the file in pieces if the format and the file
// allow it, and otherwise to the end. The File and the Profile are closed together. See [Open] for
// errors.
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
	if p.format == 0 { // the opener does not know better
		p.format = f.format
	}
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

// release closes the files that are open. It ignores errors, because the files were only read.
func (f *File) release() {
	f.stream.Close()
	if f.file != nil {
		_ = f.file.Close()
	}
}

// A cancelable is a reader that fails once its context is done.
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
