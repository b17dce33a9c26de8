package symbolize

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// A debugData contains the sections of one ELF file with debug info, and the positions of the
// compilation units in them.
type debugData struct {
	object *object

	info, abbrev, str, lineStr, line, ranges, rnglists, addr, strOffsets *section

	spans lazy
	units []unitSpan // all units, by offset
	sup   lazy       // opening of alt
	alt   *debugData // debug info that dwz moved to a separate file
}

// A unitSpan is the range of offsets of a compilation unit in its section.
type unitSpan struct{ off, end uint64 }

// unitSpanCost is the number of bytes charged to the budget for the position of a unit, see
// reading.spend.
const unitSpanCost = 64

// openData finds the sections of o with debug info. suffix is the suffix of their names: ".dwo" for
// split units, otherwise empty.
func openData(o *object, suffix string) (*debugData, error) {
	d := &debugData{object: o}
	for _, s := range []struct {
		name string
		to   **section
	}{
		{"info", &d.info}, {"abbrev", &d.abbrev}, {"str", &d.str}, {"line_str", &d.lineStr}, {"line", &d.line},
		{"ranges", &d.ranges}, {"rnglists", &d.rnglists}, {"addr", &d.addr}, {"str_offsets", &d.strOffsets},
	} {
		var err error
		if *s.to, err = o.debugSection(s.name + suffix); err != nil {
			return nil, err
		}
	}
	if d.info == nil || d.abbrev == nil {
		return nil, fmt.Errorf("symbolize: %s: %w", o.path, ErrNoDebugInfo)
	}
	return d, nil
}

// inSection returns a copy of d that reads the compilation units of the section info in place of
// those of d.info.
func (d *debugData) inSection(info *section) *debugData {
	return &debugData{
		object: d.object, info: info, abbrev: d.abbrev, str: d.str, lineStr: d.lineStr, line: d.line,
		ranges: d.ranges, rnglists: d.rnglists, addr: d.addr, strOffsets: d.strOffsets,
	}
}

// unitSpans returns the ranges of all compilation units in the section of debug info. It reads the
// length of each unit.
func (d *debugData) unitSpans() ([]unitSpan, error) {
	err := d.spans.do(func() error {
		r := reading{left: newBudget(d.object.size)}
		return d.eachUnit(func(span unitSpan) error {
			d.units = append(d.units, span)
			return r.spend(unitSpanCost)
		})
	})
	return d.units, err
}

// eachUnit calls f with the range of each compilation unit, in the order of the section.
func (d *debugData) eachUnit(f func(unitSpan) error) error {
	var r reading
	for off := uint64(0); off < d.info.size; {
		var span unitSpan
		err := r.decode(d.info, off, d.info.size, func(c *cursor) { span = c.unitSpan() })
		if err == nil {
			err = f(span)
		}
		if err != nil {
			return err
		}
		off = span.end
	}
	return nil
}

// unitSpan reads the length at the beginning of a compilation unit and returns the unit's range.
func (c *cursor) unitSpan() unitSpan {
	span := unitSpan{off: c.offset()}
	n, _ := c.initialLength()
	if c.Err == nil && n > c.sect.size-c.offset() {
		c.fail(fault.ErrTruncated, "a unit of %d bytes, the section has %d", n, c.sect.size)
		return span
	}
	span.end = c.offset() + n
	return span
}

// unitAt returns the range of the compilation unit that contains the entry at offset off.
func (d *debugData) unitAt(off uint64) (unitSpan, error) {
	units, err := d.unitSpans()
	if err != nil {
		return unitSpan{}, err
	}
	i, found := slices.BinarySearchFunc(units, off, func(u unitSpan, off uint64) int { return cmp.Compare(u.off, off) })
	if !found {
		i--
	}
	if i < 0 || off >= units[i].end {
		return unitSpan{}, d.info.faultAt(off, errReference, "no unit has this offset")
	}
	return units[i], nil
}

// A dwarfUnit is a compilation unit, with everything needed to read its entries.
type dwarfUnit struct {
	encoding
	data     *debugData
	span     unitSpan
	entries  uint64 // offset of the root entry
	kind     uint8  // DW_UT_*
	abbrevs  uint64
	root     dwarfEntry
	id       uint64 // of a split unit and its skeleton
	low      uint64 // base address of ranges
	table    *abbrevTable
	skeleton *dwarfUnit // for a split unit

	strOffsetsBase, addrBase, rnglistsBase, rangesBase uint64

	header  *lineHeader          // read when first needed
	members map[uint64]uint64    // functions without a line of their own, with the offset of their class; read when first needed
	linked  map[string]*Function // declared functions by linkage name; read when first needed
}

