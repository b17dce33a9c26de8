package memprofkind

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/pprofile"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// facts is what the verb show prints about a memory profile, in the form of its JSON.
type facts struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Version int    `json:"version,omitempty"` // version of the MemProf section or the raw profile
	Size    int64  `json:"size"`

	Fields      []string `json:"fields,omitempty"` // names of the values recorded for each allocation
	Functions   int      `json:"functions"`
	Stacks      uint64   `json:"stacks"` // number of call stacks that allocate
	ColdStacks  uint64   `json:"cold_stacks"`
	MaxColdSize uint64   `json:"max_cold_size"`
	MaxWarmSize uint64   `json:"max_warm_size"`
	Allocations uint64   `json:"allocations"`
	Bytes       uint64   `json:"bytes"`
	ColdBytes   uint64   `json:"cold_bytes"`

	DataRecords int `json:"data_records"`
	ColdSymbols int `json:"cold_symbols"`
	ColdHashes  int `json:"cold_literals"`

	Segments []segmentFacts `json:"segments,omitempty"` // the mapped parts of the program, for a raw profile
}

type segmentFacts struct {
	Start   uint64 `json:"start"`
	End     uint64 `json:"end"`
	BuildID string `json:"build_id"`
}

// Show prints the format, sizes and totals of a memory profile. For a raw profile without --binary,
// it leaves out the facts that need functions.
func (k *Kind) Show(e *cli.Env, f *input.File, asJSON bool) error {
	l, err := load(f)
	if err != nil {
		return err
	}
	s := facts{File: f.Name, Format: l.format, Size: l.size}
	if l.raw != nil {
		s.raw(l.raw)
	}
	if l.raw == nil || k.binary.Path() != "" {
		src, _, err := k.source(e, l)
		if err != nil {
			return err
		}
		if err := s.source(src); err != nil {
			return err
		}
	}
	if l.reader != nil {
		s.Version = l.reader.Version()
	}
	return output.Facts(e.Out, asJSON, s, s.print)
}

func (s *facts) raw(r *memprof.Raw) {
	s.Version = r.Version()
	for _, g := range r.Segments() {
		s.Segments = append(s.Segments, segmentFacts{g.Start, g.End, hex.EncodeToString(g.BuildID)})
	}
	blocks := r.Blocks()
	for i := range blocks {
		s.block(&blocks[i].Block)
	}
}

func (s *facts) block(b *memprof.Block) {
	s.Stacks++
	s.Allocations += b[memprof.AllocCount]
	s.Bytes += b[memprof.TotalSize]
	if b.Temperature() == memprof.Cold {
		s.ColdStacks++
		s.ColdBytes += b[memprof.TotalSize]
		s.MaxColdSize = max(s.MaxColdSize, b[memprof.TotalSize])
	} else {
		s.MaxWarmSize = max(s.MaxWarmSize, b[memprof.TotalSize])
	}
}

// source sets the facts for which the functions of the profile must be known. It counts allocation
// stacks. Stacks that differ only in addresses, and not in functions and lines, count as one.
func (s *facts) source(src memprof.Source) error {
	var p memprof.Profile
	if err := p.Merge(src, 1); err != nil {
		return err
	}
	for _, f := range src.Schema() {
		s.Fields = append(s.Fields, f.String())
	}
	s.Stacks, s.Allocations, s.Bytes, s.ColdStacks, s.ColdBytes, s.MaxColdSize, s.MaxWarmSize = 0, 0, 0, 0, 0, 0, 0
	s.Functions = p.NumRecords()
	for a := range p.Allocs() {
		s.block(&a.Block)
	}
	access, err := src.DataAccess()
	if err == nil && access != nil {
		s.DataRecords, s.ColdSymbols, s.ColdHashes = len(access.Records), len(access.ColdSymbols), len(access.ColdHashes)
	}
	return err
}

