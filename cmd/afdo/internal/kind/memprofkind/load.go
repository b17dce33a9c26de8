package memprofkind

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fault"
)

// A loaded is a file of one of the formats.
type loaded struct {
	format string // "memprof", "raw" or "yaml"
	size   int64
	reader *memprof.Reader  // of memprof
	raw    *memprof.Raw     // of raw
	text   *memprof.Profile // of yaml
	ids    []instrprof.BinaryID

	functions int // with counters, in the same file
}

// load opens a file of any format.
func load(f *input.File) (*loaded, error) {
	p, err := f.Profile()
	if err != nil {
		return nil, err
	}
	l := &loaded{format: p.Format().String(), size: p.Size()}
	switch m := p.Model().(type) {
	case *memprof.Profile:
		l.text = m
	case *memprof.Raw:
		l.format, l.raw = "raw", m
	case *instrprof.Reader:
		l.functions = m.NumFunctions()
		if l.ids, err = m.BinaryIDs(); err == nil {
			l.reader, err = anyprof.Memory(m)
		}
		if errors.Is(err, fault.ErrNotFound) {
			err = errors.New("an instrumentation profile without a MemProf section")
		}
	}
	return l, err
}

// source returns the profile as it is, turned into functions if it is raw.
func (k *Kind) source(e *cli.Env, l *loaded) (memprof.Source, map[uint64]string, error) {
	switch {
	case l.reader != nil:
		return l.reader, nil, nil
	case l.text != nil:
		return l.text, nil, nil
	}
	path := k.binaryPath()
	if path == "" {
		return nil, nil, errors.New("a raw memory profile has addresses only: give the program that wrote it with --binary")
	}
	s, err := openSymbols(path)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	p, losses, err := l.raw.Profile(s)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if losses.Stacks > 0 {
		e.Warnf("call stacks without any function of the binary that were left out: %d", losses.Stacks)
	}
	if losses.Addresses > 0 {
		e.Warnf("addresses of the runtime and of other binaries that were left out of call stacks: %d", losses.Addresses)
	}
	if !k.full {
		p.Keep(memprof.DefaultSchema())
	}
	return p, s.names, nil
}

// profile returns the profile in memory, each allocation once a record, and the names of functions
// that are known.
func (k *Kind) profile(e *cli.Env, f *input.File) (*memprof.Profile, map[uint64]string, error) {
	l, err := load(f)
	if err != nil {
		return nil, nil, err
	}
	return k.named(e, l)
}

// named is profile for a file that has been loaded.
func (k *Kind) named(e *cli.Env, l *loaded) (*memprof.Profile, map[uint64]string, error) {
	src, names, err := k.source(e, l)
	if err != nil {
		return nil, nil, err
	}
	if names, err = k.withBinary(names); err != nil {
		return nil, nil, err
	}
	p := new(memprof.Profile)
	return p, names, p.Merge(src, 1)
}

// withBinary returns names if there are any, or else the names of the functions in the binary.
func (k *Kind) withBinary(names map[uint64]string) (map[uint64]string, error) {
	if path := k.binaryPath(); names == nil && path != "" {
		return namesOf(path)
	}
	return names, nil
}

// nameOf returns the name of a function, its GUID if that is not known.
func nameOf(names map[uint64]string, function uint64) string {
	if name, ok := names[function]; ok {
		return name
	}
	return fmt.Sprintf("%#x", function)
}
