package index

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
)

// indexed returns candidates from the index of a file.
type indexed struct{ *Index }

// newIndexed returns the index of a file, or nil if there is none to trust. The error is that of a
// read or of a damaged index.
func newIndexed(r *afdo.Reader) (*indexed, error) {
	x, err := v4.FileOf(r).Trusted()
	if x == nil || err != nil {
		return nil, v4.Public(r, err)
	}
	return &indexed{&Index{r, x}}, nil
}

// errNotIndexed means that the index does not contain the requested table.
var errNotIndexed = fmt.Errorf("index: %w", afdo.ErrNotFound)

// misleads reports whether an error was caused by an incorrect index.
func (x *indexed) misleads(err error) bool {
	var e *afdo.FormatError
	if errors.As(err, &e) {
		return x.x.Misleads(e.Section, e.Err)
	}
	return errors.Is(err, afdo.ErrNotFound) // a symbol ID that does not exist
}

func (x *indexed) named(canonicalName string) ([]afdo.SymbolID, error) {
	return x.find(indexfmt.Names, canonicalName, nil)
}

func (x *indexed) unqualified(names []string, scheme Scheme) ([]afdo.SymbolID, error) {
	if !x.x.Has(indexfmt.Unqualified) {
		return nil, errNotIndexed
	}
	made, err := x.x.Scheme(indexfmt.Unqualified)
	if err != nil {
		return nil, x.wrap(err)
	}
	if made != scheme.Name {
		return nil, errNotIndexed
	}
	var ids []afdo.SymbolID
	for _, kind := range []indexfmt.Kind{indexfmt.Names, indexfmt.Unqualified} {
		for _, name := range names {
			if ids, err = x.find(kind, name, ids); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// find appends the values for a key in a table.
func (x *indexed) find(kind indexfmt.Kind, key string, ids []afdo.SymbolID) ([]afdo.SymbolID, error) {
	if !x.x.Has(kind) {
		return nil, errNotIndexed
	}
	hash := indexfmt.Hash(key)
	if there, err := x.x.MayHave(hash); !there {
		return ids, x.wrap(err)
	}
	t, err := x.x.Table(kind)
	if err != nil {
		return nil, x.wrap(err)
	}
	values, err := t.Find(hash, nil)
	return appendIDs(ids, values), x.wrap(err)
}

func appendIDs(ids []afdo.SymbolID, values []uint32) []afdo.SymbolID {
	ids = slices.Grow(ids, len(values))
	for _, v := range values {
		ids = append(ids, afdo.SymbolID(v))
	}
	return ids
}

// inlinedInto returns the functions into which one of the callees was inlined, according to the
// index.
func (x *indexed) inlinedInto(callees []afdo.SymbolID) ([]afdo.SymbolID, error) {
	if !x.x.HasCallers() {
		return nil, errNotIndexed
	}
	var found []uint32
	for _, callee := range callees {
		var err error
		if found, err = x.x.Callers(uint32(callee), found); err != nil {
			return nil, x.wrap(err)
		}
	}
	return appendIDs(nil, found), nil
}

// believed reports whether the lists of callers are used without a comparison with the samples.
func (x *indexed) believed() bool { return x.x.HasCallers() && x.x.Remote() }

// firstCallers is [Program.Callers] by the lists alone.
func (x *indexed) firstCallers(callees []afdo.SymbolID, n int) (first []afdo.Symbol, others int, err error) {
	ids, err := x.inlinedInto(callees)
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id afdo.SymbolID) bool { return slices.Contains(callees, id) })
	if n > 0 && len(ids) > n {
		ids, others = ids[:n], len(ids)-n
	}
	first, err = x.r.SymbolsByID(ids)
	return first, others, err
}
