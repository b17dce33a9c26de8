package annotate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/symname"
)

// ErrNoDeclaration is returned by [Listing.Declare] for a binary whose debug info knows none of the
// functions.
var ErrNoDeclaration = errors.New("the debug info declares none of the unit's functions")

// Declare sets the lines of declarations from the debug info of a binary. It only reads the units
// that contain code of a function of the listing, or of a function in which one is inlined.
//
// A function that the debug info does not contain keeps line 0. If this is true for all functions,
// the error is [ErrNoDeclaration].
func (l *Listing) Declare(ctx context.Context, binary string) error {
	names := make([]Name, len(l.Functions))
	for i, f := range l.Functions {
		names[i] = Name{l.Unit.Path(), f.Symbol.Name()}
	}
	holders, err := l.holders()
	if err != nil {
		return err
	}
	lines, err := Declarations(ctx, binary, names, holders)
	for i, line := range lines {
		l.Functions[i].Declared = line
	}
	return err
}

// A Name is a function by the path of its unit and its name as the assembler has it.
type Name struct{ Unit, Symbol string }

// Declarations returns the lines at which functions are declared, or 0 for a function that the
// debug info of the binary does not contain. If it contains none of them, the error is
// [ErrNoDeclaration]. holders are the names of functions in which the wanted functions may be
// inlined. Declarations reads the debug info of these and of the functions themselves.
func Declarations(ctx context.Context, binary string, functions []Name, holders []string) ([]uint32, error) {
	file, err := symbolize.Open(binary)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	wanted := make(map[Name][]int) // by the last part of the unit's path and the canonical name
	canonicals := make(map[string]bool)
	for i, f := range functions {
		name := Name{path.Base(f.Unit), symname.Canonical(f.Symbol)}
		wanted[name] = append(wanted[name], i)
		canonicals[name.Symbol] = true
	}
	for _, name := range holders {
		canonicals[symname.Canonical(name)] = true
	}
	symbols, err := symbolsNamed(file, canonicals)
	if err != nil {
		return nil, err
	}
	lines, found := make([]uint32, len(functions)), false
	for code, err := range file.Code(ctx, symbols) {
		if err != nil {
			return nil, err
		}
		for _, span := range code.Spans {
			for i := span.Instance; i != nil; i = i.Caller {
				// The profile may have the function in another file than debug info.
				for _, f := range wanted[Name{path.Base(i.Function.File), symname.Canonical(i.Function.Linkage())}] {
					lines[f], found = i.Function.Line, true
				}
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("%s: %w", binary, ErrNoDeclaration)
	}
	return lines, nil
}

// holders returns the names of all functions of the unit. The wanted functions may be inlined in
// them.
func (l *Listing) holders() (names []string, err error) {
	for s, err := range l.Unit.Symbols() {
		if err != nil {
			return nil, err
		}
		if s.HasInfo() {
			names = append(names, s.Name())
		}
	}
	return names, nil
}

// symbolsNamed returns the functions of a binary that have one of the canonical names.
func symbolsNamed(file *symbolize.File, names map[string]bool) ([]symbolize.Symbol, error) {
	var symbols []symbolize.Symbol
	for s, err := range file.Symbols() {
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.Names, func(name string) bool { return names[symname.Canonical(name)] }) {
			symbols = append(symbols, s)
		}
	}
	return symbols, nil
}
