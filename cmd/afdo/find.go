package main

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/go-afdo/afdo"
)

// maxListed is how many units are named where several fit.
const maxListed = 20

// findUnit returns the unit of a path, or the only one whose path ends in it at
// a '/'. The error of a unit that is not found names others that may have been meant.
func findUnit(r *afdo.Reader, path string) (*afdo.Unit, error) {
	u, err := r.UnitBySuffix(path)
	var several *afdo.AmbiguousError
	switch {
	case errors.As(err, &several):
		return nil, ambiguous(several)
	case !errors.Is(err, afdo.ErrNotFound):
		return u, err
	case path == unknownUnit:
		return r.Unit("")
	}
	return nil, noUnit(r, path)
}

func ambiguous(several *afdo.AmbiguousError) error {
	var list strings.Builder
	for i, path := range several.Paths {
		if i == maxListed {
			fmt.Fprintf(&list, "\n  and %d more", len(several.Paths)-i)
			break
		}
		list.WriteString("\n  " + printableUnit(path))
	}
	return fmt.Errorf("unit %q: %w, it may be%s", several.Path, afdo.ErrAmbiguous, list.String())
}

// findSymbol returns the symbol of a name in a unit.
func findSymbol(u *afdo.Unit, name string) (afdo.Symbol, error) {
	s, err := u.Symbol(name)
	if errors.Is(err, afdo.ErrNotFound) {
		return s, noSymbolIn(u, name)
	}
	return s, err
}

// base returns the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// noUnit is the error for a unit that is not there.
func noUnit(r *afdo.Reader, path string) error {
	n := nearest{want: base(path)}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		n.add(u.Path(), base(u.Path()))
	}
	return notFound("unit", path, n.names())
}

// noSymbol is the error for a symbol that none of some units has. The name may
// have been meant as people write it rather than as the assembler does.
func noSymbol(units iter.Seq2[*afdo.Unit, error], name string) error {
	n := nearest{want: name}
	plain := !isMangled(name)
	for u, err := range units {
		if err != nil {
			return err
		}
		for s, err := range u.Symbols() {
			if err != nil {
				return err
			}
			key := s.Name()
			if plain {
				key = demangledName(key)
			}
			n.add(s.Name(), key)
		}
	}
	return notFound("symbol", name, n.names())
}

// noSymbolIn is noSymbol for a single unit.
func noSymbolIn(u *afdo.Unit, name string) error {
	return noSymbol(func(yield func(*afdo.Unit, error) bool) { yield(u, nil) }, name)
}

func notFound(what, name string, near []string) error {
	if len(near) == 0 {
		return fmt.Errorf("%s %q: %w", what, name, afdo.ErrNotFound)
	}
	quoted := make([]string, len(near))
	for i, n := range near {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return fmt.Errorf("%s %q: %w, near: %s", what, name, afdo.ErrNotFound, strings.Join(quoted, ", "))
}
