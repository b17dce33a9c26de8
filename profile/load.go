package profile

import (
	"github.com/go-afdo/afdo"
)

// Load replaces the records of the body by those of a function in a version 4 file. c is scratch;
// reusing it for the next function saves allocations. callee converts the symbol IDs of the file;
// if it does not know an ID, Load fails with [afdo.ErrSymbol]. Other errors are those of the
// cursor. After an error the body is empty.
func (b *Body) Load(info afdo.Info, c *afdo.Cursor, callee func(afdo.SymbolID) (SymbolRef, bool)) error {
	c.Reset(info)
	b.Reset()
	err := b.load(info, c, callee)
	if err != nil {
		b.Reset()
	}
	return err
}

func (b *Body) load(info afdo.Info, c *afdo.Cursor, callee func(afdo.SymbolID) (SymbolRef, bool)) error {
	for offset := c.Offset(); c.Next(); offset = c.Offset() {
		for b.depth > c.Depth() {
			b.Leave()
		}
		at := c.Location()
		switch at.Type {
		case afdo.LocationZero, afdo.LocationNormal, afdo.LocationWide:
			b.Count(at.Line, at.Discriminator, at.Count)
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			if err := b.loadTargets(info, c, callee); err != nil {
				return err
			}
		case afdo.LocationInlinedFn:
			f, ok := callee(at.Callee)
			if !ok {
				return unknownCallee(info, offset, at.Callee)
			}
			b.Enter(at.Line, at.Discriminator, f)
		}
	}
	for b.depth > 0 {
		b.Leave()
	}
	return c.Err()
}

// loadTargets reads the targets of the current call record.
func (b *Body) loadTargets(info afdo.Info, c *afdo.Cursor, callee func(afdo.SymbolID) (SymbolRef, bool)) error {
	at := c.Location()
	offset := c.Offset()
	for t := range c.Targets() { // Next returns the error, if there is one
		f, ok := callee(t.Callee)
		if !ok {
			return unknownCallee(info, offset, t.Callee)
		}
		b.Call(at.Line, at.Discriminator, f, t.Count)
		offset = c.Offset()
	}
	return nil
}

func unknownCallee(info afdo.Info, offset int64, id afdo.SymbolID) error {
	return info.Section().ErrorAt(offset, afdo.ErrSymbol, "a callee of symbol ID %d, which no unit has", id)
}
