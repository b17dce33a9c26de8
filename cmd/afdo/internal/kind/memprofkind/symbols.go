package memprofkind

import (
	"context"
	"slices"
	"sort"

	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/input/symbolize"
)

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
