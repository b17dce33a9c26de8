package symbolize

import "debug/dwarf"

// GCC emits no position for member functions without a source line of their own, such as a lambda's
// operator() and implicit constructors. It counts their lines from the declaration of the class.

// placeInClass sets the position of a function to the position of its class, if the function is a
// member without a line of its own. ref identifies the entry of the function.
func (w *worker) placeInClass(u *dwarfUnit, ref dieRef, f *Function) error {
	members, err := w.members(u)
	if err != nil {
		return err
	}
	class, ok := members[ref.off]
	if !ok {
		return nil
	}
	u, e, err := w.entryAt(dieRef{ref.data, class})
	if err != nil {
		return err
	}
	place, err := w.declared(u, &e)
	if err != nil {
		return err
	}
	f.Line = place.Line
	if place.File != "" {
		f.File = place.File
	}
	return nil
}

// members returns the member functions of unit u whose declarations have no line. The map has the
// offset of the function's entry as its key, and the offset of its class's entry as its value.
func (w *worker) members(u *dwarfUnit) (map[uint64]uint64, error) {
	if u.members != nil {
		return u.members, nil
	}
	data := w.bytes
	if u != w.current {
		var err error
		if err = w.spend(int(u.span.end - u.span.off)); err != nil {
			return nil, err
		}
		if data, err = w.copy(u.data.info, u.span.off, u.span.end-u.span.off, nil); err != nil {
			return nil, err
		}
	}
	found := make(map[uint64]uint64)
	c := newCursor(data, u.span.off, u.data.info)
	err := eachEntry(c, u, 0, func(off uint64, a *abbrev, class uint64) (uint64, error) {
		if class != 0 && a.tag == dwarf.TagSubprogram && !a.has(slotDeclLine) && !a.has(slotSpecification) {
			found[off] = class
		}
		c.skipEntry(a, u.encoding)
		if a.tag == dwarf.TagClassType || a.tag == dwarf.TagStructType {
			return off, nil
		}
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	u.members = found
	return found, nil
}

// eachEntry calls f for each debugging information entry of a unit, in the order of the file. f
// must read or skip the values of the entry, and returns a value for it. The calls for the entry's
// children get this value as outer. Entries at the top level get top.
func eachEntry[T any](c *cursor, u *dwarfUnit, top T, f func(off uint64, a *abbrev, outer T) (T, error)) error {
	c.Pos = int(u.entries - u.span.off)
	outer := []T{top} // for each nesting level
	for c.Pos < len(c.Data) {
		off := c.offset()
		code := c.ULEB()
		if code == 0 {
			if len(outer) > 1 { // else it is padding at the end
				outer = outer[:len(outer)-1]
			}
			continue
		}
		a := u.table.lookup(code)
		if a == nil {
			c.fail(errAbbrev, "code %d is not in the table at offset %d", code, u.abbrevs)
			break
		}
		inner, err := f(off, a, outer[len(outer)-1])
		if err != nil {
			return err
		}
		if a.children {
			outer = append(outer, inner)
		}
	}
	return c.err()
}