// Kinds of units (DWARF 5, 7.5.1).
const (
	unitCompile      = 1
	unitType         = 2
	unitPartial      = 3
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

// A dwarfEntry is a debugging information entry with the attributes that this package uses.
type dwarfEntry struct {
	off  uint64
	tag  dwarf.Tag
	has  uint32
	vals [numSlots]value
}

// get returns the value of an attribute of the entry. It returns false if the entry does not have
// the attribute.
func (e *dwarfEntry) get(s slot) (value, bool) { return e.vals[s], e.has&(1<<s) != 0 }

// number returns the value of an attribute of the entry that is a constant or an offset, or 0 if
// the attribute is missing.
func (e *dwarfEntry) number(s slot) uint64 {
	if e.has&(1<<s) == 0 {
		return 0
	}
	return e.vals[s].v
}

// entry reads the attributes of a debugging information entry with the abbreviation a into e.
func (c *cursor) entry(e *dwarfEntry, a *abbrev, enc encoding) {
	e.tag, e.has = a.tag, 0
	for i := range a.attrs {
		spec := &a.attrs[i]
		v := c.value(spec.form, enc, spec.const_)
		if bit := uint32(1) << spec.slot; spec.slot != slotNone && e.has&bit == 0 {
			e.has |= bit
			e.vals[spec.slot] = v
		}
	}
}

// contributions contains the offsets of a unit's tables in the sections of a package of split
// units, by the column of the package's index. Outside of packages all offsets are 0.
type contributions [dwpColumns]uint64

// unitCost is the number of bytes charged to the budget for reading a unit's header, see
// reading.spend.
const unitCost = 16

// readUnit reads the header and the root entry of the compilation unit at span. For a split unit,
// skeleton is its skeleton in the binary, and base has the positions of its tables in a package.
func (r *reading) readUnit(d *debugData, span unitSpan, skeleton *dwarfUnit, base contributions) (*dwarfUnit, error) {
	u := &dwarfUnit{data: d, span: span, skeleton: skeleton}
	if err := r.spend(unitCost); err != nil {
		return nil, err
	}
	err := r.decode(d.info, span.off, span.end, func(c *cursor) { c.unitHeader(u) })
	if err != nil {
		return nil, err
	}
	u.abbrevs += base[dwpAbbrev]
	var code, at uint64
	err = r.decode(d.info, u.entries, span.end, func(c *cursor) { code, at = c.ULEB(), c.offset() })
	if err != nil {
		return nil, err
	}
	if code == 0 {
		return u, nil
	}
	a, err := r.rootAbbrev(u, code)
	if err != nil {
		return nil, err
	}
	err = r.decode(d.info, at, span.end, func(c *cursor) { c.entry(&u.root, a, u.encoding) })
	if err != nil {
		return nil, err
	}
	u.root.off = u.entries
	return u, u.setBases(r, base)
}

// rootAbbrev returns the abbreviation of a unit's root entry, which has the given code. It reads no
// more of the table of abbreviations than necessary.
func (r *reading) rootAbbrev(u *dwarfUnit, code uint64) (*abbrev, error) {
	t, err := r.readAbbrevs(&r.root, u.data.abbrev, u.abbrevs, u.encoding, code)
	if err != nil {
		return nil, err
	}
	a := t.lookup(code)
	if a == nil {
		return nil, u.data.info.faultAt(u.entries, errAbbrev, "code %d is not in the table at offset %d", code, u.abbrevs)
	}
	return a, nil
}

func (c *cursor) unitHeader(u *dwarfUnit) {
	_, u.wide = c.initialLength()
	u.version = c.Uint16(aField)
	if c.Err == nil && (u.version < 2 || u.version > 5) {
		c.fail(fault.ErrVersion, "DWARF version %d, 2 to 5 are known", u.version)
		return
	}
	u.kind = unitCompile
	if u.version >= 5 {
		u.kind, u.addrSize, u.abbrevs = c.Uint8(aField), c.Uint8(aField), c.word(u.wide)
	} else {
		u.abbrevs, u.addrSize = c.word(u.wide), c.Uint8(aField)
	}
	switch u.kind {
	case unitSkeleton, unitSplitCompile:
		u.id = c.Uint64(aField)
	case unitType, unitSplitType:
		c.Uint64(aField)
		c.word(u.wide)
	}
	if c.Err == nil && u.addrSize != 4 && u.addrSize != 8 {
		c.fail(errForm, "addresses of %d bytes", u.addrSize)
	}
	u.entries = c.offset()
}

// setBases sets the offsets of the unit's tables, such as that of addresses, from the attributes of
// the root entry. Values in other entries are indexes in these tables.
func (u *dwarfUnit) setBases(r *reading, base contributions) error {
	headerSize := uint64(8)
	if u.wide {
		headerSize = 16
	}
	u.strOffsetsBase = base[dwpStrOffsets]
	if u.version >= 5 {
		u.strOffsetsBase += headerSize
		u.rnglistsBase = base[dwpRnglists] + headerSize + 4
		u.addrBase = headerSize
	}
	if v, ok := u.root.get(slotStrOffsetsBase); ok {
		u.strOffsetsBase = v.v
	}
	if v, ok := u.root.get(slotRnglistsBase); ok {
		u.rnglistsBase = v.v
	}
	if v, ok := u.root.get(slotAddrBase); ok {
		u.addrBase = v.v
	}
	u.rangesBase = u.root.number(slotRangesBase)
	if id, ok := u.root.get(slotDwoID); ok {
		u.id = id.v
	}
	if u.skeleton != nil {
		u.addrBase, u.low = u.skeleton.addrBase, u.skeleton.low
		return nil
	}
	if v, ok := u.root.get(slotLowPC); ok {
		low, err := r.address(u, v)
		if err != nil {
			return err
		}
		u.low = low
	}
	return nil
}

// addresses returns the debug info with the table of addresses of a unit and, before DWARF 5, its
// range lists. For a split unit, this is the debug info that contains the skeleton.
func (u *dwarfUnit) addresses() *debugData {
	if u.skeleton != nil {
		return u.skeleton.data
	}
	return u.data
}

// address returns the value v of an attribute of class address, which may be an index in the
// section .debug_addr.
func (r *reading) address(u *dwarfUnit, v value) (uint64, error) {
	switch v.form {
	case formAddr:
		return v.v, nil
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return r.indexed(u.addresses().addr, u, u.addrBase, v.v, u.addrSize)
	}
	return 0, u.data.info.faultAt(u.span.off, errForm, "an address of form %#x in the unit here", uint16(v.form))
}

// indexed returns the number with an index in a table. The table begins at offset base of section
// s, and each of its numbers has size bytes.
func (r *reading) indexed(s *section, u *dwarfUnit, base, index uint64, size uint8) (n uint64, err error) {
	if s == nil {
		return 0, u.data.info.faultAt(u.span.off, errReference, "the unit here refers to a section that is not there")
	}
	if base > s.size || index >= (s.size-base)/uint64(size) {
		return 0, s.faultAt(base, errReference, "no entry %d in the table here", index)
	}
	err = r.decode(s, base+index*uint64(size), s.size, func(c *cursor) { n = c.uint(size) })
	return n, err
}

// attrString returns the string value of an attribute in unit u. v is the value as stored, such as
// an offset. The string is valid until the next call.
func (r *reading) attrString(f *File, u *dwarfUnit, v value) ([]byte, error) {
	s, off := u.data.str, v.v
	switch v.form {
	case formString:
		s = u.data.info
	case formStrp:
	case formLineStrp:
		s = u.data.lineStr
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		var err error
		if off, err = r.indexed(u.data.strOffsets, u, u.strOffsetsBase, v.v, u.offsetSize()); err != nil {
			return nil, err
		}
	case formGNUStrpAlt, formStrpSup:
		alt, err := f.alternate(u.data)
		if err != nil {
			return nil, err
		}
		s = alt.str
	default:
		return nil, u.data.info.faultAt(u.span.off, errForm, "a string of form %#x in the unit here", uint16(v.form))
	}
	if s == nil {
		return nil, u.data.info.faultAt(u.span.off, errReference, "the unit here has strings in a section that is not there")
	}
	str, err := r.str(s, off)
	if err == nil {
		err = r.spend(len(str))
	}
	return str, err
}

// A dieRef identifies a debugging information entry by its section and its offset.
type dieRef struct {
	data *debugData
	off  uint64
}

// reference returns the entry to which an attribute of unit u refers. v is the value of the
// attribute as stored.
func (f *File) reference(u *dwarfUnit, v value) (dieRef, error) {
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		if off := u.span.off + v.v; off >= u.span.off && off < u.span.end {
			return dieRef{u.data, off}, nil
		}
		return dieRef{}, u.data.info.faultAt(u.span.off, errReference, "%d lies outside of the unit here", v.v)
	case formRefAddr:
		return dieRef{u.data, v.v}, nil
	case formGNURefAlt, formRefSup4, formRefSup8:
		alt, err := f.alternate(u.data)
		return dieRef{alt, v.v}, err
	}
	return dieRef{}, u.data.info.faultAt(u.span.off, errForm, "a reference of form %#x in the unit here", uint16(v.form))
}
