// Package find finds units and symbols by what people type.
package find

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/near"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// maxListed is how many units are named where several fit.
const maxListed = 20

// Unit returns the unit of a path, or the only one whose path ends in it at a '/'. The error of a
// unit that is not found names others that may have been meant.
func Unit(r *afdo.Reader, path string) (*afdo.Unit, error) {
	u, err := r.UnitBySuffix(path)
	if errors.Is(err, afdo.ErrNotFound) && path == human.UnknownUnit {
		return r.Unit("")
	}
	return u, explain(err, path, func(yield func(string, error) bool) {
		for u, err := range r.Units() {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(u.Path(), nil) {
				return
			}
		}
	})
}

// File is [Unit] for a profile in memory.
func File(p *profile.Profile, path string) (profile.UnitRef, error) {
	f, err := p.UnitBySuffix(path)
	if errors.Is(err, afdo.ErrNotFound) && path == human.UnknownUnit {
		return profile.UnknownUnit, nil
	}
	return f, explain(err, path, func(yield func(string, error) bool) {
		for i := range p.NumUnits() {
			if !yield(p.UnitPath(profile.UnitRef(i)), nil) {
				return
			}
		}
	})
}

// explain adds to an error the paths that the user may have meant by a path that matches no unit,
// or several.
func explain(err error, path string, paths iter.Seq2[string, error]) error {
	var several *afdo.AmbiguousError
	switch {
	case errors.As(err, &several):
		return ambiguous(several)
	case !errors.Is(err, afdo.ErrNotFound):
		return err
	}
	var failed error
	missing := NotFound(path, func(yield func(string) bool) {
		for have, err := range paths {
			if err != nil {
				failed = err
				return
			}
			if !yield(have) {
				return
			}
		}
	})
	if failed != nil {
		return failed
	}
	return missing
}

// NotFound returns the error for a path that matches no unit. It names units that the user may have
// meant.
func NotFound(path string, units iter.Seq[string]) error {
	n := near.New(base(path))
	for have := range units {
		if have != "" {
			n.Add(have, base(have))
		}
	}
	return near.NotFound("unit", path, n.Best())
}

func ambiguous(several *afdo.AmbiguousError) error {
	var list strings.Builder
	for i, path := range several.Paths {
		if i == maxListed {
			fmt.Fprintf(&list, "\n  and %d more", len(several.Paths)-i)
			break
		}
		list.WriteString("\n  " + human.Unit(path))
	}
	return fmt.Errorf("unit %q: %w, it may be%s", several.Path, afdo.ErrAmbiguous, list.String())
}

// base returns the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
