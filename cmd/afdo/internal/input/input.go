// Package input opens the files that verbs read.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/internal/unpack"
)

// HeadLen is how much of a file tells what it is.
const HeadLen = unpack.HeadLen

// A File is a file that a verb reads, from its beginning to its end, and of which the first bytes
// can be looked at before. One that is compressed with gzip or zstd is what it holds. It is used by
// one goroutine.
type File struct {
	Name string // for messages
	Path string // of a regular file as it is, which can be mapped instead; empty for anything else

	// At reads a file of a server as it is, of which a part can be read instead, and Size is how
	// large that is; nil for anything else.
	At   io.ReaderAt
	Size int64

	Head []byte // the first HeadLen bytes, or all that there are

	src     *unpack.Stream
	file    io.Closer // what src reads, nil if it is not to be closed
	closers []io.Closer
	read    int64
	allowed int64 // of read, beyond the size of a compressed file
}

// StdinName is the name of standard input in messages.
const StdinName = "standard input"

// Open opens the file of a path or of a URL, or standard input for [cli.Stdio].
func Open(stdin io.Reader, path string) (*File, error) {
	if path == cli.Stdio {
		return New(StdinName, stdin)
	}
	if _, ok := fetch.Helper(path); ok {
		return openURL(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := New(path, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.file = file
	if err := f.findPath(path, file); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// findPath sets Path if the file can be opened by it again to read the same.
func (f *File) findPath(path string, file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	allowMemory(info.Size())
	if !f.src.Packed {
		f.Path = path
	}
	return nil
}

// New returns a file that is read from a stream.
func New(name string, src io.Reader) (*File, error) {
	s, err := unpack.New(src)
	if err != nil {
		return nil, Wrap(name, err)
	}
	return &File{Name: name, Head: s.Head, src: s}, nil
}

// Read reads on.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	f.read += int64(n)
	if f.src.Packed && f.read-f.allowed >= allowEvery {
		allowMemory(f.read - f.allowed)
		f.allowed = f.read
	}
	return n, err
}

// Offset returns how many bytes have been read.
func (f *File) Offset() int64 { return f.read }

// CloseToo has [File.Close] close something else first.
func (f *File) CloseToo(c io.Closer) { f.closers = append(f.closers, c) }

// Close closes the file. It was only read, so there is no error worth telling.
func (f *File) Close() {
	for _, c := range slices.Backward(f.closers) {
		_ = c.Close()
	}
	f.src.Close()
	if f.file != nil {
		_ = f.file.Close()
	}
}

// Profile opens what the file holds: in pieces if it can be, or else by reading on to its end.
// Closing the file closes the profile, too.
func (f *File) Profile(opts ...anyprof.Option) (p *anyprof.Profile, err error) {
	switch ctx := context.Background(); {
	case f.Path != "":
		p, err = anyprof.Open(ctx, f.Path, opts...)
	case f.At != nil:
		p, err = anyprof.OpenAt(ctx, f.At, f.Size, opts...)
	default:
		p, err = anyprof.Read(ctx, f, opts...)
	}
	if err != nil {
		return nil, err
	}
	if c, ok := p.Model().(io.Closer); ok {
		f.CloseToo(c)
	}
	return p, nil
}

// Wrap puts the name of the file before an error that names no file.
func (f *File) Wrap(err error) error { return Wrap(f.Name, err) }

// Wrap puts the name of a file before an error that names none and says something of it.
func Wrap(name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var usage *cli.UsageError
	var status cli.StatusError
	if err == nil || errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &usage) || errors.As(err, &status) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
