package gcovkind

import (
	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

// UnitBytes returns the size in bytes of each unit's sections in a version 4 file, by UnitRef of
// its profile. If there is no reader of such a file, it returns the sizes that the profile would
// have in one.
func UnitBytes(p *profile.Profile, r *afdo.Reader) (_ []int64, err error) {
	if r == nil {
		if r, err = readerOf(p); err != nil {
			return nil, err
		}
	}
	files := make(map[string]int, p.NumUnits())
	for i := range p.NumUnits() {
		files[p.UnitPath(profile.UnitRef(i))] = i
	}
	bytes := make([]int64, p.NumUnits())
	w := newWalker(r)
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		n := &bytes[files[u.Path()]]
		stringTable, symbolNames := u.SectionIndexes()
		for _, index := range []int{stringTable, symbolNames} {
			s, err := r.Section(index)
			if err != nil {
				return nil, err
			}
			*n += s.Size
		}
		err := w.symbols(u, func(_ afdo.Symbol, f *function) error {
			if f != nil {
				*n += f.Section().Size
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return bytes, nil
}
