package remote

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
)

// A File is a file of a server. Its methods may be called from many goroutines.
type File struct {
	options
	ctx      context.Context
	source   Source
	version  Version
	size     int64
	headData []byte // the first bytes, fetched by Open
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
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("remote: the URL is malformed") // the error would show its secrets
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("remote: %s: neither an http nor an https URL", bare(u))
	}
	return OpenSource(ctx, &httpFile{url: u, client: guarded(defaults(opts).client)}, opts...)
}

// OpenSource opens the file of a source, as [Open] does that of a URL. File.Close closes the
// source, and so does OpenSource if it fails.
func OpenSource(ctx context.Context, s Source, opts ...Option) (*File, error) {
	f := &File{ctx: ctx, source: s, options: defaults(opts)}
	if err := f.ends(); err != nil {
		_ = s.Close()
		return nil, err
	}
	if f.blocks > 0 {
		f.cache = &cache{limit: f.blocks, blocks: make(map[int64]*list.Element), order: list.New()}
	}
	return f, nil
}

// ends fetches the end of the file and, if Head asks for it, the beginning at the same time.
func (f *File) ends() error {
	var head, tail answer
	var headErr, err error
	var both sync.WaitGroup
	if f.head > 0 {
		both.Go(func() { head, headErr = f.fetch(f.ctx, Range{0, f.head}, nil) })
	}
	both.Go(func() { tail, err = f.end() })
	both.Wait()
	if err != nil {
		return err
	}
	f.version, f.size, f.tailData = tail.version, tail.size, tail.data
	if f.head == 0 || f.size == 0 {
		return nil
	}
	if headErr == nil && (head.version != f.version || head.size != f.size) {
		headErr = faultAt(f.Name(), fault.ErrChanged, "")
	}
	f.headData = head.data
	return headErr
}

// end fetches the end of the file. A source that reports only the size is asked a second time.
func (f *File) end() (answer, error) {
	a, err := f.fetch(f.ctx, Range{-f.tail, 0}, nil)
	if err != nil || a.data != nil || a.size == 0 {
		return a, err
	}
	b, err := f.fetch(f.ctx, Range{max(a.size-f.tail, 0), a.size}, nil)
	if err == nil && (a.version != Version{} && a.version != b.version || a.size != b.size) {
		err = faultAt(f.Name(), fault.ErrChanged, "")
	}
	return b, err
}

// Name returns the URL without user, password and query, which may hold secrets.
func (f *File) Name() string { return f.source.Name() }

// Tag identifies the version of the file: its ETag, or the modification time if it has no ETag. It
// is empty if the server sends neither.
func (f *File) Tag() string { return cmp.Or(f.version.ETag, f.version.Modified) }

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Stats counts the requests of a file and the bytes of their answers.
type Stats struct {
	Requests int64 // repeated ones included
	Bytes    int64 // of bodies
}

// Stats returns the counts up to now.
func (f *File) Stats() Stats { return Stats{f.requests.Load(), f.bytes.Load()} }

// Close frees the memory of the file. Later reads return afdo.ErrClosed. Close does not wait for
// reads.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return fault.ErrClosed
	}
	return f.source.Close()
}

// ReadAt reads len(p) bytes at an offset. It makes one request, or none if Open has fetched the
// bytes or the cache has them, or several if the cache has some between them. The error matches
// afdo.ErrChanged if the file was replaced, and is io.EOF at its end.
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

// read reads a range within the file.
func (f *File) read(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	if f.cache != nil && end > int64(len(f.headData)) && off < f.size-int64(len(f.tailData)) {
		return f.readBlocks(p, Range{off, end})
	}
	return f.fill(p, off)
}

// fill reads a range within the file without the cache. It requests the bytes that are in neither
// the head nor the tail.
func (f *File) fill(p []byte, low int64) (int, error) {
	high := low + int64(len(p))
	from, to := low, high
	if head := int64(len(f.headData)); low < head {
		from = min(head, high)
		copy(p, f.headData[low:from])
	}
	if tail := f.size - int64(len(f.tailData)); tail < high {
		to = max(tail, from)
		copy(p[to-low:], f.tailData[to-tail:])
	}
	if from == to {
		return len(p), nil
	}
	a, err := f.fetch(f.ctx, Range{from, to}, p[from-low:to-low])
	if err != nil {
		return int(from-low) + len(a.data), err
	}
	return len(p), nil
}
