package afdo

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/v4"
)

// An Info holds the samples of one function (RFC 4.7). Use a [Cursor] to walk its locations. An
// Info is a small value that refers to the bytes of its section.
type Info struct {
	HeadCount uint64 // how often the function was entered
	Timestamp uint64 // when the function first ran, 0 if unknown

	f         v4.Fields // positioned at the first location
	locations uint32
}

// Section returns the symbol info section that holds the samples.
func (i Info) Section() Section { return newSection(i.f.Section) }

// Info returns the samples of the function. It reads the symbol info section at most once per Unit.
// It returns [ErrNotFound] if the symbol has no samples of its own, see [Symbol.HasInfo].
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

// newInfo decodes the fields that precede the locations of a symbol info section.
func newInfo(f v4.Fields) Info {
	i := Info{HeadCount: f.Uint64(), Timestamp: f.Uint64()}
	i.locations = uint32(f.LocationCount())
	i.f = f
	return i
}
