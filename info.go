package afdo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// An Info is the samples of one function (RFC 4.7). A [Cursor] walks its locations. It is a value
// that refers to the section's bytes.
type Info struct {
	HeadCount uint64 // how often the function was entered
	Timestamp uint64 // when it first ran, 0 if unavailable

	f         fields // at the first location
	locations uint32
}

// Section returns the section that holds the samples.
func (i Info) Section() Section { return i.f.sec }

// Info returns the samples of the function. It reads the symbol info section, once for a Unit and
// symbol. The error is [ErrNotFound] for a symbol without samples of its own, see [Symbol.HasInfo].
func (s Symbol) Info() (Info, error) {
	if !s.HasInfo() {
		return Info{}, fmt.Errorf("afdo: samples of symbol %q: %w", s.name, ErrNotFound)
	}
	f, err := s.unit.info(s)
	if err != nil {
		return Info{}, err
	}
	i := newInfo(f)
	return i, i.f.err()
}

// newInfo reads the fields of a symbol info section up to its locations.
func newInfo(f fields) Info {
	i := Info{HeadCount: f.Uint64(), Timestamp: f.Uint64()}
	i.locations = uint32(f.LocationCount())
	i.f = f
	return i
}

// info returns the symbol info section of a symbol.
func (u *Unit) info(s Symbol) (fields, error) {
	if u.r.closed() {
		return fields{}, ErrClosed
	}
	if u.r.src.bytes != nil { // nothing to read, nothing to keep
		return u.readInfo(s)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if f, ok := u.infos[s.info]; ok {
		return f, nil
	}
	f, err := u.readInfo(s)
	if err == nil {
		u.keepInfo(s.info, f)
	}
	return f, err
}

// keepInfo keeps a section that has been read. Sections and not symbols count: those of a faulty
// file may share one by the thousand.
func (u *Unit) keepInfo(index uint32, f fields) {
	if u.infos == nil {
		u.infos = make(map[uint32]fields)
	}
	u.infos[index] = f
}

func (u *Unit) readInfo(s Symbol) (fields, error) {
	if n := u.r.NumSections(); uint64(s.info) >= uint64(n) {
		e, err := u.r.extent(min(int(u.entry.Symbols), n-1))
		if err != nil {
			return fields{}, err
		}
		rows := Section{Index: int(u.entry.Symbols), Type: SectionSymbolNames, Offset: e.off}
		return fields{}, u.r.badIndex(rows, 0, sectionRef{s.info, SectionSymbolInfo})
	}
	u.infoAhead(s.info)
	return u.r.open(int(s.info), SectionSymbolInfo)
}

// Load reads all sections of the unit that have not been read yet, in as few reads as their places
// in the file allow. After it this Unit reads nothing more.
func (u *Unit) Load() error {
	u.ahead(maxWindowBytes)
	t, err := u.symbols()
	if err != nil || u.r.src.bytes != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	refs := make([]sectionRef, 0, len(t.rows))
	for _, r := range t.rows {
		if _, ok := u.infos[r.Info]; !ok && r.Info != wire.NoInfo {
			refs = append(refs, sectionRef{r.Info, SectionSymbolInfo})
		}
	}
	// Section indexes are by offset, so sections that are adjacent are neighbours now.
	slices.SortFunc(refs, func(a, b sectionRef) int { return cmp.Compare(a.index, b.index) })
	refs = slices.Compact(refs)
	infos, err := u.r.openAll(t.sec, 0, refs)
	if err != nil {
		return err
	}
	if u.infos == nil {
		u.infos = make(map[uint32]fields, len(refs))
	}
	for i, ref := range refs {
		u.keepInfo(ref.index, infos[i])
	}
	return nil
}
