package memprofkind

import (
	"context"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/input/symbolize"
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

// namesOf returns the names of the functions of a binary by GUID. They come from its symbol tables,
// and from its debug info for functions that are always inlined, which have no symbols.
func namesOf(path string) (map[uint64]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names := make(map[uint64]string)
	for _, table := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, err := table()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			return nil, err
		}
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
				names[memprof.GUID(s.Name)] = s.Name
			}
		}
	}
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return names, nil
	}
	info, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	return names, addDebugNames(info, names)
}

func addDebugNames(info *dwarf.Data, names map[uint64]string) error {
	r := info.Reader()
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return err
		}
		if entry.Tag != dwarf.TagSubprogram {
			continue
		}
		name, ok := entry.Val(dwarf.AttrLinkageName).(string)
		if !ok {
			name, ok = entry.Val(dwarf.AttrName).(string)
		}
		if ok {
			names[memprof.GUID(name)] = name
		}
	}
}

// symbols finds the functions and lines of a binary's code, and collects the names of the
// functions.
type symbols struct {
	*symbolize.File
	names map[uint64]string // by GUID
	met   map[string]struct{}
}

func openSymbols(path string) (*symbols, error) {
	f, err := symbolize.Open(path, symbolize.Columns())
	if err != nil {
		return nil, err
	}
	return &symbols{f, make(map[uint64]string), make(map[string]struct{})}, nil
}

// Locate implements [memprof.Symbolizer]. It only reads units that contain one of the addresses.
func (s *symbols) Locate(addresses []uint64, each func(uint64, []memprof.Location) error) error {
	var functions []symbolize.Symbol
	for _, a := range addresses {
		if n := len(functions); n > 0 && a < functions[n-1].High {
			continue
		}
		f, ok, err := s.Symbol(a)
		if err != nil {
			return err
		}
		if ok {
			functions = append(functions, f)
		}
	}
	for code, err := range s.Code(context.Background(), functions) {
		if err != nil {
			return err
		}
		from := sort.Search(len(addresses), func(i int) bool { return addresses[i] >= code.Symbol.Low })
		for _, a := range addresses[from:] {
			if a >= code.Symbol.High {
				break
			}
			if calls := s.at(code, a); calls != nil {
				if err := each(a, calls); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// at returns the functions at an address of a function, the innermost first.
func (s *symbols) at(code *symbolize.Code, address uint64) (calls []memprof.Location) {
	i, _ := slices.BinarySearchFunc(code.Spans, address, func(p symbolize.Span, a uint64) int {
		if p.High <= a {
			return -1
		}
		return 1
	})
	if i == len(code.Spans) || code.Spans[i].Low > address {
		return nil
	}
	line := code.Spans[i].Line
	for in := code.Spans[i].Instance; in != nil; in = in.Caller {
		name := in.Function.Linkage()
		if _, known := s.met[name]; !known {
			s.met[name] = struct{}{}
			s.names[memprof.GUID(name)] = name
		}
		calls = append(calls, memprof.Location{Function: name, File: line.File, Line: line.Line, Start: in.Function.Line, Column: line.Column})
		line = in.Call
	}
	return calls
}
