package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/go-afdo/afdo"
)

// maxWait is how long to wait at most before a request is made again, whatever the server wants.
const maxWait = 30 * time.Second

// An answer is what has been read of a file.
type answer struct {
	data    []byte
	size    int64 // of the file
	version Version
}

// fetch asks for a range, again if need be. It reads into buf if that is not nil.
func (f *File) fetch(ctx context.Context, r Range, buf []byte) (answer, error) {
	wait := f.wait
	for try := 1; ; try++ {
		if ctx.Err() != nil {
			return answer{}, fault(f.Name(), context.Cause(ctx), "")
		}
		a, err := f.try(ctx, r, buf)
		var again *Transient
		if err == nil || !errors.As(err, &again) {
			return a, err
		}
		if try == f.tries && ctx.Err() == nil {
			return a, again.Err
		}
		pause := wait/2 + rand.N(wait/2+1)
		if again.After > 0 {
			pause = again.After
		}
		select {
		case <-time.After(min(pause, maxWait)):
		case <-ctx.Done():
			return a, fault(f.Name(), context.Cause(ctx), "")
		}
		wait = min(2*wait, maxWait)
	}
}

// Why a try ends in which too little comes.
var (
	errSilent = fmt.Errorf("the server is silent: %w", context.DeadlineExceeded)
	errSlow   = fmt.Errorf("the server is too slow: %w", context.DeadlineExceeded)
)

// An answer may take as long as several times that a server may be silent, and then has to have
// brought so many bytes for each second more.
const (
	patience  = 5
	leastRate = 16 << 10
)

// try asks once, unless nothing comes for too long, or too little.
func (f *File) try(ctx context.Context, r Range, buf []byte) (answer, error) {
	bytes := max(r.High-r.Low, -r.Low)
	due := patience*f.timeout + time.Duration(float64(bytes)/leastRate*float64(time.Second))
	inTime, end := context.WithTimeoutCause(ctx, due, errSlow)
	defer end()
	inTime, stop := context.WithCancelCause(inTime)
	defer stop(nil)
	watch := time.AfterFunc(f.timeout, func() { stop(errSilent) })
	defer watch.Stop()
	a, err := f.ask(inTime, r, buf, func() { watch.Reset(f.timeout) })
	if cause := context.Cause(inTime); err != nil && (cause == errSilent || cause == errSlow) {
		err = &Transient{Err: fault(f.Name(), cause, "")}
	}
	return a, err
}

// ask asks once. It calls progress whenever something comes.
func (f *File) ask(ctx context.Context, r Range, buf []byte, progress func()) (answer, error) {
	f.requests.Add(1)
	part, err := f.source.Fetch(ctx, r, f.version)
	if err != nil {
		return answer{}, err
	}
	if part.Body == nil && r.Low < 0 {
		return answer{size: part.Size, version: part.Version}, nil
	}
	if part.Body == nil {
		return answer{}, fault(f.Name(), afdo.ErrChanged, "it has got empty")
	}
	defer part.Body.Close()
	if f.version != (Version{}) && part.Version != f.version || f.size > 0 && part.Size != f.size {
		return answer{}, fault(f.Name(), afdo.ErrChanged, "")
	}
	if err := part.fits(r); err != nil {
		return answer{}, fault(f.Name(), ErrResponse, err.Error())
	}
	if buf == nil {
		buf = make([]byte, part.High-part.Low)
	}
	n, err := io.ReadFull(&watched{part.Body, progress}, buf)
	f.bytes.Add(int64(n))
	if err != nil {
		return answer{data: buf[:n]}, &Transient{Err: fault(f.Name(), err, "")}
	}
	return answer{buf, part.Size, part.Version}, nil
}

// watched is a reader that tells of progress.
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

// fits checks that a part is what was asked for as far as the file reaches.
func (p *Part) fits(r Range) error {
	want := r
	if r.Low < 0 {
		want = Range{max(p.Size+r.Low, 0), p.Size}
	}
	want.High = min(want.High, p.Size)
	if p.Low != want.Low || p.High != want.High || want.Low >= want.High {
		return fmt.Errorf("bytes %d to %d of %d where %q was asked for", p.Low, p.High, p.Size, r)
	}
	return nil
}
