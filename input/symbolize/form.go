package symbolize

import "debug/dwarf"

// A form is the encoding of an attribute's value (DWARF 5, 7.5.6, and GNU extensions).
type form uint16

const (
	formAddr          form = 0x01
	formBlock2        form = 0x03
	formBlock4        form = 0x04
	formData2         form = 0x05
	formData4         form = 0x06
	formData8         form = 0x07
	formString        form = 0x08
	formBlock         form = 0x09
	formBlock1        form = 0x0a
	formData1         form = 0x0b
	formFlag          form = 0x0c
	formSdata         form = 0x0d
	formStrp          form = 0x0e
	formUdata         form = 0x0f
	formRefAddr       form = 0x10
	formRef1          form = 0x11
	formRef2          form = 0x12
	formRef4          form = 0x13
	formRef8          form = 0x14
	formRefUdata      form = 0x15
	formIndirect      form = 0x16
	formSecOffset     form = 0x17
	formExprloc       form = 0x18
	formFlagPresent   form = 0x19
	formStrx          form = 0x1a
	formAddrx         form = 0x1b
	formRefSup4       form = 0x1c
	formStrpSup       form = 0x1d
	formData16        form = 0x1e
	formLineStrp      form = 0x1f
	formRefSig8       form = 0x20
	formImplicitConst form = 0x21
	formLoclistx      form = 0x22
	formRnglistx      form = 0x23
	formRefSup8       form = 0x24
	formStrx1         form = 0x25
	formStrx2         form = 0x26
	formStrx3         form = 0x27
	formStrx4         form = 0x28
	formAddrx1        form = 0x29
	formAddrx2        form = 0x2a
	formAddrx3        form = 0x2b
	formAddrx4        form = 0x2c
	formGNUAddrIndex  form = 0x1f01
	formGNUStrIndex   form = 0x1f02
	formGNURefAlt     form = 0x1f20
	formGNUStrpAlt    form = 0x1f21
)

// Values of formSizes for forms whose size is not a fixed number of bytes.
const (
	sizeUnknown = 0 // unknown form

	sizeVariable = 0x7f - iota // depends on the value
	sizeAddr                   // size of an address
	sizeOffset                 // 4 or 8
	sizeRefAddr                // size of an address in DWARF 2, of an offset in later versions
	sizeNone                   // 0 bytes: the abbreviation contains the value
)

// formSizes contains the sizes of the forms of the DWARF standard, in bytes or as one of the
// special values above. It is an array because decoding an entry looks up several forms.
var formSizes = [...]uint8{
	formAddr: sizeAddr, formBlock2: sizeVariable, formBlock4: sizeVariable, formData2: 2, formData4: 4, formData8: 8,
	formString: sizeVariable, formBlock: sizeVariable, formBlock1: sizeVariable, formData1: 1, formFlag: 1,
	formSdata: sizeVariable, formStrp: sizeOffset, formUdata: sizeVariable, formRefAddr: sizeRefAddr, formRef1: 1,
	formRef2: 2, formRef4: 4, formRef8: 8, formRefUdata: sizeVariable, formIndirect: sizeVariable,
	formSecOffset: sizeOffset, formExprloc: sizeVariable, formFlagPresent: sizeNone, formStrx: sizeVariable,
	formAddrx: sizeVariable, formRefSup4: 4, formStrpSup: sizeOffset, formData16: 16, formLineStrp: sizeOffset,
	formRefSig8: 8, formImplicitConst: sizeNone, formLoclistx: sizeVariable, formRnglistx: sizeVariable, formRefSup8: 8,
	formStrx1: 1, formStrx2: 2, formStrx3: 3, formStrx4: 4, formAddrx1: 1, formAddrx2: 2, formAddrx3: 3, formAddrx4: 4,
}

// sizeCode returns the size of a form's values, as formSizes encodes it. It covers GNU's forms,
// which formSizes does not contain.
func (f form) sizeCode() uint8 {
	if int(f) < len(formSizes) {
		return formSizes[f]
	}
	switch f {
	case formGNUAddrIndex, formGNUStrIndex:
		return sizeVariable
	case formGNURefAlt, formGNUStrpAlt:
		return sizeOffset
	}
	return sizeUnknown
}

func (f form) known() bool { return f.sizeCode() != sizeUnknown }

// size returns the size in bytes of a value of this form. variable means that the size depends on
// the value.
func (f form) size(e encoding) (n uint8, variable bool) {
	switch n := f.sizeCode(); n {
	case sizeVariable:
		return 0, true
	case sizeNone:
		return 0, false
	case sizeAddr:
		return e.addrSize, false
	case sizeRefAddr:
		if e.version == 2 {
			return e.addrSize, false
		}
		return e.offsetSize(), false
	case sizeOffset:
		return e.offsetSize(), false
	default:
		return n, false
	}
}

func (e encoding) offsetSize() uint8 {
	if e.wide {
		return 8
	}
	return 4
}

