// Package input opens the profiles that verbs read: files, standard input, and files on servers.
package input

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"sync/atomic"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/fetch"
)

// A File is a file that a verb reads. It is used by one goroutine.
type File struct {
	*anyprof.File
	Name string // name of the file in messages

	lasts  bool
	src    io.Closer   // the source that File reads and Close closes, or nil
	server *fetch.File // the file on a server that File reads, or nil
	unpaid int64       // decompressed bytes that the memory limit does not include yet
}

// Name returns what messages call the file at a path. For "-" this is "standard input".
func Name(path string) string {
	if path == cli.Stdio {
		return "standard input"
	}
	return fetch.Shown(path)
}

// IsURL reports whether a path is the URL of a file on a server.
func IsURL(path string) bool {
	_, ok := fetch.Helper(path)
	return ok
}

// Open opens the file of a path or of a URL, or standard input for [cli.Stdio], for a verb that
// reads all of it. If the file is not a profile, the error matches [anyprof.ErrUnknown].
func Open(stdin io.Reader, path string) (*File, error) { return open(stdin, path, openWhole) }

// OpenParts opens the file of a path or of a URL, as [Open] does, for a verb that reads only parts
// of it. It trusts the index of a version 4 file.
func OpenParts(stdin io.Reader, path string) (*File, error) { return open(stdin, path, openParts) }

func open(stdin io.Reader, path string, openURL func(url string) (*File, error)) (*File, error) {
	if path == cli.Stdio {
		return New(Name(path), stdin)
	}
	if IsURL(path) {
		return openURL(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return openStream(path)
	}
	f, err := anyprof.OpenFile(context.Background(), path)
	if err != nil {
		return nil, Wrap(path, err)
	}
	allowMemory(info.Size())
	opened := of(path, f)
	opened.lasts = true
	return opened, nil
}

// Lasts reports whether the file can be opened once more by its Name. That is so for a regular file
// on this machine, and not for a pipe.
func (f *File) Lasts() bool { return f.lasts }

// openStream opens the file at a path that can be read only once, such as a pipe.
func openStream(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := New(path, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.src = file
	return f, nil
}

// openWhole opens a file on a server for a verb that reads all of it. It fetches the file as a
// whole.
func openWhole(url string) (*File, error) {
	r, err := fetch.Open(fetch.Request{URL: url, Whole: true})
	if err != nil {
		return nil, err
	}
	f, err := openFetched(r, anyprof.FileAt) // before more than the first bytes is read
	if err == nil {
		r.Keep()
	}
	return f, err
}

// openParts opens a file on a server for a verb that reads parts of it. It fetches parts of the
// file when they are read.
func openParts(url string) (*File, error) {
	r, err := fetch.Open(fetch.Request{URL: url})
	if err != nil {
		return nil, err
	}
	return openFetched(r, anyprof.TrustedFileAt)
}

// openFetched opens a file on a server as a profile. open is the function of package anyprof that
// recognises the format. r fetches the file.
func openFetched(r *fetch.File, open func(context.Context, io.ReaderAt, int64) (*anyprof.File, error)) (*File, error) {
	f, err := open(context.Background(), r, r.Size())
	if err != nil {
		_ = r.Close()
		return nil, Wrap(r.Name(), err)
	}
	opened := of(r.Name(), f)
	opened.src, opened.server = r, r
	return opened, nil
}

// Remote reports whether the file is on a server.
func (f *File) Remote() bool { return f.server != nil }

// Keep fetches the whole file from its server. A verb calls it if it needs all of a file that
// [OpenParts] has opened. For a local file it does nothing.
func (f *File) Keep() {
	if f.server != nil {
		f.server.Keep()
	}
}

// New returns a File that reads from the stream src. name is its name in messages.
func New(name string, src io.Reader) (*File, error) {
	f, err := anyprof.ReadFile(context.Background(), src)
	if err != nil {
		return nil, Wrap(name, err)
	}
	return of(name, f), nil
}

func of(name string, f *anyprof.File) *File {
	opened := &File{File: f, Name: name}
	if f.Packed() {
		f.OnRead(opened.unpacked)
	}
	return opened
}

// unpacked raises the memory limit of the process after n more bytes of the file were decompressed.
// The decompressed size is not known when the file is opened.
func (f *File) unpacked(n int) {
	if f.unpaid += int64(n); f.unpaid >= allowEvery {
		allowMemory(f.unpaid)
		f.unpaid = 0
	}
}

// Close closes the file and its profile. Both were only read, so errors do not matter.
func (f *File) Close() {
	_ = f.File.Close()
	if f.src != nil {
		_ = f.src.Close()
	}
}

// Wrap puts the name of the file before an error, unless the error names a file already.
func (f *File) Wrap(err error) error { return Wrap(f.Name, err) }

// Wrap puts the name of a file before an error, as [Name] shows it, unless the error already names
// a file or is about the command line or exit status.
func Wrap(path string, err error) error {
	var local *fs.PathError
	var link *os.LinkError
	var usage *cli.UsageError
	var status cli.StatusError
	var named *cli.FileError
	var located *fault.FormatError
	if err == nil || errors.As(err, &local) || errors.As(err, &link) || errors.As(err, &usage) || errors.As(err, &status) ||
		errors.As(err, &named) || errors.As(err, &located) && located.File != "" {
		return err
	}
	return &cli.FileError{Name: Name(path), Err: err}
}

// The soft memory limit of the process, in proportion to the files that it reads. SECURITY.md
// promises 50 times their size and 64 MiB. The margin is for memory that the limit does not count:
// some 13 MB of the program itself, and allocations while the collector works, which are more if it
// has to wait for a processor. Most files need far less. For files made to need more, the collector
// works harder. Nothing fails because of a soft limit.
const (
	softPerByte = 36
	softFree    = 32 << 20
	allowEvery  = 1 << 20 // the limit is raised once for this many decompressed bytes
)

// limited is set after LimitMemory, unless $GOMEMLIMIT sets the limit.
var limited atomic.Bool

// opened is the total size in bytes of all files that were opened.
var opened atomic.Int64

// LimitMemory makes the process keep its memory in proportion to the files opened from now on,
// unless $GOMEMLIMIT sets a limit. It is for main functions, because the limit applies to the whole
// process, see [debug.SetMemoryLimit].
func LimitMemory() { limited.Store(os.Getenv("GOMEMLIMIT") == "") }

// allowMemory raises the memory limit of the process because a file of the given size was opened.
func allowMemory(size int64) {
	if all := opened.Add(size); limited.Load() {
		debug.SetMemoryLimit(softFree + softPerByte*all)
	}
}
