package builder

import (
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// symbolNames encodes the symbol names section of a unit (RFC 4.6). Rows are ordered by ID. A
// symbol's row number, its string index and its position among the unit's IDs are the same number,
// so a reader that looks at the expected row finds the symbol at once.
func (e *encoder) symbolNames(u *symbols, stringTable uint32) {
	e.section.Uint32(uint32(len(u.byID)))
	info := stringTable + unitSections // the infos directly follow
	for i, s := range u.byID {
		row := wire.Row{String: uint32(i), ID: e.ids[s], Info: wire.NoInfo}
		if e.profile.Function(s) != nil {
			row.Info = info
			info++
		}
		e.section.Row(row)
	}
	e.add(afdo.SectionSymbolNames)
}

// symbolInfos encodes a symbol info section (RFC 4.7) for each function of a unit, by ascending ID.
func (e *encoder) symbolInfos(u *symbols) error {
	for _, s := range u.byID {
		fn := e.profile.Function(s)
		if fn == nil {
			continue
		}
		e.section.Info(fn.HeadCount, fn.Timestamp)
		if err := e.records(fn.Records); err != nil {
			return fmt.Errorf("builder: unit %q, symbol %q: %w",
				e.profile.UnitPath(e.profile.SymbolUnit(s)), e.profile.SymbolName(s), err)
		}
		e.add(afdo.SectionSymbolInfo)
	}
	return nil
}
