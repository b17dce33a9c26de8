package builder

import (
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// symbolNames puts the symbol names section of a unit (RFC 4.6). Rows stand by ascending ID, and
// the row of a symbol, its string index and its place among the unit's IDs are one number, so that
// a reader which looks at the row where it expects a symbol finds it at once.
func (e *encoder) symbolNames(u *symbols, stringTable uint32) {
	e.section.Uint32(uint32(len(u.byID)))
	info := stringTable + unitSections // the infos come right after
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

// symbolInfos puts a symbol info section (RFC 4.7) for each function of a unit, by ascending ID.
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
