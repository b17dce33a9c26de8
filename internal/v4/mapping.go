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

// mapping is a mapped file, which may be truncated, modified or closed at any time.
//
// Each read holds a reference while it copies, so that Close does not unmap memory that is being
// copied; the last holder unmaps. Copying from beyond the end of a truncated file raises a fault,
// which guardedRead converts to an error. Copying from the last page of a truncated file, or from a
// modified file, does not raise a fault. So the size and modification time of the file are compared
// after each copy.
type mapping struct {
	data  *mmap.ReaderAt
	file  *os.File
	state fileState // when the file was opened

	mu      sync.Mutex
	users   int
	closing bool
}

// A fileState is what a write or a truncation changes of a file.
type fileState struct {
	size     int64
	modified int64 // in nanoseconds since 1970
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
	// mmap opens the path a second time. Make sure that it is still the same file.
	now, err := os.Stat(path)
	if err == nil && (!os.SameFile(info, now) || int64(data.Len()) != info.Size()) {
		err = &fs.PathError{Op: "map", Path: path, Err: fault.ErrChanged}
	}
	if err != nil {
		data.Close()
		return nil, err
	}
	return &mapping{data: data, file: file, state: fileState{info.Size(), info.ModTime().UnixNano()}}, nil
}

// largeRead is the size in bytes above which a read system call is faster than copying from the
// map, where each page used for the first time causes a page fault.
const largeRead = 32 << 10

// A verification is a way to notice that a mapped file has changed since it was opened.
type verification int

const (
	byState    verification = iota // read compares the state of the file
	byChecksum                     // the caller compares a checksum of the bytes
	atOpened                       // the file is being opened, and opened compares its state
)

// read copies bytes at offset off. If v is byState, it returns an error if the file has changed.
func (m *mapping) read(p []byte, off int64, v verification) (err error) {
	m.mu.Lock()
	if m.closing {
		m.mu.Unlock()
		return fault.ErrClosed
	}
	m.users++
	m.mu.Unlock()
	defer m.release()
	if len(p) >= largeRead || v == atOpened {
		err = readFull(m.file, p, off)
	} else {
		err = guardedRead(m.data, p, off)
	}
	if err != nil || v != byState {
		return err
	}
	return m.unchanged()
}

// release drops a reference. If it is the last one after Close, release unmaps the file; nobody is
// left to receive an error.
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

// unchanged returns an error if the file has changed since it was opened.
func (m *mapping) unchanged() error {
	now, err := stateOf(m.file)
	if err == nil && now != m.state {
		err = fault.ErrChanged
	}
	return err
}

// guardedRead converts a memory fault in the map (SIGBUS), as of a truncated file, to an error.
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
		return fault.ErrChanged // the file was larger when it was opened
	}
	return err
}
