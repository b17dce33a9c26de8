package symbolize

import "debug/dwarf"

// GCC emits no position for member functions without a source line of their own, such as a lambda's
// operator() and implicit constructors. It counts their lines from the declaration of the class.

// placeInClass sets the position of a function to that of its class.
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

// members returns the member functions of a unit that have no line of their own, with the offset of
// their class.
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
	s := u.data.info
	c := newCursor(data, u.span.off, s)
	c.Pos = int(u.entries - u.span.off)
	err := c.entries(u, func(off uint64, a *abbrev, class uint64) {
		if class != 0 && a.tag == dwarf.TagSubprogram && !a.has(slotDeclLine) && !a.has(slotSpecification) {
			found[off] = class
		}
		c.skipEntry(a, u.encoding)
	})
	if err != nil {
		return nil, err
	}
	u.members = found
	return found, nil
}

// entries calls f for each entry of a unit. f must read or skip the values. class is the offset of
// the class that directly contains the entry, or 0.
func (c *cursor) entries(u *dwarfUnit, f func(off uint64, a *abbrev, class uint64)) error {
	within := []uint64{0}
	for c.Pos < len(c.Data) {
		off := c.offset()
		code := c.ULEB()
		if code == 0 {
			if len(within) > 1 {
				within = within[:len(within)-1]
			}
			continue
		}
		a := u.table.lookup(code)
		if a == nil {
			c.fail(errAbbrev, "code %d is not in the table at offset %d", code, u.abbrevs)
			break
		}
		f(off, a, within[len(within)-1])
		if a.children {
			class := uint64(0)
			if a.tag == dwarf.TagClassType || a.tag == dwarf.TagStructType {
				class = off
			}
			within = append(within, class)
		}
	}
	return c.err()
}
