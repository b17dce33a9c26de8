package memprofkind

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/go-afdo/afdo/cmd/afdo/internal/demangled"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/pprofile"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// heapTypes are the values of a stack. pprof knows the first and the last from Go's heap profiles.
var heapTypes = []pprofile.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "lifetime", Unit: "milliseconds"}, {Name: "alloc_space", Unit: "bytes"}}

// Pprof writes allocation stacks as a heap profile.
func (k *Kind) Pprof(e *cli.Env, f *input.File, o *kind.PprofOptions) error {
	p, names, err := k.profile(e, f)
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
				s.Places = append(s.Places, pprofile.Place{Function: nameOf(names, f.Function), Line: f.LineOffset, Inlined: f.Inlined})
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}
