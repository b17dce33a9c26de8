package builder

import (
	"fmt"

	"github.com/go-afdo/afdo"
)

// noInfo is the section index of a symbol that is only referred to (format note 12).
const noInfo = 0xFFFFFFFF

// symbolNames puts the symbol names section of a unit (RFC 4.6). Rows stand by
// ascending ID, and the row of a symbol, its string index and its place among
// the unit's IDs are one number, so that a reader which looks at the row where
// it expects a symbol finds it at once.
func (e *encoder) symbolNames(u *unit) {
	u.symbolNames = e.begin(afdo.SectionSymbolNames)
	e.out.PutUint32(uint32(len(u.byID)))
	info := u.symbolNames + 1 // the infos come right after
	for i, s := range u.byID {
		e.out.PutUint32(uint32(i))
		e.out.PutUint32(u.start + uint32(i))
		if e.profile.Function(s) == nil {
			e.out.PutUint32(noInfo)
			continue
		}
		e.out.PutUint32(info)
		info++
	}
}

// symbolInfos puts a symbol info section (RFC 4.7) for each function of a unit, by ascending ID.
func (e *encoder) symbolInfos(u *unit) error {
	for _, s := range u.byID {
		fn := e.profile.Function(s)
		if fn == nil {
			continue
		}
		e.begin(afdo.SectionSymbolInfo)
		e.out.PutUint64(fn.HeadCount)
		e.out.PutUint64(fn.Timestamp)
		if err := e.records(fn.Records); err != nil {
			return fmt.Errorf("builder: unit %q, symbol %q: %w",
				e.profile.FilePath(e.profile.SymbolFile(s)), e.profile.SymbolName(s), err)
		}
	}
	return nil
}
