package remote

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
	"github.com/go-afdo/afdo/internal/fault"
)

// A File is a file of a server. Its methods may be called from many goroutines.
type File struct {
	opts     source.Options
	ctx      context.Context
	version  source.Version
	size     int64
	tailData []byte // the last bytes, fetched by Open
	cache    *cache // nil without Cache
	requests atomic.Int64
	bytes    atomic.Int64
	granted  atomic.Int64 // time that all requests so far may take, besides the timeout
	waited   atomic.Int64 // time that all requests so far took
	closed   atomic.Bool
}

// Open opens the file of an http or https URL. It requests the end of the file, and learns the size
// from the answer. The context applies to all reads as well.
//
// The error matches [ErrNoRanges] for a server that only serves whole files, [ErrTooLarge] for a
// file above [MaxSize], fs.ErrNotExist, fs.ErrPermission, or an error of package context. Other
// errors of the server and the network are returned unchanged. Open follows redirects, except those
// that lead from another host to this machine or to an address that only its own network reaches.
func Open(ctx context.Context, rawURL string, opts ...Option) (*File, error) {
	o := defaults(opts)
	if o.Source == nil {
		s, err := newHTTPFile(rawURL, o.Client)
		if err != nil {
			return nil, err
		}
		o.Source = s
	}
	f := &File{ctx: ctx, opts: o}
	tail, err := f.end()
	if err != nil {
		_ = o.Source.Close()
		return nil, err
	}
	f.version, f.size, f.tailData = tail.version, tail.size, tail.data
	if o.Blocks > 0 {
		f.cache = &cache{limit: o.Blocks, blocks: make(map[int64]*list.Element), order: list.New()}
	}
	return f, nil
}

// end fetches the last bytes of the file. If the source returns only the size of the file, end
// makes a second request for the bytes.
func (f *File) end() (answer, error) {
	a, err := f.fetch(f.ctx, source.Range{Low: -f.opts.Tail, High: 0}, nil)
	if err != nil || a.data != nil || a.size == 0 {
		return a, err
	}
	b, err := f.fetch(f.ctx, source.Range{Low: max(a.size-f.opts.Tail, 0), High: a.size}, nil)
	if err == nil && (a.version != source.Version{} && a.version != b.version || a.size != b.size) {
		err = faultAt(f.Name(), fault.ErrChanged, "")
	}
	return b, err
}

// Name returns the URL without user, password and query, which may hold secrets.
func (f *File) Name() string { return f.opts.Source.Name() }

// Tag identifies the version of the file: its ETag, or the modification time if it has no ETag. It
// is empty if the server sends neither.
func (f *File) Tag() string { return cmp.Or(f.version.ETag, f.version.Modified) }

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Stats contains the number of requests that were made for a file, and the number of bytes that the
// server has sent.
type Stats struct {
	Requests int64 // repeated ones included
	Bytes    int64 // of bodies
}

// Stats returns the number of requests so far, and the bytes of their answers.
func (f *File) Stats() Stats { return Stats{f.requests.Load(), f.bytes.Load()} }

// Close frees the memory of the file. Later reads return afdo.ErrClosed. Close does not wait for
// reads.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return fault.ErrClosed
	}
	return f.opts.Source.Close()
}

// ReadAt reads len(p) bytes at an offset. It makes no request if Open has fetched the bytes or the
// cache has them. Otherwise it makes one request, or several if the cache has blocks in between.
// The error matches afdo.ErrChanged if the file was replaced, and is io.EOF at its end.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case f.closed.Load():
		return 0, fault.ErrClosed
	case off < 0:
		return 0, fmt.Errorf("remote: offset %d", off)
	case off >= f.size && len(p) > 0:
		return 0, io.EOF
	}
	short := int64(len(p)) > f.size-off
	if short {
		p = p[:f.size-off]
	}
	n, err := f.read(p, off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// read reads the bytes of the file from offset off on into p, through the cache if there is one.
// The bytes must be within the file.
func (f *File) read(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if f.cache != nil && off < f.size-int64(len(f.tailData)) {
		return f.readBlocks(p, source.Range{Low: off, High: end})
	}
	return f.fill(p, off)
}

// fill reads the bytes of the file from offset low on into p, without the cache. It copies the
// bytes that Open has fetched from the end of the file, and requests the bytes before these.
func (f *File) fill(p []byte, low int64) (int, error) {
	high := low + int64(len(p))
	to := high
	if tail := f.size - int64(len(f.tailData)); tail < high {
		to = max(tail, low)
		copy(p[to-low:], f.tailData[to-tail:])
	}
	if to == low {
		return len(p), nil
	}
	a, err := f.fetch(f.ctx, source.Range{Low: low, High: to}, p[:to-low])
	if err != nil {
		return len(a.data), err
	}
	return len(p), nil
}
