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

// A File is a binary with its debug info, which may be in other files. Its methods may be called
// concurrently.
type File struct {
	path    string
	dirs    []string // directories of separate debug files
	binary  *object
	debug   *object // object with the debug info: binary, or another file; nil if there is none
	tried   []string
	symbols *symbolTable
	columns bool
	size    int64 // size of all objects with debug info

	prepared lazy
	data     *debugData
	pack     lazy // search for the package of split units
	dwp      *dwpFile

	mu     sync.Mutex
	others []*object // objects opened later
	closed bool
}

// An Option configures [Open].
type Option func(*options)

type options struct {
	debugFile string
	dirs      []string
	columns   bool
}

// DebugFile sets the file with the debug info, which must be of the same build.
func DebugFile(path string) Option { return func(o *options) { o.debugFile = path } }

// Columns fills in [Line.Column]. Spans then become shorter and more numerous.
func Columns() Option { return func(o *options) { o.columns = true } }

// Open opens an ELF file: an executable, a shared object, a kernel or a kernel module. It reads the
// headers and the symbol table, and finds the debug info without reading it.
//
// A missing debug file is not an error of Open; [File.Code] then returns [ErrNoDebugInfo].
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

// Close releases the file and all files opened for its debug info.
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

// keep registers an opened object, so that [File.Close] closes it too. If the File is closed
// already, keep closes the object and returns an error.
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

// Path returns the path that was given to [Open].
func (f *File) Path() string { return f.path }

// DebugPath returns the path of the file with the debug info, empty if there is none.
func (f *File) DebugPath() string {
	if f.debug == nil {
		return ""
	}
	return f.debug.path
}

// ELF returns the headers of the binary. They are valid until [File.Close], and the caller must not
// change them.
func (f *File) ELF() *elf.File { return f.binary.elf }

// BuildID returns the build ID of the binary, or nil.
func (f *File) BuildID() []byte { return f.binary.buildID() }

// Address converts a file offset of code to the address for which the code is linked. Profilers
// record file offsets, since they know where a file is mapped; symbols and debug info use
// addresses. If segments overlap, the last one counts. In a relocatable file, such as a kernel
// module, the address of every byte is its offset, whatever its section.
func (f *File) Address(offset uint64) (addr uint64, ok bool) {
	if f.binary.elf.Type == elf.ET_REL {
		return offset, offset < uint64(f.binary.size)
	}
	return f.binary.code.Address(offset)
}

// HasSymbols reports whether the binary has a symbol table with functions.
func (f *File) HasSymbols() bool { return len(f.symbols.rows) > 0 }

// Symbol returns the function at an address. If several functions contain it, Symbol returns the
// one that begins last. The function ends at most where the next one begins. The error is
// afdo.ErrChanged if a file has been modified.
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

// Symbols iterates over all functions of the binary by address, with the same bounds as
// [File.Symbol]. It reads the names of all functions.
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

// unlessChanged returns an error if the binary or a file with its debug info has been modified
// since it was opened, and otherwise err.
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

// unlessChanged returns an error if the object's file has been modified since it was opened, and
// otherwise err.
func (o *object) unlessChanged(err error) error {
	if o != nil && o.watch.Changed() {
		return fmt.Errorf("symbolize: %s: %w", o.path, fault.ErrChanged)
	}
	return err
}

// Defines reports whether the binary has a symbol of any kind with this name. It reads the symbol
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

// The memory budget of a query: bytes for each byte of the files, and a minimum. See reading.spend.
const (
	budgetPerByte = 16
	budgetAtLeast = 24 << 20
)

// newBudget returns the memory budget of a query, in bytes, for files of the given total size. The
// query fails when it has used up the budget.
func newBudget(size int64) *atomic.Int64 {
	left := new(atomic.Int64)
	left.Store(budgetPerByte*size + budgetAtLeast)
	return left
}
