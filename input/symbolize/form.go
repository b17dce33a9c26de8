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

// Sizes of forms: a number of bytes, or one of these values.
const (
	sizeUnknown = 0 // unknown form

	sizeVariable = 0x7f - iota // depends on the value
	sizeAddr                   // size of an address
	sizeOffset                 // 4 or 8
	sizeRefAddr                // size of an address in DWARF 2, of an offset in later versions
	sizeNone                   // the value is not in the entry
)

// formSizes holds the sizes of DWARF's own forms. It is an array because every entry looks up
// several.
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

// sizeCode returns the size of a form, as in formSizes.
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

// size returns the size of a value in bytes. variable reports that it depends on the value.
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

// skipForm skips a value of variable size.
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

// indirect reads the form that precedes the value.
func (c *cursor) indirect() form {
	f := form(c.ULEB())
	if f == formIndirect || f == formImplicitConst || !f.known() {
		c.fail(errForm, "form %#x after an indirect form", uint16(f))
	}
	return f
}

// A value is an attribute's value as stored: a number, an offset, an index or, for an inline string
// or block, its offset in the section.
type value struct {
	form form
	v    uint64
}

// value reads a value.
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

// A slot identifies an attribute that this package uses.
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

// slotOf returns the slot for an attribute. If an entry has an attribute twice, or under its old
// and its new name, the first one counts.
func slotOf(a dwarf.Attr) slot {
	switch a {
	case dwarf.AttrName:
		return slotName
	case dwarf.AttrLinkageName, 0x2007:
		return slotLinkageName
	case dwarf.AttrDeclFile:
		return slotDeclFile
	case dwarf.AttrDeclLine:
		return slotDeclLine
	case dwarf.AttrDeclColumn:
		return slotDeclColumn
	case dwarf.AttrArtificial:
		return slotArtificial
	case dwarf.AttrAbstractOrigin:
		return slotOrigin
	case dwarf.AttrSpecification:
		return slotSpecification
	case dwarf.AttrLowpc:
		return slotLowPC
	case dwarf.AttrHighpc:
		return slotHighPC
	case dwarf.AttrRanges:
		return slotRanges
	case dwarf.AttrCallFile:
		return slotCallFile
	case dwarf.AttrCallLine:
		return slotCallLine
	case dwarf.AttrCallColumn:
		return slotCallColumn
	case 0x2136:
		return slotDiscriminator
	case dwarf.AttrStmtList:
		return slotStmtList
	case dwarf.AttrCompDir:
		return slotCompDir
	case dwarf.AttrProducer:
		return slotProducer
	case dwarf.AttrStrOffsetsBase:
		return slotStrOffsetsBase
	case dwarf.AttrAddrBase, 0x2133:
		return slotAddrBase
	case dwarf.AttrRnglistsBase:
		return slotRnglistsBase
	case 0x2132:
		return slotRangesBase
	case dwarf.AttrDwoName, 0x2130:
		return slotDwoName
	case 0x2131:
		return slotDwoID
	}
	return slotNone
}

// wanted reports whether the attributes of entries with this tag are read.
func wanted(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit, dwarf.TagTypeUnit,
		dwarf.TagSubprogram, dwarf.TagInlinedSubroutine, dwarf.TagClassType, dwarf.TagStructType:
		return true
	}
	return false
}
