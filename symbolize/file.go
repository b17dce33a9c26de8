package symbolize

import (
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
)

// A File is a binary with its debug info, wherever that is. Its methods may be
// called by many goroutines at once.
type File struct {
	path    string
	dirs    []string // of separate debug files
	binary  *object
	debug   *object // what has the debug info: binary, or a file of its own; nil if there is none
	tried   []string
	symbols *symbolTable
	columns bool
	size    int64 // of all objects that debug info comes from

	prepared lazy
	data     *debugData
	pack     lazy // looking for the package of split units
	dwp      *dwpFile

	mu     sync.Mutex
	others []*object // opened later
	closed bool
}

// An Option changes how [Open] works.
type Option func(*options)

type options struct {
	debugFile string
	dirs      []string
	columns   bool
}

// DebugFile names the file that has the debug info. It must be of the same build.
func DebugFile(path string) Option { return func(o *options) { o.debugFile = path } }

// Columns has [Line.Column] filled in as well. Then there are more and shorter spans.
func Columns() Option { return func(o *options) { o.columns = true } }

// Open opens an ELF file: an executable, a shared object, a kernel or a kernel module. It reads the
// headers and the symbol table and finds the debug info, but does not read it.
//
// It is no error if there is no debug info; [File.Code] then returns [ErrNoDebugInfo].
func Open(path string, opts ...Option) (*File, error) {
	o := options{dirs: []string{"/usr/lib/debug"}}
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	binary, err := openObject(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, dirs: o.dirs, columns: o.columns, binary: binary, size: binary.size}
	if err := f.unlessChanged(f.open(o)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open(o options) (err error) {
	if f.debug, err = f.findDebugFile(o.debugFile); err != nil {
		return err
	}
	objects := []*object{f.binary}
	if f.debug != nil && f.debug != f.binary {
		f.size += f.debug.size
		objects = append(objects, f.debug)
	}
	f.symbols, err = readSymbols(objects)
	return err
}

// Close releases the file and what was opened beside it.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fault.ErrClosed
	}
	f.closed = true
	err := f.binary.close()
	if f.debug != nil && f.debug != f.binary {
		err = errors.Join(err, f.debug.close())
	}
	for _, o := range f.others {
		err = errors.Join(err, o.close())
	}
	return err
}

// keep has an object closed together with the file.
func (f *File) keep(o *object) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		o.close()
		return fault.ErrClosed
	}
	f.others = append(f.others, o)
	return nil
}

// Path returns the path that the file was opened with.
func (f *File) Path() string { return f.path }

// DebugPath returns the path of the file that has the debug info, empty if none was found.
func (f *File) DebugPath() string {
	if f.debug == nil {
		return ""
	}
	return f.debug.path
}

// ELF returns the headers of the binary. They must not be changed, and are valid until
// [File.Close].
func (f *File) ELF() *elf.File { return f.binary.elf }

// BuildID returns the build ID, nil if the binary has none.
func (f *File) BuildID() []byte { return f.binary.buildID() }

// Address returns the address at which the byte at an offset of the file is linked, if that is
// code. A profiler knows where a file is mapped, so its samples are offsets; symbols and debug info
// use addresses. Of overlapping segments the last counts. In a relocatable file, such as a kernel
// module, every byte has its offset as its address, also in sections other than .text.
func (f *File) Address(offset uint64) (addr uint64, ok bool) {
	if f.binary.elf.Type == elf.ET_REL {
		return offset, offset < uint64(f.binary.size)
	}
	return f.binary.code.Address(offset)
}

// HasSymbols reports whether the binary has a symbol table with functions in it.
func (f *File) HasSymbols() bool { return len(f.symbols.rows) > 0 }

// Symbol returns the function that holds an address. If several hold it, it is the one that
// begins last, and it ends where the next begins. The error is afdo.ErrChanged if one of the
// files was written to.
func (f *File) Symbol(addr uint64) (s Symbol, ok bool, err error) {
	i, n := f.symbols.at(addr)
	if i == n {
		return Symbol{}, false, nil
	}
	s, err = f.symbols.symbol(new(reading), i, n)
	if err = f.unlessChanged(err); err != nil {
		return Symbol{}, false, err
	}
	return s, true, nil
}

// Symbols iterates over all functions of the binary by address, as [File.Symbol] returns them. It
// reads the names of all of them.
func (f *File) Symbols() iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		t := f.symbols
		r := new(reading)
		var err error
		for i := 0; i < len(t.rows) && err == nil; {
			n := i + 1
			for n < len(t.rows) && t.rows[n].low == t.rows[i].low {
				n++
			}
			var s Symbol
			if s, err = t.symbol(r, i, n); err == nil && !yield(s, nil) {
				return
			}
			i = n
		}
		if err = f.unlessChanged(err); err != nil {
			yield(Symbol{}, err)
		}
	}
}

// unlessChanged returns an error, that of a file that was written to if one of those that are open
// was.
func (f *File) unlessChanged(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	objects := append([]*object{f.binary, f.debug}, f.others...)
	for _, o := range objects {
		if err := o.unlessChanged(nil); err != nil {
			return err
		}
	}
	return err
}

// unlessChanged returns an error, that of a file that was written to if this one was.
func (o *object) unlessChanged(err error) error {
	if o != nil && o.watch.Changed() {
		return fmt.Errorf("symbolize: %s: %w", o.path, fault.ErrChanged)
	}
	return err
}

// Defines reports whether the binary has a symbol of that name, of any kind. It reads the symbol
// table.
func (f *File) Defines(name string) (found bool, err error) {
	for _, o := range []*object{f.binary, f.debug} {
		if o == nil || found {
			continue
		}
		if found, err = o.defines(name); err != nil {
			return false, err
		}
	}
	return found, nil
}

// Limits of what one question may read, see reading.spend
const (
	budgetPerByte = 16
	budgetAtLeast = 24 << 20
)

// newBudget returns the budget of files of a size.
func newBudget(size int64) *atomic.Int64 {
	left := new(atomic.Int64)
	left.Store(budgetPerByte*size + budgetAtLeast)
	return left
}
