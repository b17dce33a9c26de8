package annotate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/symbolize"
)

// ErrNoDeclaration is returned by [Listing.Declare] for a binary whose debug info knows none of the
// functions.
var ErrNoDeclaration = errors.New("the debug info declares none of the unit's functions")

// Declare fills in the lines of declarations from the debug info of a binary. Of that it reads the
// units that have code of a function of the listing, or of one in which a function of it is
// inlined.
//
// A function of which the binary knows nothing keeps 0. The error is [ErrNoDeclaration] if that is
// all of them.
func (l *Listing) Declare(ctx context.Context, binary string) error {
	file, err := symbolize.Open(binary)
	if err != nil {
		return err
	}
	defer file.Close()
	wanted := make(map[string][]*Function)
	for _, f := range l.Functions {
		name := canonical.Name(f.Symbol.Name())
		wanted[name] = append(wanted[name], f)
	}
	holders, err := l.holders(wanted)
	if err != nil {
		return err
	}
	symbols, err := symbolsNamed(file, holders)
	if err != nil {
		return err
	}
	base, found := path.Base(l.Unit.Path()), false
	for code, err := range file.Code(ctx, symbols) {
		if err != nil {
			return err
		}
		for _, span := range code.Spans {
			for i := span.Instance; i != nil; i = i.Caller {
				if path.Base(i.Function.File) != base {
					continue // the profile has it in another file than debug info
				}
				for _, f := range wanted[canonical.Name(i.Function.Linkage())] {
					f.Declared, found = i.Function.Line, true
				}
			}
		}
	}
	if !found {
		return fmt.Errorf("%s: %w", binary, ErrNoDeclaration)
	}
	return nil
}

// holders returns the canonical names of all functions of the unit whose code may tell where the
// wanted ones are declared: they themselves, and those in which they are inlined.
func (l *Listing) holders(wanted map[string][]*Function) (map[string]bool, error) {
	holders := make(map[string]bool)
	for name := range wanted {
		holders[name] = true
	}
	for s, err := range l.Unit.Symbols() {
		if err != nil {
			return nil, err
		}
		if s.HasInfo() {
			holders[canonical.Name(s.Name())] = true
		}
	}
	return holders, nil
}

// symbolsNamed returns the functions of a binary that have one of the canonical names.
func symbolsNamed(file *symbolize.File, names map[string]bool) ([]symbolize.Symbol, error) {
	var symbols []symbolize.Symbol
	for s, err := range file.Symbols() {
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.Names, func(name string) bool { return names[canonical.Name(name)] }) {
			symbols = append(symbols, s)
		}
	}
	return symbols, nil
}
