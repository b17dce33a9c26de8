// Package layout decides where clang and lld place the blocks and functions of a program, from a
// recording of the program: code that runs together becomes adjacent, and code that did not run
// goes elsewhere. Propeller is the name of this technique.
//
//	f, err := symbolize.Open("prog")
//	set, _, err := samples.Read(in, binary, samples.Options{Jumps: true})
//	l, report, err := layout.New(ctx, f, set, layout.Options{})
//	err = l.WriteList(ccProfile, 1)
//	err = l.WriteSymbols(ldProfile)
//
// The program has a block address map: it was compiled with -fbasic-block-address-map.
// docs/guide/layout.md describes the way from a recording to a faster program, and what it gains.
package layout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/bbmap"
	list "github.com/go-afdo/afdo/internal/layoutlist"
)

// ErrDrift is returned if so few branches fit the block address map that the recording must be of
// another build.
var ErrDrift = errors.New("the recording does not fit the program's block address map")

// errNothing is returned if no function of the block address map ran.
var errNothing = errors.New("no function with a block address map ran")

// Options configure [New] and [OrderFunctions].
type Options struct {
	// Progress is called from time to time with the number of functions done and of all, from one
	// goroutine. It may be nil.
	Progress func(done, all int)
}

// A Layout is the order in which the linker should place a program's functions, and clang the
// blocks of each function.
type Layout struct {
	// list contains the functions that ran, in the order of their addresses. The clusters have the
	// blocks that ran, in the order of the layout. Blocks that did not run are in no cluster.
	list list.List

	// Order contains the indexes of list.Functions in the order of the layout.
	Order []int

	// Split reports for each function whether some of its blocks did not run and are in no cluster.
	Split []bool
}

// New makes a layout from a recording of a program. The Set should have been read with
// [samples.Options].Jumps. If the Set has Landings, call create.EndRanges before.
//
// It reads the whole block address map once, and holds the blocks of the functions that ran in
// memory. The same input always gives the same layout. Its errors are those of packages bbmap and
// symbolize, [ErrDrift] and an error if no function with a block address map ran. The report is
// returned with the last two as well.
func New(ctx context.Context, f *symbolize.File, set *samples.Set, o Options) (*Layout, *Report, error) {
	m, err := bbmap.New(f.ELF())
	if err != nil {
		return nil, new(Report), err
	}
	p := &program{file: f, blocks: m, report: new(Report), hot: make(map[int32]*function)}
	if err := p.readMap(); err != nil {
		return nil, p.report, err
	}
	l, err := p.make(ctx, set, o)
	return l, p.report, err
}

// make makes a layout of the functions in p from the samples of a recording.
func (p *program) make(ctx context.Context, set *samples.Set, o Options) (*Layout, error) {
	for _, step := range []func() error{
		func() error { return p.count(set) },
		p.report.check,
		p.name,
		ctx.Err,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p.order(ctx, o)
}

// WriteList writes the file of functions and blocks that clang reads, in version 1, or in version 0
// for clang 16 and older. Version 0 has no hashes of blocks.
func (l *Layout) WriteList(w io.Writer, version int) error {
	written := list.List{Functions: slices.Clone(l.list.Functions)}
	for i := range written.Functions {
		if version == list.V0 {
			written.Functions[i].Hashes = nil
		}
	}
	return written.Write(w, version)
}

// WriteSymbols writes the symbols of the functions that ran in the order of the layout, and then
// the symbols of their cold parts, for lld's --symbol-ordering-file. The layout has no local
// symbols of a name that occurs in several files. The error matches afdo.ErrUnrepresentable for a
// name that lld would take for something else.
func (l *Layout) WriteSymbols(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, i := range l.Order {
		if name := l.list.Functions[i].Names[0]; !list.IsName(name) || name[0] == '#' {
			return fmt.Errorf("layout: %w: the name %q in a list of symbols", afdo.ErrUnrepresentable, name)
		}
	}
	for _, i := range l.Order {
		out.WriteString(l.list.Functions[i].Names[0] + "\n")
	}
	for _, i := range l.Order {
		if l.Split[i] {
			out.WriteString(l.list.Functions[i].Names[0] + ".cold\n")
		}
	}
	return out.Flush()
}
