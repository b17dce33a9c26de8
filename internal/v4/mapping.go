package v4

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/exp/mmap"

	"github.com/go-afdo/afdo/internal/fault"
)

// mapping is a mapped file that may shrink, change or be closed at any time.
//
// Reads hold it while they copy, so that Close never unmaps memory under a copy; whoever lets go
// last unmaps. A copy from beyond the end of a file that shrank faults, which the guard turns into
// an error; a copy from the last page of one, or of a file written to in place, does not, so the
// file's size and time are compared after each copy.
type mapping struct {
	data *mmap.ReaderAt
	file *os.File
	info fs.FileInfo // as opened

	mu      sync.Mutex
	users   int
	closing bool
}

func openMapping(path string) (*mapping, error) {
	// Opening a FIFO would wait for a writer.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := mapFile(file, path)
	if err != nil {
		file.Close()
		return nil, err
	}
	return m, nil
}

func notRegular(path string) error {
	return &fs.PathError{Op: "map", Path: path, Err: errors.New("not a regular file")}
}

func mapFile(file *os.File, path string) (*mapping, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	data, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	// mmap opens the path a second time: it must have been the same file still.
	now, err := os.Stat(path)
	if err == nil && (!os.SameFile(info, now) || int64(data.Len()) != info.Size()) {
		err = &fs.PathError{Op: "map", Path: path, Err: fault.ErrChanged}
	}
	if err != nil {
		data.Close()
		return nil, err
	}
	return &mapping{data: data, file: file, info: info}, nil
}

// largeRead is how many bytes a call of the system copies in less time than it takes to copy them
// out of a map, where pages that are looked at for the first time are faults.
const largeRead = 32 << 10

// read copies what is at off. With compare, it notices if the file is not what was opened any more.
func (m *mapping) read(p []byte, off int64, compare bool) (err error) {
	m.mu.Lock()
	if m.closing {
		m.mu.Unlock()
		return fault.ErrClosed
	}
	m.users++
	m.mu.Unlock()
	defer m.release()
	if len(p) >= largeRead || !compare {
		err = readFull(m.file, p, off)
	} else {
		err = guardedRead(m.data, p, off)
	}
	if err != nil || !compare {
		return err
	}
	return m.unchanged()
}

// release lets go of the mapping. If that lets it be unmapped after Close, a failure to unmap can
// be told to no caller.
func (m *mapping) release() {
	m.mu.Lock()
	m.users--
	last := m.closing && m.users == 0
	m.mu.Unlock()
	if last {
		_ = m.unmap()
	}
}

func (m *mapping) close() error {
	m.mu.Lock()
	m.closing = true
	last := m.users == 0
	m.mu.Unlock()
	if last {
		return m.unmap()
	}
	return nil
}

func (m *mapping) unmap() error {
	return errors.Join(m.data.Close(), m.file.Close())
}

// unchanged checks that the file is as it was opened.
func (m *mapping) unchanged() error {
	now, err := m.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != m.info.Size() || !now.ModTime().Equal(m.info.ModTime()) {
		return fault.ErrChanged
	}
	return nil
}

// guardedRead turns a fault of the map into an error.
func guardedRead(r io.ReaderAt, p []byte, off int64) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			if _, ok := cause.(interface {
				runtime.Error
				Addr() uintptr
			}); !ok {
				panic(cause)
			}
			err = fault.ErrChanged
		}
	}()
	return readFull(r, p, off)
}

func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		return fault.ErrChanged // the file had so many bytes when it was opened
	}
	return err
}
