package v4

import (
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// SomeNames returns the rows and names of a few of the unit's symbols, by ascending symbol ID, and
// reads only those parts of the unit's names in which they are. ids must ascend. ok is false if
// the index has no parts of the unit, if the names are longer than limit bytes, or if something is
// wrong: reading all names then finds the exact error.
func (u *Unit) SomeNames(ids []uint32, limit int) (rows []wire.Row, names map[uint32]string, ok bool) {
	x, err := u.file.Trusted()
	if x == nil || err != nil {
		return nil, nil, false
	}
	parted, err := x.NameParts(u.Rank)
	if parted == nil || err != nil {
		return nil, nil, false
	}
	p := nameParts{u: u, PartedNames: parted, limit: limit}
	if !p.open() || !p.rowsOf(ids) || !p.namesOf() {
		return nil, nil, false
	}
	return p.rows, p.names, true
}

// A nameParts reads the names of a few symbols of a unit. The index divides the names of a large
// unit into parts with a checksum each, and nameParts reads only the parts with wanted symbols.
type nameParts struct {
	*indexfmt.PartedNames
	u                *Unit
	strings, symbols extent
	limit            int
	buf              []byte // contains the last part that was read
	scratch          wire.TrieMark

	rows  []wire.Row
	names map[uint32]string // by string index
}

// open finds the positions of the unit's string table and symbol names in the file. It returns
// false if they cannot be read in parts.
func (p *nameParts) open() bool {
	v := p.u.file
	n := uint64(v.NumSections())
	if uint64(p.u.Strings) >= n || uint64(p.u.Symbols) >= n {
		return false
	}
	var err error
	if p.strings, err = v.extent(int(p.u.Strings)); err != nil {
		return false
	}
	p.symbols, err = v.extent(int(p.u.Symbols))
	return err == nil
}

// read returns a range of the bytes of a section. It returns false if the bytes do not have the
// checksum sum. The bytes are valid until the next call.
func (p *nameParts) read(e extent, r indexfmt.Range, sum uint32) ([]byte, bool) {
	if r.Off+r.Size > e.size-1 {
		return nil, false
	}
	data, err := p.u.file.src.viewBy(byChecksum, &p.buf, e.off+1+r.Off, int(r.Size))
	return data, err == nil && indexfmt.Sum(data) == sum
}

// rowsOf reads the rows of symbols. Row i has the i-th symbol ID of the unit.
func (p *nameParts) rowsOf(ids []uint32) bool {
	ok := true
	whole := p.Each(func(i int, part *indexfmt.NamePart) bool {
		first := uint64(p.u.Start) + uint64(i)*indexfmt.PartSize
		var f wire.Fields
		next := uint64(0) // row of the part at which f is
		for len(ids) > 0 && uint64(ids[0]) < first+indexfmt.PartSize && ok {
			if f.Data == nil {
				f.Compact = p.SymbolsCompact
				if f.Data, ok = p.read(p.symbols, part.Rows, part.RowsSum); !ok {
					return false
				}
			}
			place := uint64(ids[0]) - first
			f.SkipRows(int(place - next))
			row := f.Row()
			ok = f.Err == nil && row.ID == ids[0]
			p.rows, next, ids = append(p.rows, row), place+1, ids[1:]
		}
		return ok && len(ids) > 0
	})
	return whole && ok && len(ids) == 0
}

// namesOf reads the names of those symbols whose rows [nameParts.rowsOf] has read.
func (p *nameParts) namesOf() bool {
	wanted := wire.NewBitSet(p.Count)
	byPart := make(map[int]int) // number of names by part
	for _, row := range p.rows {
		if uint64(row.String) >= uint64(p.Count) {
			return false
		}
		if !wanted.Has(row.String) {
			wanted.Add(row.String)
			byPart[int(row.String/indexfmt.PartSize)]++
		}
	}
	p.names = make(map[uint32]string, len(p.rows))
	ok := true
	whole := p.Each(func(i int, part *indexfmt.NamePart) bool {
		left := byPart[i]
		if left == 0 {
			return true
		}
		delete(byPart, i)
		f := wire.Fields{Compact: p.StringsCompact}
		if f.Data, ok = p.read(p.strings, part.Strings, part.StringsSum); !ok {
			return false
		}
		ok = f.PickStringsFrom(&part.Mark, &p.scratch, wanted, func(index uint32, name []byte) bool {
			p.names[index] = string(name)
			p.limit -= len(name)
			left--
			return left > 0 && p.limit >= 0
		})
		ok = ok && left == 0 && p.limit >= 0
		return ok && len(byPart) > 0
	})
	return whole && ok && len(byPart) == 0
}
