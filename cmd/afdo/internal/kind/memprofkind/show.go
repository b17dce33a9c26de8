package memprofkind

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/fault"
)

// facts is what show prints, in the form of its JSON.
type facts struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Version int    `json:"version,omitempty"` // of the section or the raw profile
	Size    int64  `json:"size"`

	Fields      []string `json:"fields,omitempty"` // of each allocation
	Functions   int      `json:"functions"`
	Stacks      uint64   `json:"stacks"` // that allocate
	ColdStacks  uint64   `json:"cold_stacks"`
	MaxColdSize uint64   `json:"max_cold_size"`
	MaxWarmSize uint64   `json:"max_warm_size"`
	Allocations uint64   `json:"allocations"`
	Bytes       uint64   `json:"bytes"`
	ColdBytes   uint64   `json:"cold_bytes"`

	DataRecords int `json:"data_records"`
	ColdSymbols int `json:"cold_symbols"`
	ColdHashes  int `json:"cold_literals"`

	Segments []segmentFacts `json:"segments,omitempty"` // of a raw profile
}

type segmentFacts struct {
	Start   uint64 `json:"start"`
	End     uint64 `json:"end"`
	BuildID string `json:"build_id"`
}

// Show prints what a profile is. Of a raw one without --binary that is what there is without
// functions.
func (k *Kind) Show(e *cli.Env, f *input.File, o *kind.ShowOptions) error {
	l, err := load(f)
	if err != nil {
		return err
	}
	s := facts{File: f.Name, Format: l.format, Size: l.size}
	if l.raw != nil {
		s.raw(l.raw)
	}
	if l.raw == nil || k.binaryPath() != "" {
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
	if o.JSON {
		return output.JSON(e.Out, s)
	}
	return output.Write(e.Out, cli.Stdio, s.print)
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

// source adds up stacks after functions are known: what differs in addresses only is one then.
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
	if _, err := fmt.Fprintf(w, "%s: memory profile, %s%s\n", human.Name(s.File), s.Format, version); err != nil {
		return err
	}
	if err := t.Write(w, 2); err != nil {
		return err
	}
	for _, g := range s.Segments {
		if _, err := fmt.Fprintf(w, "  Code at %#x to %#x of build %s\n", g.Start, g.End, g.BuildID); err != nil {
			return err
		}
	}
	return nil
}

// Lookup prints the record of one function as YAML. Of an indexed file it decodes nothing else.
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
	if err := one.AddRecords(src, single(rec)); err != nil {
		return err
	}
	return output.Write(e.Out, cli.Stdio, func(w io.Writer) error { return memprof.WriteYAML(w, one) })
}

// meant returns the name of the function with a record that is meant by a name that has none.
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

func single(rec memprof.Record) iter.Seq2[memprof.Record, error] {
	return func(yield func(memprof.Record, error) bool) { yield(rec, nil) }
}

// guidOf takes "0x" and hexadecimal digits for a GUID and all else for a name.
func guidOf(symbol string) uint64 {
	if guid, err := strconv.ParseUint(symbol, 0, 64); err == nil && len(symbol) > 2 && symbol[:2] == "0x" {
		return guid
	}
	return memprof.GUID(symbol)
}
