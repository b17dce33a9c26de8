package memprofkind

import (
	"errors"
	"io"
	"iter"
	"strconv"

	"github.com/go-afdo/afdo/cmd/afdo/internal/find"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/fault"
)

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
