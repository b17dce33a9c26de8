package indexfmt

import (
	"fmt"
	"testing"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// largeUnit returns the string table and the symbol names of a unit with n symbols.
func largeUnit(n int, compact bool) NamesSections {
	u := naive.Unit{End: uint32(n)}
	for i := range uint32(n) {
		u.Symbols = append(u.Symbols, naive.Symbol{ID: i, Name: fmt.Sprintf("_ZN4part%06d", i)})
	}
	s := gen.Lay(&naive.File{Units: []naive.Unit{u}}, compact).Sections
	return NamesSections{
		Strings: wire.Fields{Data: s[2].Data, Compact: compact}, Symbols: wire.Fields{Data: s[3].Data, Compact: compact},
	}
}

// FuzzNameParts decodes any bytes as the parts of a unit's names, and then decodes a string table
// at the marks of these parts. Sizes fit 32 bits, and no path is longer than the record.
func FuzzNameParts(f *testing.F) {
	for _, compact := range []bool{false, true} {
		u := largeUnit(MinParted+PartSize/2, compact)
		if record := appendParts(nil, &u); record != nil {
			f.Add(record, u.Strings.Data)
		}
	}
	f.Fuzz(func(t *testing.T, record, table []byte) {
		fields := wire.Fields{Data: record, Compact: true}
		n := decodeParted(&fields)
		wanted := wire.BitSet{0x1234567890abcdef, 1}
		if fields.Err != nil {
			return
		}
		n.Each(func(i int, p *NamePart) bool {
			if p.Strings.Off < 0 || p.Rows.Off < 0 || p.Strings.Size >= 1<<32 || p.Rows.Size >= 1<<32 || len(p.Mark.Path) > len(record) {
				t.Fatalf("part %d: %+v", i, p)
			}
			part := wire.Fields{Data: table, Compact: n.StringsCompact}
			left := 100
			part.PickStringsFrom(&p.Mark, new(wire.TrieMark), wanted, func(uint32, []byte) bool { left--; return left > 0 })
			return i < 100
		})
	})
}
