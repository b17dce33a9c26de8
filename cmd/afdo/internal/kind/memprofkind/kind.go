// Package memprofkind implements the verbs for LLVM's memory profiles, which package memprof reads
// and writes.
package memprofkind

import (
	"context"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/trim"
	"github.com/go-afdo/afdo/internal/fault"
)

// Kind implements the verbs for memory profiles: indexed files that hold nothing else, raw files
// and YAML.
type Kind struct {
	version int            // --memprof-version
	full    bool           // --memprof-full-schema
	flags   *pflag.FlagSet // the flags of the verb
	binary  kind.BinaryFlag
}

// Name returns "memory profile".
func (k *Kind) Name() string { return "memory profile" }

// Names of the formats that --to takes.
const (
	formatIndexed = "memprof"
	formatYAML    = "yaml"
)

// Formats returns memprof and yaml.
func (k *Kind) Formats() []kind.Format {
	return []kind.Format{
		{Name: formatIndexed, About: "LLVM's indexed profile with a MemProf section", Extensions: []string{".memprof"}},
		{Name: formatYAML, About: "the YAML of LLVM's memory profiles", Extensions: []string{".yaml", ".yml"}, Text: true},
	}
}

// Takes reports whether a format is one of memory profiles: raw, YAML, or indexed with a MemProf
// section and no functions.
func (k *Kind) Takes(f anyprof.Format) bool { return f.Memory() }

// TakesPart reports whether a format is that of indexed instrumentation profiles, which may have a
// MemProf section.
func (k *Kind) TakesPart(f anyprof.Format) bool { return f == anyprof.ProfData }

// AddFlags adds --binary, and --memprof-version and --memprof-full-schema to verbs that write
// profiles.
func (k *Kind) AddFlags(verb *cobra.Command) {
	f := verb.Flags()
	if verb.Name() == "create" {
		return // which writes no memory profiles and has a --binary of its own
	}
	k.binary.AddTo(verb, "the program, for the functions of a raw memory profile and the names of others")
	if f.Lookup("to") != nil {
		k.flags = f
		f.IntVar(&k.version, "memprof-version", 0, "version of memprof to write: 2, 3 or 4 (default: 3 if that can hold everything)")
		f.BoolVar(&k.full, "memprof-full-schema", false, "write all fields of a raw memory profile, not only those that the compiler reads")
	}
}

// CheckFlags returns an error if a flag is given that has no effect on the given format.
func (k *Kind) CheckFlags(format string) error {
	switch {
	case k.version != 0 && format != formatIndexed:
		return cli.Usagef("--memprof-version is for memprof: %s has none", format)
	case k.version != 0 && (k.version < 2 || k.version > 4):
		return cli.Usagef("--memprof-version is 2, 3 or 4")
	case format == formatIndexed && k.indexed() != 0 && k.indexed() < kind.IndexedMemory:
		return cli.Usagef("--%s is at least %d for memprof: earlier LLVM reads none that is written", kind.IndexedVersionFlag, kind.IndexedMemory)
	case k.full && format != formatIndexed && format != formatYAML:
		return cli.Usagef("--memprof-full-schema is for memprof and yaml: %s has no schema", format)
	}
	return nil
}

// indexed returns the version of the indexed file to write, from the flags. 0 means the newest.
func (k *Kind) indexed() uint32 {
	if k.flags == nil || k.flags.Lookup(kind.IndexedVersionFlag) == nil {
		return 0 // of a verb that has no instrumentation profiles
	}
	version, _ := k.flags.GetUint32(kind.IndexedVersionFlag)
	return version
}

// Convert writes a file as memprof or as YAML. The YAML of an indexed profile equals
// llvm-profdata's, byte for byte.
func (k *Kind) Convert(e *cli.Env, f *input.File, out kind.Output, t *trim.Flags) error {
	if err := refuseTrimming(t); err != nil {
		return err
	}
	doing := out.Progress(e)
	doing.Say("converting %s to %s", human.Name(f.Name), out.Format.Name)
	defer doing.Stop()
	l, err := load(f)
	if err != nil {
		return err
	}
	src, _, err := k.source(e, l)
	if err != nil {
		return err
	}
	if l.functions > 0 {
		e.Warnf("%s does not store everything: functions with counters that were left out: %d", out.Format.Name, l.functions)
	}
	if l.reader != nil && out.Format.Name == formatYAML {
		return writeYAML(e, out, src)
	}
	p := new(memprof.Profile)
	if err := p.Merge(src, 1); err != nil {
		return err
	}
	return k.write(e, out, p, l.ids)
}

func refuseTrimming(t *trim.Flags) error {
	if t.Any() {
		return cli.Usagef("flags that trim are for profiles of samples, not for memory profiles")
	}
	return nil
}

func writeYAML(e *cli.Env, out kind.Output, src memprof.Source) error {
	return output.Write(e.Out, out.Path, func(w io.Writer) error { return memprof.WriteYAML(w, src) })
}

