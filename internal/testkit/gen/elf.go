package gen

import (
	"bytes"
	"encoding/binary"
)

// An ELF builds a shared object for x86-64. Its bytes are mapped as code, at addresses equal to
// their file offsets.
type ELF struct {
	Sections []ELFSection
	Symbols  []ELFSymbol
	Strings  []byte // the names of Symbols
}

// An ELFSection is a section that is not mapped.
type ELFSection struct {
	Name  string
	Type  uint32
	Flags uint64
	Data  []byte
}

// An ELFSymbol is a function.
type ELFSymbol struct {
	Name      uint32 // offset in Strings
	Low, Size uint64
}

// Types and flags of sections.
const (
	ELFBits       = 1
	ELFNote       = 7
	ELFCompressed = 0x800
)

// Add adds a section.
func (e *ELF) Add(name string, data []byte) {
	e.Sections = append(e.Sections, ELFSection{Name: name, Type: ELFBits, Data: data})
}

// Function adds a function with a name.
func (e *ELF) Function(name string, low, size uint64) {
	if len(e.Strings) == 0 {
		e.Strings = []byte{0}
	}
	e.Symbols = append(e.Symbols, ELFSymbol{uint32(len(e.Strings)), low, size})
	e.Strings = append(append(e.Strings, name...), 0)
}

// Bytes returns the file: headers, sections, symbols, names, section headers.
func (e *ELF) Bytes() []byte {
	const head, program, section = 64, 56, 64
	le := binary.LittleEndian
	var table []byte
	for _, s := range append([]ELFSymbol{{}}, e.Symbols...) {
		info := byte(0x12) // a global function
		if s == (ELFSymbol{}) {
			info = 0
		}
		table = append(le.AppendUint32(table, s.Name), info, 0, info&1|info>>4, 0)
		table = appendWords(table, s.Low, s.Size)
	}
	all := append([]ELFSection{{}}, e.Sections...)
	all = append(all, ELFSection{Name: ".symtab", Type: 2, Data: table}, ELFSection{Name: ".strtab", Type: 3, Data: e.Strings})
	names := []byte{0}
	file := make([]byte, head+program)
	var headers []byte
	for i, s := range append(all, ELFSection{Name: ".shstrtab", Type: 3}) {
		if i == 0 {
			headers = make([]byte, section)
			continue
		}
		headers = le.AppendUint32(le.AppendUint32(headers, uint32(len(names))), s.Type)
		names = append(append(names, s.Name...), 0)
		if i == len(all) {
			s.Data = names
		}
		headers = appendWords(headers, s.Flags, 0, uint64(len(file)), uint64(len(s.Data)))
		link, size := uint32(0), uint64(0)
		if s.Type == 2 {
			link, size = uint32(i+1), 24
		}
		headers = appendWords(le.AppendUint32(le.AppendUint32(headers, link), 1), 8, size)
		file = append(append(file, s.Data...), make([]byte, -len(s.Data)&7)...)
	}
	size := uint64(len(file) + len(headers))
	ident := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00\x01\x00\x00\x00")
	h := appendWords(ident, 0, head, uint64(len(file)))
	for _, v := range []uint16{0, 0, head, program, 1, section, uint16(len(all) + 1), uint16(len(all))} {
		h = le.AppendUint16(h, v)
	}
	p := appendWords(le.AppendUint32(le.AppendUint32(nil, 1), 5), 0, 0, 0, size, size, 4096)
	copy(file, append(h, p...))
	return append(file, headers...)
}

// A DWARF builds debug info of version 4.
type DWARF struct{ Info, Abbrev, Line, Ranges, Str []byte }

// Attributes of units and functions, as pairs of attribute and form.
var (
	atName      = []byte{0x03, 0x0e} // 4-byte offset in .debug_str
	atLow       = []byte{0x11, 0x01}
	atHigh      = []byte{0x12, 0x06} // 4-byte length
	atRanges    = []byte{0x55, 0x17}
	atLines     = []byte{0x10, 0x17}
	atFile      = []byte{0x3a, 0x06}
	tagUnit     = byte(0x11)
	tagFunction = byte(0x2e)
	tagInlined  = byte(0x1d)
)

// abbrev adds an abbreviation.
func (d *DWARF) abbrev(code uint64, tag byte, children bool, attrs ...[]byte) {
	d.Abbrev = append(binary.AppendUvarint(d.Abbrev, code), tag, 0)
	if children {
		d.Abbrev[len(d.Abbrev)-1] = 1
	}
	d.Abbrev = append(append(d.Abbrev, bytes.Join(attrs, nil)...), 0, 0)
}

// unit adds a unit with entries.
func (d *DWARF) unit(entries []byte) {
	le := binary.LittleEndian
	d.Info = le.AppendUint32(d.Info, uint32(7+len(entries)))
	d.Info = append(d.Info, 4, 0, 0, 0, 0, 0, 8)
	d.Info = append(d.Info, entries...)
}

// lines sets the line table: folders, files and a program. All files are in the first folder.
func (d *DWARF) lines(dirs, files []string, program []byte) {
	head := []byte{1, 1, 1, 0, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}
	for _, dir := range dirs {
		head = append(append(head, dir...), 0)
	}
	head = append(head, 0)
	for _, file := range files {
		head = append(append(head, file...), 0, byte(min(1, len(dirs))), 0, 0)
	}
	head = append(head, 0)
	le := binary.LittleEndian
	p := append(le.AppendUint32(nil, uint32(6+len(head)+len(program))), 4, 0)
	d.Line = append(append(le.AppendUint32(p, uint32(len(head))), head...), program...)
}

// buildID is a note with the build ID 01020304.
const buildID = "\x04\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00GNU\x00\x01\x02\x03\x04"

// in adds the sections to a file.
func (d *DWARF) in(e *ELF) []byte {
	e.Sections = append(e.Sections, ELFSection{Name: ".note.gnu.build-id", Type: ELFNote, Data: []byte(buildID)})
	e.Add(".debug_info", d.Info)
	e.Add(".debug_abbrev", append(d.Abbrev, 0))
	e.Add(".debug_line", d.Line)
	e.Add(".debug_ranges", d.Ranges)
	e.Add(".debug_str", d.Str)
	return e.Bytes()
}

// dieBytes encodes an entry: the code of its abbreviation and its values.
func dieBytes(code uint64, values ...any) []byte {
	p := binary.AppendUvarint(nil, code)
	for _, v := range values {
		switch v := v.(type) {
		case uint32:
			p = binary.LittleEndian.AppendUint32(p, v)
		case uint64:
			p = binary.LittleEndian.AppendUint64(p, v)
		}
	}
	return p
}

// codeAt is the address of the first code in hostile binaries.
const codeAt = 0x1000