func (s *facts) print(w io.Writer) error {
	t := table.Table{Columns: "lr"}
	row := func(label string, n uint64) { t.Row(label, human.Number(n)) }
	row("Size", uint64(s.Size))
	if s.Segments == nil || s.Fields != nil {
		row("Functions", uint64(s.Functions))
	}
	row("Call stacks that allocate", s.Stacks)
	row("  cold", s.ColdStacks)
	row("Allocations", s.Allocations)
	row("Bytes allocated", s.Bytes)
	row("  cold", s.ColdBytes)
	row("  most at one warm stack", s.MaxWarmSize)
	row("  most at one cold stack", s.MaxColdSize)
	if s.DataRecords+s.ColdSymbols+s.ColdHashes > 0 {
		row("Data that is accessed", uint64(s.DataRecords))
		row("Cold symbols", uint64(s.ColdSymbols))
		row("Cold string literals", uint64(s.ColdHashes))
	}
	version := ""
	if s.Version > 0 {
		version = fmt.Sprintf(" of version %d", s.Version)
	}
	if _, err := fmt.Fprintf(w, "%s: memory profile, %s%s\n%s", human.Name(s.File), s.Format, version, t.Text(2)); err != nil {
		return err
	}
	for _, g := range s.Segments {
		if _, err := fmt.Fprintf(w, "  Code at %#x to %#x of build %s\n", g.Start, g.End, g.BuildID); err != nil {
			return err
		}
	}
	return nil
}

// Lookup prints the record of one function as YAML. In an indexed file it decodes no other record.
func (k *Kind) Lookup(e *cli.Env, f *input.File, o *kind.LookupOptions) error {
	if o.HasUnit || !o.HasSymbol || o.JSON {
		return cli.Usagef("a memory profile is looked up with --symbol NAME or --symbol 0xGUID, and printed as YAML")
	}
	l, err := load(f)
	if err != nil {
		return err
	}
	src, names, err := k.source(e, l)
	if err != nil {
		return err
	}
	record := src.(interface {
		Record(function uint64) (memprof.Record, error)
	}).Record
	rec, err := record(guidOf(o.Symbol))
	if errors.Is(err, fault.ErrNotFound) {
		if names, err = k.withBinary(names); err != nil {
			return err
		}
		var name string
		if name, err = meant(o.Symbol, names, record); err != nil {
			return err
		}
		rec, err = record(memprof.GUID(name))
	}
	if err != nil {
		return err
	}
	one := new(memprof.Profile)
	if err := one.AddRecords(src, func(yield func(memprof.Record, error) bool) { yield(rec, nil) }); err != nil {
		return err
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return memprof.WriteYAML(w, one) })
}

// meant returns the name of the function that the user means by symbol. names has the names of
// functions by GUID, and record returns the record of a function. Only functions with a record can
// be meant.
func meant(symbol string, names map[uint64]string, record func(function uint64) (memprof.Record, error)) (string, error) {
	return find.Meant("function", symbol, func(yield func(string, error) bool) {
		for guid, name := range names {
			_, err := record(guid)
			if errors.Is(err, fault.ErrNotFound) {
				continue
			}
			if !yield(name, err) {
				return
			}
		}
	})
}

// guidOf returns the GUID of the function that the user has typed. A word of "0x" and hexadecimal
// digits is the GUID itself. Any other word is a name, from which the GUID is computed.
func guidOf(symbol string) uint64 {
	if guid, err := strconv.ParseUint(symbol, 0, 64); err == nil && len(symbol) > 2 && symbol[:2] == "0x" {
		return guid
	}
	return memprof.GUID(symbol)
}

// A guid is the ID of a function, a hash of its name. JSON has it as a string of hexadecimal
// digits, as --symbol takes it, because JavaScript cannot represent all numbers of 64 bits.
type guid uint64

func (g guid) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(g)), nil }

// topFunction has the figures of one function in the list that the verb top prints.
type topFunction struct {
	GUID        guid   `json:"guid"`
	Name        string `json:"name,omitempty"`
	Bytes       uint64 `json:"bytes"`       // bytes that the function allocates itself
	Allocations uint64 `json:"allocations"` // number of times that it allocates itself
	ColdBytes   uint64 `json:"cold_bytes"`  // part of Bytes that is cold
	TotalBytes  uint64 `json:"total_bytes"` // Bytes and the bytes that its callees allocate

	symbol string // mangled name, if the name is to be demangled
}

// topFacts is the JSON report of "afdo top" on a memory profile.
type topFacts struct {
	Bytes     uint64        `json:"bytes"`
	Functions []topFunction `json:"functions"`
	LeftOut   int           `json:"left_out"`

	width int // width of the terminal in columns
}

