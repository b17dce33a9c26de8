package explain

import (
	"context"
	"debug/elf"
	"fmt"
	"path/filepath"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
)

// Binary finds out which functions and statements a binary or an object file contains, from its
// debug info. Errors are those of packages symbolize and create.
func Binary(ctx context.Context, path string) (*Code, error) {
	c := &Code{Name: path}
	if err := c.readDebugInfo(ctx, path); err != nil {
		return nil, err
	}
	c.shapes = append(c.shapes, shapesOf(c.debug))
	c.bodies = make(map[string]*body)
	eachCount(c.debug, func(frames []frame, r *profile.Record) { c.add(c.path(frames), frames[len(frames)-1].place) })
	return c, nil
}

// readDebugInfo reads the debug info of the file at a path. It sets c.debug to a profile with one
// sample at each location that has code, and adds the functions to c.defined and c.declared.
func (c *Code) readDebugInfo(ctx context.Context, path string) error {
	f, err := symbolize.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.defined == nil {
		c.defined, c.declared = make(map[string]bool), make(map[string]declaration)
	}
	set, err := c.allCode(ctx, f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if set.Empty() {
		c.debug = profile.New()
		return nil
	}
	if c.debug, _, err = create.Profile(ctx, f, set, create.Options{}); err != nil {
		return err
	}
	eachCount(c.debug, func(frames []frame, r *profile.Record) { c.defined[frames[len(frames)-1].name] = true })
	return nil
}

// allCode returns one address sample for each range of code in a binary that belongs to one source
// line, as if each had run once. It also adds the declarations of the binary's functions to
// c.declared.
func (c *Code) allCode(ctx context.Context, f *symbolize.File) (*samples.Set, error) {
	offset := func(addr uint64) (uint64, bool) { return addr, true }
	if f.ELF().Type != elf.ET_REL {
		layout, err := samples.NewLayout(f.ELF())
		if err != nil {
			return nil, err
		}
		offset = layout.Offset
	}
	var symbols []symbolize.Symbol
	for s, err := range f.Symbols() {
		if err != nil {
			return nil, err
		}
		if _, ok := offset(s.Low); ok && s.High > s.Low {
			symbols = append(symbols, s)
		}
	}
	set := new(samples.Set)
	for code, err := range f.Code(ctx, symbols) {
		if err != nil {
			return nil, err
		}
		for _, span := range code.Spans {
			if at, ok := offset(span.Low); ok {
				set.Addresses.Add(at, 1)
			}
		}
		c.declare(code)
	}
	return set, nil
}

// declare adds the declarations of all functions in the code of a symbol, inlined ones included, to
// c.declared.
func (c *Code) declare(code *symbolize.Code) {
	var last *symbolize.Instance
	for _, span := range code.Spans {
		if span.Instance == last {
			continue
		}
		last = span.Instance
		for i := span.Instance; i != nil; i = i.Caller {
			if i.Function.Line == 0 {
				continue
			}
			at := declaration{i.Function.Name, filepath.Clean(i.Function.File), i.Function.Line}
			c.declared[create.InlinedName(i.Function)] = at
			if i.Caller == nil {
				c.declared[create.SelectedSuffixes.Name(code.Symbol.Names[0])] = at
			}
		}
	}
}