// skipForm skips a value of the form f, whose size depends on the value.
func (c *cursor) skipForm(f form, e encoding) {
	switch f {
	case formString:
		c.String("a string")
	case formBlock1:
		c.Take(uint64(c.Uint8(aField)), aField)
	case formBlock2:
		c.Take(uint64(c.Uint16(aField)), aField)
	case formBlock4:
		c.Take(uint64(c.Uint32(aField)), aField)
	case formBlock, formExprloc:
		c.Take(c.ULEB(), aField)
	case formIndirect:
		c.value(c.indirect(), e, 0)
	default:
		c.SkipLEB()
	}
}

// indirect reads the form of an attribute with the form formIndirect. The entry contains the actual
// form, followed by the value.
func (c *cursor) indirect() form {
	f := form(c.ULEB())
	if f == formIndirect || f == formImplicitConst || !f.known() {
		c.fail(errForm, "form %#x after an indirect form", uint16(f))
	}
	return f
}

// A value is the value of an attribute as it is stored. v is a number, an offset or an index. For
// an inline string or block, v is the offset of its bytes in the section.
type value struct {
	form form
	v    uint64
}

// value reads a value of form f. implicit is the value for formImplicitConst.
func (c *cursor) value(f form, e encoding, implicit int64) value {
	switch f {
	case formIndirect:
		if f = c.indirect(); c.Err != nil {
			return value{}
		}
		return c.value(f, e, 0)
	case formImplicitConst:
		return value{f, uint64(implicit)}
	case formFlagPresent:
		return value{f, 1}
	case formSdata:
		return value{f, uint64(c.SLEB())}
	case formString, formBlock, formBlock1, formBlock2, formBlock4, formExprloc:
		v := value{f, c.offset()}
		c.skipForm(f, e)
		return v
	}
	n, variable := f.size(e)
	switch {
	case variable:
		return value{f, c.ULEB()}
	case n == 3:
		return value{f, uint64(c.Uint24(aField))}
	case n == 16:
		c.Take(16, aField)
		return value{f, 0}
	}
	return value{f, c.uint(n)}
}

// A slot is the number of an attribute that this package uses, such as the name or the low address
// of a function. DWARF 5 and older GNU attributes with the same meaning have the same slot.
type slot uint8

const (
	slotNone slot = iota
	slotName
	slotLinkageName
	slotDeclFile
	slotDeclLine
	slotDeclColumn
	slotOrigin
	slotSpecification
	slotLowPC
	slotHighPC
	slotRanges
	slotCallFile
	slotCallLine
	slotCallColumn
	slotDiscriminator
	slotStmtList
	slotCompDir
	slotProducer
	slotStrOffsetsBase
	slotAddrBase
	slotRnglistsBase
	slotRangesBase // a GNU extension, for split units before DWARF 5
	slotDwoName
	slotDwoID
	slotArtificial
	numSlots
)

// slots contains the slots of the attributes that this package uses.
var slots = [...]slot{
	dwarf.AttrName: slotName, dwarf.AttrLinkageName: slotLinkageName,
	dwarf.AttrDeclFile: slotDeclFile, dwarf.AttrDeclLine: slotDeclLine, dwarf.AttrDeclColumn: slotDeclColumn,
	dwarf.AttrArtificial: slotArtificial, dwarf.AttrAbstractOrigin: slotOrigin, dwarf.AttrSpecification: slotSpecification,
	dwarf.AttrLowpc: slotLowPC, dwarf.AttrHighpc: slotHighPC, dwarf.AttrRanges: slotRanges,
	dwarf.AttrCallFile: slotCallFile, dwarf.AttrCallLine: slotCallLine, dwarf.AttrCallColumn: slotCallColumn,
	dwarf.AttrStmtList: slotStmtList, dwarf.AttrCompDir: slotCompDir, dwarf.AttrProducer: slotProducer,
	dwarf.AttrStrOffsetsBase: slotStrOffsetsBase, dwarf.AttrAddrBase: slotAddrBase, dwarf.AttrRnglistsBase: slotRnglistsBase,
	dwarf.AttrDwoName: slotDwoName,
}

// gnuSlots contains the slots of attributes that GNU defined before DWARF 5.
var gnuSlots = map[dwarf.Attr]slot{
	0x2007: slotLinkageName, 0x2130: slotDwoName, 0x2131: slotDwoID, 0x2132: slotRangesBase, 0x2133: slotAddrBase,
	0x2136: slotDiscriminator,
}

// slotOf returns the slot of a DWARF attribute, or slotNone if this package does not use the
// attribute. If an entry has two attributes with the same slot, the first one counts.
func slotOf(a dwarf.Attr) slot {
	if int(a) < len(slots) {
		return slots[a]
	}
	return gnuSlots[a]
}

// wanted reports whether this package reads the attributes of entries with a tag, such as those of
// functions. It skips all other entries.
func wanted(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit, dwarf.TagTypeUnit,
		dwarf.TagSubprogram, dwarf.TagInlinedSubroutine, dwarf.TagClassType, dwarf.TagStructType:
		return true
	}
	return false
}
