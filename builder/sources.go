package builder

import (
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
	"github.com/go-afdo/afdo/profile"
)

// sources returns the sources section, or nil if the profile has no marks or they are not to be
// written.
func (f *fileLayout) sources(o Options) *sourcefmt.Section {
	if o.NoSources || !f.profile.HasMarks() {
		return nil
	}
	s := &sourcefmt.Section{Units: make([]sourcefmt.Unit, len(f.units))}
	for rank, unit := range f.plan.byPath {
		u := &s.Units[rank]
		u.Sum = f.profile.UnitSum(profile.UnitRef(unit))
		for place, symbol := range f.units[unit].byID {
			if m := f.profile.Marks(symbol); m != nil {
				u.Functions = append(u.Functions, sourcefmt.Function{ID: uint32(place), Marks: m})
			}
		}
	}
	return s
}
