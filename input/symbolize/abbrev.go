package symbolize

import (
	"debug/dwarf"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
)

// An encoding holds the properties of a compilation unit that determine the size of the values in
// its debug info, such as the size of addresses.
type encoding struct {
	version  uint16
	addrSize uint8
	wide     bool // 64-bit offsets
}

// An abbrevTable holds the abbreviations of a compilation unit, prepared for the unit's encoding.
// Nearly all entries of debug info are skipped. A prepared abbreviation says how to skip an entry
// in a few steps or at once.
type abbrevTable struct {
	dense  []abbrev // codes 1, 2, 3...
	sparse map[uint64]*abbrev

	attrs []attrSpec // attributes of all abbreviations
	steps []uint32

	from  tableFrom // identifies the decoded table
	whole bool      // decoded to the end
}

// tableFrom identifies the source of an abbrevTable: the section, the offset of the table, and the
// encoding of the unit.
type tableFrom struct {
	sect *section
	off  uint64
	encoding
}

// reset removes all abbreviations from the table but keeps its memory.
func (t *abbrevTable) reset() {
	t.dense, t.attrs, t.steps = t.dense[:0], t.attrs[:0], t.steps[:0]
	t.sparse, t.from, t.whole = nil, tableFrom{}, false
}

// holds reports whether t contains the abbreviations of the table that from identifies: at least
// those up to the given code, or all if code is 0.
func (t *abbrevTable) holds(from tableFrom, code uint64) bool {
	return t.from == from && (t.whole || code != 0 && t.lookup(code) != nil)
}

// An abbrev is an abbreviation: the tag and the attributes of the debugging information entries
// that use it, and how to skip such an entry.
type abbrev struct {
	tag      dwarf.Tag
	children bool
	wanted   bool     // the attributes of such entries are read
	fixed    uint32   // total size of the values, if steps is empty
	steps    []uint32 // how to skip the values, see skipEntry
	attrs    []attrSpec
}

// An attrSpec is an attribute in an abbreviation: what it describes, and the form of its values.
type attrSpec struct {
	slot   slot
	form   form
	const_ int64 // value for formImplicitConst
}

func (t *abbrevTable) lookup(code uint64) *abbrev {
	if i := code - 1; i < uint64(len(t.dense)) {
		return &t.dense[i]
	}
	return t.sparse[code]
}

func (t *abbrevTable) add(code uint64, a abbrev) {
	if code == uint64(len(t.dense))+1 {
		t.dense = append(t.dense, a)
		return
	}
	if t.sparse == nil {
		t.sparse = make(map[uint64]*abbrev)
	}
	if t.sparse[code] == nil {
		t.sparse[code] = &a
	}
}

// wholeTable is the size of the first read if a whole table of abbreviations is wanted. Most tables
// are smaller, so they are decoded only once.
const wholeTable = 16 << 10

// abbrevCost is the number of bytes charged to the budget for an abbreviation, see reading.spend.
const abbrevCost = 64

// readAbbrevs decodes the abbreviations at offset off of section s into t, and returns t. It does
// nothing if t contains them already. e is the encoding of the unit. If only is not 0, readAbbrevs
// stops after the abbreviation with this code.
func (r *reading) readAbbrevs(t *abbrevTable, s *section, off uint64, e encoding, only uint64) (*abbrevTable, error) {
	if s == nil {
		return nil, nil
	}
	from := tableFrom{s, off, e}
	if t.holds(from, only) {
		return t, nil
	}
	first := uint64(firstDecoded)
	if only == 0 {
		first = wholeTable
	}
	err := r.decodeFrom(first, s, off, s.size, func(c *cursor) {
		t.reset()
		for c.Err == nil {
			code := c.ULEB()
			if code == 0 {
				t.whole = true
				return
			}
			t.add(code, c.abbrev(t, e))
			if err := r.spend(abbrevCost); err != nil {
				c.Stop(err)
			}
			if code == only {
				return
			}
		}
	})
	if err == nil {
		t.from = from
	}
	return t, err
}

func (c *cursor) abbrev(t *abbrevTable, e encoding) abbrev {
	tag := c.ULEB()
	if tag > 0xffff {
		c.fail(errAbbrev, "tag %#x", tag)
	}
	a := abbrev{tag: dwarf.Tag(tag), children: c.Uint8(aField) != 0}
	attrs, steps := len(t.attrs), len(t.steps)
	a.wanted = wanted(a.tag)
	pending := uint64(0) // bytes of known size
	for c.Err == nil {
		at, f := c.ULEB(), c.ULEB()
		if f > 0xffff || at > 0xffff {
			c.fail(errAbbrev, "attribute %#x of form %#x", at, f)
			return a
		}
		spec := attrSpec{slot: slotOf(dwarf.Attr(at)), form: form(f)}
		if spec.form == formImplicitConst {
			spec.const_ = c.SLEB()
		}
		if at == 0 && f == 0 {
			break
		}
		if a.wanted {
			t.attrs = append(t.attrs, spec)
		}
		size, variable := spec.form.size(e)
		switch {
		case !spec.form.known():
			c.fail(errForm, "attribute %#x of form %#x", at, f)
		case variable:
			t.steps = append(t.steps, uint32(pending), uint32(spec.form))
			pending = 0
		default:
			pending += uint64(size)
		}
	}
	if pending > 1<<31 {
		c.fail(fault.ErrCount, "an abbreviation of %d bytes", pending)
	}
	a.fixed = uint32(pending)
	a.attrs, a.steps = t.attrs[attrs:len(t.attrs):len(t.attrs)], t.steps[steps:len(t.steps):len(t.steps)]
	return a
}

// has reports whether entries with this abbreviation have the attribute s.
func (a *abbrev) has(s slot) bool {
	return slices.ContainsFunc(a.attrs, func(spec attrSpec) bool { return spec.slot == s })
}

// skipEntry skips the values of a debugging information entry with the abbreviation a.
func (c *cursor) skipEntry(a *abbrev, e encoding) {
	for i := 0; i+1 < len(a.steps); i += 2 {
		c.Take(uint64(a.steps[i]), aField)
		c.skipForm(form(a.steps[i+1]), e)
	}
	if a.fixed > 0 {
		c.Take(uint64(a.fixed), aField)
	}
}