// Top lists the functions that allocate the most bytes.
func (k *Kind) Top(e *cli.Env, f *input.File, o *kind.TopOptions) error {
	if o.HasUnit || o.Calls {
		return cli.Usagef("a memory profile knows neither units nor calls that allocate nothing")
	}
	_, p, names, err := k.profile(e, f)
	if err != nil {
		return err
	}
	facts, err := topOf(p)
	if err != nil {
		return err
	}
	facts.width = o.Width
	facts.sort(o.Order, names)
	facts.Functions, facts.LeftOut = table.First(facts.Functions, o.Number)
	for i := range facts.Functions {
		t := &facts.Functions[i]
		if t.Name = names[uint64(t.GUID)]; o.Demangle && t.Name != "" {
			t.symbol, t.Name = t.Name, demangled.Name(t.Name)
		}
	}
	return output.Facts(e.Out, o.JSON, facts, facts.print)
}

func topOf(p *memprof.Profile) (*topFacts, error) {
	facts := new(topFacts)
	at := make(map[uint64]int)
	function := func(id uint64) *topFunction {
		i, ok := at[id]
		if !ok {
			i = len(facts.Functions)
			at[id] = i
			facts.Functions = append(facts.Functions, topFunction{GUID: guid(id)})
		}
		return &facts.Functions[i]
	}
	for a := range p.Allocs() {
		size := a.Block[memprof.TotalSize]
		facts.Bytes += size
		met := make(map[uint64]struct{})
		for f, err := range p.Frames(a.Stack) {
			if err != nil {
				return nil, err
			}
			if _, again := met[f.Function]; again {
				continue
			}
			t := function(f.Function)
			if t.TotalBytes += size; len(met) == 0 {
				t.Bytes += size
				t.Allocations += a.Block[memprof.AllocCount]
				if a.Block.Temperature() == memprof.Cold {
					t.ColdBytes += size
				}
			}
			met[f.Function] = struct{}{}
		}
	}
	return facts, nil
}

// sort orders the functions by the count that --sort names. The default is the number of bytes that
// a function allocates itself.
func (t *topFacts) sort(order string, names map[uint64]string) {
	slices.SortFunc(t.Functions, func(a, b topFunction) int {
		byName := cmp.Or(cmp.Compare(names[uint64(a.GUID)], names[uint64(b.GUID)]), cmp.Compare(a.GUID, b.GUID))
		switch order {
		case "total":
			return cmp.Or(cmp.Compare(b.TotalBytes, a.TotalBytes), byName)
		case "name":
			return byName
		case "head":
			return cmp.Or(cmp.Compare(b.Allocations, a.Allocations), byName)
		}
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.TotalBytes, a.TotalBytes), byName)
	})
}

func (t *topFacts) print(w io.Writer) error {
	list := table.List{Numbers: table.Table{Columns: "rrrrr"}, Heading: "Function", LeftOut: t.LeftOut, Width: t.width}
	list.Numbers.Row("Bytes", "Bytes%", "Cold", "Allocations", "Total")
	for _, f := range t.Functions {
		list.Numbers.Row(human.Number(f.Bytes), human.Percentage(f.Bytes, t.Bytes), human.Number(f.ColdBytes), human.Number(f.Allocations), human.Number(f.TotalBytes))
	}
	list.Spare = []int{3, 2}
	list.About = func(i int) (iter.Seq[string], string) { return t.Functions[i].names(), "" }
	return list.Write(w, 0)
}

// names yields the forms in which the function's name can be printed, such as with and without
// parameters, the longest first.
func (f *topFunction) names() iter.Seq[string] {
	if f.symbol != "" {
		return demangled.Forms(f.symbol, true)
	}
	return demangled.Forms(cmp.Or(f.Name, nameOf(nil, uint64(f.GUID))), false)
}

// Drawing returns a sample profile for the verb report in which allocated bytes take the place of
// samples.
func (k *Kind) Drawing(e *cli.Env, f *input.File) (*kind.Drawing, error) {
	l, p, names, err := k.profile(e, f)
	if err != nil {
		return nil, err
	}
	q, err := asBodies(p, names)
	if err != nil {
		return nil, err
	}
	return &kind.Drawing{
		Profile: q,
		Format:  l.format,
		Note:    "Samples are bytes that were allocated. What is inlined in a function here is what it calls, inlined or not, and how often a function was entered is how often it began a call stack that allocates.",
		Size:    l.size,
	}, nil
}