// write writes a memory profile. It prints what the version of the MemProf section cannot store.
// ids has the build IDs of the binaries in the profile.
func (k *Kind) write(e *cli.Env, out kind.Output, p *memprof.Profile, ids []instrprof.BinaryID) error {
	if out.Format.Name == formatYAML {
		return writeYAML(e, out, p)
	}
	version := k.version
	if version == 0 {
		version = kind.MemoryVersion(p)
	}
	section := func(offset int64) ([]byte, error) { return p.Section(version, offset) }
	file := instrprof.Profile{BinaryIDs: slices.Clone(ids)}
	err := output.Write(e.Out, out.Path, func(w io.Writer) error {
		return file.WriteIndexed(w, instrprof.IndexedOptions{Version: k.indexed(), MemProf: section})
	})
	if err != nil {
		return err
	}
	losses := p.Losses(version)
	if losses.Callees > 0 {
		e.Warnf("version %d has no callees: calls without theirs: %d", version, losses.Callees)
	}
	if losses.DataAccess > 0 {
		e.Warnf("version %d has no data access profile: entries left out: %d", version, losses.DataAccess)
	}
	return nil
}

// Merge writes the sum of memory profiles, in indexed, raw and YAML files. It reads one file after
// the other, and holds the sum and one of them in memory.
func (k *Kind) Merge(e *cli.Env, m *kind.Merge) error {
	if err := refuseTrimming(m.Trim); err != nil {
		return err
	}
	times, err := m.Times(k)
	if err != nil {
		return err
	}
	sum := new(memprof.Profile)
	var ids []instrprof.BinaryID // of the binaries of all inputs
	err = m.EachInput(func(i int, f *input.File) error {
		l, err := load(f)
		if err != nil {
			return err
		}
		src, err := k.mergeable(e, m, l)
		if err != nil {
			return err
		}
		if isEmpty(src) {
			m.Nothing(i)
		}
		ids = append(ids, l.ids...)
		return sum.Merge(src, times[i])
	})
	if err != nil {
		return err
	}
	return k.write(e, m.Out, sum, ids)
}

// mergeable returns the profile in an input file of a merge. With --keep-going it reads the whole
// file first. So a damaged file is left out before any of it is added to the sum.
func (k *Kind) mergeable(e *cli.Env, m *kind.Merge, l *loaded) (memprof.Source, error) {
	src, _, err := k.source(e, l)
	if err != nil || !m.KeepGoing {
		return src, err
	}
	whole := new(memprof.Profile)
	return whole, whole.Merge(src, 1)
}

// isEmpty reports whether a profile has no records.
func isEmpty(src memprof.Source) bool {
	for range src.Records() {
		return false
	}
	return true
}

// A loaded is an opened memory profile: an indexed file, a raw file or a YAML file.
type loaded struct {
	format string // "memprof", "raw" or "yaml"
	size   int64
	reader *memprof.Reader  // set for "memprof"
	raw    *memprof.Raw     // set for "raw"
	text   *memprof.Profile // set for "yaml"
	ids    []instrprof.BinaryID

	functions int // number of functions with counters in the same indexed file
}

// load opens a memory profile in any of the formats.
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

// source returns the profile in a file. It also returns the names of its functions by GUID, or nil
// if they are not known. In a raw profile, it finds the functions of addresses with the debug info
// of the program that --binary names.
func (k *Kind) source(e *cli.Env, l *loaded) (memprof.Source, map[uint64]string, error) {
	switch {
	case l.reader != nil:
		return l.reader, nil, nil
	case l.text != nil:
		return l.text, nil, nil
	}
	path := k.binary.Path()
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

// profile loads a memory profile from a file. The result has one record for each allocation stack.
// profile also returns the names of functions by GUID, as far as they are known.
func (k *Kind) profile(e *cli.Env, f *input.File) (*loaded, *memprof.Profile, map[uint64]string, error) {
	l, err := load(f)
	if err != nil {
		return nil, nil, nil, err
	}
	src, names, err := k.source(e, l)
	if err == nil {
		names, err = k.withBinary(names)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	p := new(memprof.Profile)
	return l, p, names, p.Merge(src, 1)
}

// withBinary returns the names of functions by GUID. It returns names unless that is nil, and
// otherwise the names of the functions in the program that --binary names.
func (k *Kind) withBinary(names map[uint64]string) (map[uint64]string, error) {
	if path := k.binary.Path(); names == nil && path != "" {
		return namesOf(path)
	}
	return names, nil
}

// nameOf returns the name of the function with a GUID. If names does not have it, nameOf returns
// the GUID in hexadecimal digits.
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

// symbols finds the functions and lines for addresses in a binary's code. It collects the names of
// the functions that it finds.
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

// Locate implements [memprof.Symbolizer]. It reads only the compilation units of the debug info
// that contain one of the addresses.
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

// at returns the functions that contain an address: the innermost inlined function first, and then
// the functions into which it was inlined.
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
