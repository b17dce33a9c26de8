package remote

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"sync/atomic"

	"github.com/go-afdo/afdo"
)

// A File is a file of a server. Its methods may be called from many goroutines.
type File struct {
	options
	ctx      context.Context
	source   Source
	version  Version
	size     int64
	tailData []byte
	cache    *cache // nil if there is none
	requests atomic.Int64
	bytes    atomic.Int64
	closed   atomic.Bool
}

// Open opens the file of a URL, http or https, by a request for its end, whose answer also has the
// size. The context applies to all reads as well.
//
// The error matches [ErrNoRanges] for a server that only serves whole files, fs.ErrNotExist and
// fs.ErrPermission for what they say, and context's errors. Any other that a server or the network
// gives is returned as it is.
func Open(ctx context.Context, rawURL string, opts ...Option) (*File, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("remote: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("remote: %s: neither an http nor an https URL", shown(u))
	}
	o := defaults(opts)
	return open(ctx, &httpFile{url: u, client: o.client}, o)
}

// OpenSource opens the file of a source. File.Close closes the source, and so does OpenSource if it
// fails. Otherwise it is like [Open].
func OpenSource(ctx context.Context, s Source, opts ...Option) (*File, error) {
	return open(ctx, s, defaults(opts))
}

func open(ctx context.Context, s Source, o options) (*File, error) {
	f := &File{ctx: ctx, source: s, options: o}
	if err := f.end(); err != nil {
		_ = s.Close()
		return nil, err
	}
	if f.blocks > 0 {
		f.cache = newCache(f.blocks)
	}
	return f, nil
}

// end fetches the tail, and asks for the size by itself if need be.
func (f *File) end() error {
	a, err := f.fetch(f.ctx, Range{-f.tail, 0}, nil)
	if err != nil {
		return err
	}
	f.version, f.size = a.version, a.size
	if a.data == nil && f.size > 0 {
		a, err = f.fetch(f.ctx, Range{max(f.size-f.tail, 0), f.size}, nil)
	}
	f.tailData = a.data
	return err
}

// Name returns the URL without user, password and query, which may hold secrets.
func (f *File) Name() string { return f.source.Name() }

// Tag returns what tells the file from others that its URL had or will have: the ETag, or the time
// of the last change if there is none. It is empty if the server tells neither.
func (f *File) Tag() string {
	if f.version.ETag != "" {
		return f.version.ETag
	}
	return f.version.Modified
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Stats tells what reading has cost so far.
type Stats struct {
	Requests int64 // those tried again included
	Bytes    int64 // of bodies
}

// Stats returns what reading has cost so far.
func (f *File) Stats() Stats { return Stats{f.requests.Load(), f.bytes.Load()} }

// Close drops what is kept in memory; later reads return afdo.ErrClosed. It waits for none.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return afdo.ErrClosed
	}
	return f.source.Close()
}

// ReadAt reads len(p) bytes at an offset. Bytes that opening has fetched and those in the cache
// take no request; each remaining run of bytes takes one. The error is afdo.ErrChanged if the file
// is not the one that was opened, and io.EOF at its end.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case f.closed.Load():
		return 0, afdo.ErrClosed
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

// read reads what lies within the file.
func (f *File) read(p []byte, off int64) (int, error) {
	end := int64(len(p))
	if tail := f.size - int64(len(f.tailData)); off+end > tail {
		from := max(tail-off, 0)
		copy(p[from:], f.tailData[off+from-tail:])
		end = from
	}
	if end == 0 {
		return len(p), nil
	}
	before := Range{off, off + end}
	var got int
	var err error
	if f.cache != nil {
		got, err = f.readBlocks(p[:end], before)
	} else {
		var a answer
		a, err = f.fetch(f.ctx, before, p[:end])
		got = len(a.data)
	}
	if err != nil {
		return got, err
	}
	return len(p), nil
}
