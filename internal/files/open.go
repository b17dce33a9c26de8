package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular matches the error for a path that is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge matches the error of [ReadFile] for a file above the limit.
var ErrTooLarge = errors.New("the file is too large")

// Open opens a regular file and returns its size, mode and times. It returns an error for anything
// else, without waiting: opening a FIFO would wait for a writer, and reading a device may never
// end. A file of size 0 whose content the kernel generates, as below /proc, counts as a device.
func Open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && info.Size() == 0 && isOfKernel(f) { // of the file that was opened
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// ReadFile reads a regular file of at most limit bytes. For a larger file the error is
// [ErrTooLarge]. Nothing is read then, unless the file grows meanwhile. After an error while
// reading, the result has the bytes read so far.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, info, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text bytes.Buffer
	n := info.Size()
	if n <= limit {
		text.Grow(int(n) + bytes.MinRead)
		n, err = text.ReadFrom(io.LimitReader(f, max(limit, limit+1)))
	}
	if err == nil && n > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)}
	}
	return text.Bytes(), err
}

// Head returns the first n bytes of a regular file, or fewer if the file is shorter. It returns
// none if the file cannot be read.
func Head(path string, n int) []byte {
	f, _, err := Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, n)
	n, _ = f.ReadAt(head, 0)
	return head[:n]
}

// A Watch detects changes of an open file. The zero Watch never reports a change.
type Watch struct {
	file interface{ Stat() (fs.FileInfo, error) }
	info fs.FileInfo
}

// Watching returns a Watch of src if src is an open regular file, and otherwise the zero Watch.
func Watching(src any) Watch {
	file, ok := src.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return Watch{}
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return Watch{}
	}
	return Watch{file, info}
}

// Changed reports whether the size or the modification time of the file has changed since
// [Watching] returned w.
func (w Watch) Changed() bool {
	if w.file == nil {
		return false
	}
	info, err := w.file.Stat()
	return err == nil && (info.Size() != w.info.Size() || !info.ModTime().Equal(w.info.ModTime()))
}
