package anyprof

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// A Profile is a profile of any format that is open.
type Profile struct {
	format     Format
	size       int64
	reader     reader
	model      any
	closer     io.Closer // of model, nil if it has nothing to close
	file       *File
	concurrent bool // what is read takes time that is not the processor's
}

// A reader is what [Profile] wants of a format.
type reader interface {
	// units iterates over the source files: if the format knows none, over one that has no path.
	units() iter.Seq2[Unit, error]
	// unit returns the unit of a path, or of the end of one.
	unit(path string) (Unit, error)
	// lookup returns the functions of names, none for a name that is not there. ask asks get for
	// each of them, if what one takes does not depend on the others.
	lookup(names []string, ask asking) (map[string][]*Function, error)
}

// asking calls get for each of the names and collects the answers.
type asking func(names []string, get func(name string) ([]*Function, error)) (map[string][]*Function, error)

// Format returns the format.
func (p *Profile) Format() Format { return p.format }

// Size returns how many bytes the file has, unpacked.
func (p *Profile) Size() int64 { return p.size }

// Model returns the value that the package of the format has made of the file: an [afdo.Reader] of
// version 4, a [profile.Profile] of the other GCOV formats; a [sampleprof.Reader] or, of text, a
// [sampleprof.Profile]; an [instrprof.Reader], [instrprof.RawReader] or [instrprof.Profile]; of an
// indexed memory profile an [instrprof.Reader], from which [Memory] takes it, a [memprof.Raw], or
// of YAML a [memprof.Profile]; each as a pointer. It is the Profile's, and Close closes it.
//
// [sampleprof.Reader]: https://pkg.go.dev/github.com/go-afdo/afdo/llvm/sampleprof#Reader
// [sampleprof.Profile]: https://pkg.go.dev/github.com/go-afdo/afdo/llvm/sampleprof#Profile
// [instrprof.Reader]: https://pkg.go.dev/github.com/go-afdo/afdo/llvm/instrprof#Reader
// [instrprof.RawReader]: https://pkg.go.dev/github.com/go-afdo/afdo/llvm/instrprof#RawReader
// [instrprof.Profile]: https://pkg.go.dev/github.com/go-afdo/afdo/llvm/instrprof#Profile
// [memprof.Raw]: https://pkg.go.dev/github.com/go-afdo/afdo/llvm/memprof#Raw
// [memprof.Profile]: https://pkg.go.dev/github.com/go-afdo/afdo/llvm/memprof#Profile
func (p *Profile) Model() any { return p.model }

// GCOV returns the whole of a GCOV profile in memory. The error of a profile in another format
// matches [afdo.ErrMagic].
func (p *Profile) GCOV() (*profile.Profile, error) {
	switch m := p.model.(type) {
	case *afdo.Reader:
		return profile.Read(m)
	case *profile.Profile:
		return m, nil
	}
	return nil, fmt.Errorf("anyprof: %w but of format %s", afdo.ErrMagic, p.format)
}

// Close closes the file. Functions stay valid, but for their records.
func (p *Profile) Close() error {
	if p.closer != nil {
		if err := p.closer.Close(); err != nil {
			return err
		}
	}
	p.file.release()
	return nil
}

// Units iterates over the source files of a profile in the order of the file. Functions whose file
// is not known are in one whose path is empty, all of them in formats that do not tell it, which
// are all but GCOV versions 3 and 4 and their text. It ends with the first error.
func (p *Profile) Units(ctx context.Context) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		for u, err := range p.reader.units() {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Unit{}, err)
				return
			}
			if !yield(u, nil) {
				return
			}
		}
	}
}

// Unit returns the source file of a path, or the only one whose path ends in it at a '/'. The error
// matches [afdo.ErrNotFound] or [afdo.ErrAmbiguous].
func (p *Profile) Unit(ctx context.Context, path string) (Unit, error) {
	if err := ctx.Err(); err != nil {
		return Unit{}, err
	}
	return p.reader.unit(path)
}

// Functions iterates over the functions of all units. It ends with the first error.
func (p *Profile) Functions(ctx context.Context) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		for u, err := range p.Units(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for f, err := range u.Functions(ctx) {
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
}

// Lookup returns the functions of names, as the assembler has them: all of a name, be they in
// several units or of several calling contexts or hashes. A name that the profile does not have is
// not in the map.
//
// If the format allows it, only the parts of the file for these names are read: see the package
// doc.
func (p *Profile) Lookup(ctx context.Context, names ...string) (map[string][]*Function, error) {
	ask := func(names []string, get func(string) ([]*Function, error)) (map[string][]*Function, error) {
		return p.ask(ctx, names, get)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.reader.lookup(names, ask)
}

// maxRequests is how many names are looked up at the same time where that pays.
const maxRequests = 16

func (p *Profile) ask(ctx context.Context, names []string, get func(string) ([]*Function, error)) (map[string][]*Function, error) {
	a := &answers{found: make(map[string][]*Function)}
	asked := make(map[string]bool)
	workers := 1
	if p.concurrent {
		workers = maxRequests
	}
	turn := make(chan struct{}, workers)
	var all sync.WaitGroup
	for _, name := range names {
		if asked[name] {
			continue
		}
		asked[name] = true
		turn <- struct{}{}
		if err := a.failure(ctx); err != nil {
			break
		}
		all.Go(func() {
			functions, err := get(name)
			a.add(name, functions, err)
			<-turn
		})
	}
	all.Wait()
	return a.result(ctx)
}

// answers are what several goroutines have found.
type answers struct {
	mu    sync.Mutex
	found map[string][]*Function
	err   error // the first
}

func (a *answers) add(name string, functions []*Function, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
	if len(functions) > 0 {
		a.found[name] = functions
	}
}

func (a *answers) failure(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return a.err
	}
	return ctx.Err()
}

func (a *answers) result(ctx context.Context) (map[string][]*Function, error) {
	if err := a.failure(ctx); err != nil {
		return nil, err
	}
	return a.found, nil
}

// A Unit is a source file of a profile.
type Unit struct {
	Path string // empty for functions whose file is not known

	functions iter.Seq2[*Function, error]
}

// Functions iterates over the functions of the unit in the order of the file. It ends with the
// first error.
func (u Unit) Functions(ctx context.Context) iter.Seq2[*Function, error] {
	return func(yield func(*Function, error) bool) {
		for f, err := range u.functions {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}
