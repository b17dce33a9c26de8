package afdo

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/v4"
)

// An Info is the samples of one function (RFC 4.7). A [Cursor] walks its locations. It is a value
// that refers to the section's bytes.
type Info struct {
	HeadCount uint64 // how often the function was entered
	Timestamp uint64 // when it first ran, 0 if unavailable

	f         v4.Fields // at the first location
	locations uint32
}

// Section returns the section that holds the samples.
func (i Info) Section() Section { return newSection(i.f.Section) }

// Info returns the samples of the function. It reads the symbol info section, once for a Unit and
// symbol. The error is [ErrNotFound] for a symbol without samples of its own, see [Symbol.HasInfo].
func (s Symbol) Info() (Info, error) {
	if !s.HasInfo() {
		return Info{}, fmt.Errorf("afdo: samples of symbol %q: %w", s.name, ErrNotFound)
	}
	f, err := s.unit.info(s.info)
	if err != nil {
		return Info{}, err
	}
	i := newInfo(f)
	return i, public(i.f.Fault())
}

// newInfo reads the fields of a symbol info section up to its locations.
func newInfo(f v4.Fields) Info {
	i := Info{HeadCount: f.Uint64(), Timestamp: f.Uint64()}
	i.locations = uint32(f.LocationCount())
	i.f = f
	return i
}
