package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
	"github.com/go-afdo/afdo/internal/fault"
)

// maxWait is the longest pause before a request is repeated, even if the server asks for a longer
// one.
const maxWait = 30 * time.Second

// An answer contains what a server has sent for a requested range: the bytes, and the size and
// version of the file.
type answer struct {
	data    []byte
	size    int64 // of the file
	version source.Version
}

// fetch requests the range r of the file. After a transient error it repeats the request, as long
// as the request has time left. It reads the bytes into buf unless that is nil.
func (f *File) fetch(ctx context.Context, r source.Range, buf []byte) (answer, error) {
	wait, begin := f.opts.Wait, time.Now()
	due := f.due(r)
	defer func() { f.waited.Add(int64(time.Since(begin))) }()
	ctx, end := context.WithTimeoutCause(ctx, due, errSlow)
	defer end()
	for try := 1; ; try++ {
		if ctx.Err() != nil {
			return answer{}, faultAt(f.Name(), context.Cause(ctx), "")
		}
		a, err := f.try(ctx, r, buf)
		var again *source.Transient
		if err == nil || !errors.As(err, &again) {
			return a, err
		}
		if try == f.opts.Tries && ctx.Err() == nil {
			return a, again.Err
		}
		pause := min(cmp.Or(again.After, wait/2+rand.N(wait/2+1)), maxWait)
		if time.Since(begin)+pause > due {
			return a, again.Err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return a, faultAt(f.Name(), context.Cause(ctx), "")
		}
		wait = min(2*wait, maxWait)
	}
}

// Reasons to end a request before its answer is complete.
var (
	errSilent = fmt.Errorf("the server is silent: %w", context.DeadlineExceeded)
	errSlow   = fmt.Errorf("the server is too slow: %w", context.DeadlineExceeded)
)

// eachRequest is the time that each request may take, in addition to the time for its bytes. It is
// far longer than a packet takes to the other side of the world and back.
const eachRequest = time.Second

// due adds the time that a request for range r may take to the time that all requests of the file
// together may take. It returns how much of this time is left.
func (f *File) due(r source.Range) time.Duration {
	bytes := max(r.High-r.Low, -r.Low)
	more := eachRequest + time.Duration(float64(bytes)/float64(f.opts.Rate)*float64(time.Second))
	return f.opts.Timeout + time.Duration(f.granted.Add(int64(more))-f.waited.Load())
}

// try requests the range r once. It ends the request if the server sends nothing for too long: for
// the timeout divided by the number of tries.
func (f *File) try(ctx context.Context, r source.Range, buf []byte) (answer, error) {
	silence := f.opts.Timeout / time.Duration(f.opts.Tries)
	inTime, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch := time.AfterFunc(silence, func() { stop(errSilent) })
	defer watch.Stop()
	a, err := f.ask(inTime, r, buf, func() { watch.Reset(silence) })
	switch cause := context.Cause(inTime); {
	case err == nil:
	case cause == errSilent:
		err = &source.Transient{Err: faultAt(f.Name(), cause, "")}
	case cause == errSlow: // another try would be as slow
		err = faultAt(f.Name(), cause, "")
	}
	return a, err
}

// ask makes one request for the range r and reads the response. It calls progress whenever bytes
// have arrived.
func (f *File) ask(ctx context.Context, r source.Range, buf []byte, progress func()) (answer, error) {
	f.requests.Add(1)
	part, err := f.opts.Source.Fetch(ctx, r, f.version)
	if err != nil {
		return answer{}, err
	}
	if part.Body == nil && r.Low < 0 {
		return answer{size: part.Size, version: part.Version}, f.checkSize(part.Size)
	}
	if part.Body == nil {
		return answer{}, faultAt(f.Name(), fault.ErrChanged, "it is empty now")
	}
	defer part.Body.Close()
	if f.version != (source.Version{}) && part.Version != f.version || f.size > 0 && part.Size != f.size {
		return answer{}, faultAt(f.Name(), fault.ErrChanged, "")
	}
	if err := f.checkSize(part.Size); err != nil {
		return answer{}, err
	}
	if err := part.Fits(r); err != nil {
		return answer{}, faultAt(f.Name(), ErrResponse, err.Error())
	}
	if buf == nil {
		buf = make([]byte, part.High-part.Low)
	}
	n, err := io.ReadFull(&watched{part.Body, progress}, buf)
	f.bytes.Add(int64(n))
	if err != nil {
		return answer{data: buf[:n]}, &source.Transient{Err: faultAt(f.Name(), err, "")}
	}
	return answer{buf, part.Size, part.Version}, nil
}

// A watched is a reader that calls the function progress whenever it has read bytes.
type watched struct {
	io.Reader
	progress func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.progress()
	}
	return n, err
}

// checkSize returns an error if the size that a server gives for the file exceeds [MaxSize].
func (f *File) checkSize(size int64) error {
	if size > f.opts.MaxSize {
		return faultAt(f.Name(), ErrTooLarge, fmt.Sprintf("the server reports %d bytes, the limit is %d", size, f.opts.MaxSize))
	}
	return nil
}
