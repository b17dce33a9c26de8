package samplekind

import (
	"context"
	"slices"

	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/symname"
)

// files returns a function that finds the source file of a function in the debug info of --binary,
// or nil without that. It reads the units of the binary that contain the profile's functions.
func (k *Kind) files(p *sampleprof.Profile) (func(name string) string, error) {
	if k.program == "" {
		return nil, nil
	}
	binary, err := symbolize.Open(k.program)
	if err != nil {
		return nil, err
	}
	defer binary.Close()
	wanted := make(map[string]bool)
	for f := range p.Functions() {
		wanted[symname.Canonical(p.Name(f.Name).Text)] = true
	}
	var symbols []symbolize.Symbol
	for s, err := range binary.Symbols() {
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.Names, func(name string) bool { return wanted[symname.Canonical(name)] }) {
			symbols = append(symbols, s)
		}
	}
	files := make(map[string]string)
	for code, err := range binary.Code(context.Background(), symbols) {
		if err != nil {
			return nil, err
		}
		for _, span := range code.Spans {
			for i := span.Instance; i != nil; i = i.Caller {
				files[symname.Canonical(i.Function.Linkage())] = i.Function.File
			}
		}
	}
	return func(name string) string { return files[symname.Canonical(name)] }, nil
}