// asBodies converts a memory profile to a sample profile. Each call stack becomes a chain of nested
// inlined functions, of which the outermost function of the stack is the first. Allocated bytes
// become samples.
func asBodies(p *memprof.Profile, names map[uint64]string) (*profile.Profile, error) {
	q := profile.New()
	roots := make(map[profile.SymbolRef]*outermost)
	symbol := func(f memprof.Frame) profile.SymbolRef {
		return q.AddSymbol(profile.UnknownUnit, nameOf(names, f.Function))
	}
	var stack []memprof.Frame
	for a := range p.Allocs() {
		stack = stack[:0]
		for f, err := range p.Frames(a.Stack) {
			if err != nil {
				return nil, err
			}
			stack = append(stack, f)
		}
		if len(stack) == 0 {
			continue
		}
		slices.Reverse(stack)
		root := symbol(stack[0])
		if roots[root] == nil {
			roots[root] = new(outermost)
		}
		roots[root].add(stack, &a.Block, symbol)
	}
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		r := roots[root]
		q.AddFunction(root, profile.Function{HeadCount: r.calls, Records: r.body.Records()})
	}
	return q, nil
}

// An outermost collects the call stacks that have the same outermost function. They become the body
// of that function in a sample profile.
type outermost struct {
	body  profile.Body
	calls uint64
	added int // frames added since equal records were last merged
	kept  int // number of records after that merge
}

// add adds a call stack and its counts. The outermost frame of the stack comes first. symbol
// returns the symbol of a frame's function in the sample profile.
func (o *outermost) add(stack []memprof.Frame, b *memprof.Block, symbol func(memprof.Frame) profile.SymbolRef) {
	o.calls = saturating.Add(o.calls, b[memprof.AllocCount])
	for i, f := range stack[1:] {
		o.body.Enter(stack[i].LineOffset, stack[i].Column, symbol(f))
	}
	last := stack[len(stack)-1]
	o.body.Count(last.LineOffset, last.Column, b[memprof.TotalSize])
	for range stack[1:] {
		o.body.Leave()
	}
	if o.added += len(stack); o.added > 1<<16+o.kept { // stacks have most frames in common
		o.added, o.kept = 0, len(o.body.Records())
	}
}

// heapTypes are the types of the values of a call stack in a heap profile. Go's heap profiles have
// the first and the last too, so pprof knows these.
var heapTypes = []pprofile.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "lifetime", Unit: "milliseconds"}, {Name: "alloc_space", Unit: "bytes"}}

// Pprof writes the allocations of a memory profile, with their call stacks, as a heap profile for
// pprof.
func (k *Kind) Pprof(e *cli.Env, f *input.File, o *kind.PprofOptions) error {
	_, p, names, err := k.profile(e, f)
	if err != nil {
		return err
	}
	options := pprofile.Options{Source: filepath.Base(f.Name), Comments: []string{
		fmt.Sprintf("Made by afdo pprof of %s, a memory profile of LLVM.", human.Name(filepath.Base(f.Name))),
		"Line numbers are offsets from the first line of the function.",
		"lifetime adds up how long each allocation lived.",
	}}
	if o.Demangle {
		options.Name = demangled.Bounded
	}
	return output.Write(e.Out, o.Path, func(w io.Writer) error {
		return pprofile.WriteStacks(w, options, heapTypes, stacksOf(p, names))
	})
}

func stacksOf(p *memprof.Profile, names map[uint64]string) iter.Seq2[pprofile.Stack, error] {
	return func(yield func(pprofile.Stack, error) bool) {
		var s pprofile.Stack
		for a := range p.Allocs() {
			s.Values = append(s.Values[:0], a.Block[memprof.AllocCount], a.Block[memprof.TotalLifetime], a.Block[memprof.TotalSize])
			s.Places = s.Places[:0]
			for f, err := range p.Frames(a.Stack) {
				if err != nil {
					yield(s, err)
					return
				}
				s.Places = append(s.Places, pprofile.Place{Function: pprofile.Function{Name: nameOf(names, f.Function)}, Line: f.LineOffset, Inlined: f.Inlined})
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}
