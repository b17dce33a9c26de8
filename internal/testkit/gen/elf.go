package gen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// An ELF builds a shared object for x86-64. Its bytes are mapped as code, at addresses equal to
// their file offsets.
type ELF struct {
	Sections []ELFSection
	Symbols  []ELFSymbol
	Strings  []byte // the names of Symbols
}

// An ELFSection is a section of the file that a program does not map into memory, such as debug
// info.
type ELFSection struct {
	Name  string
	Type  uint32
	Flags uint64
	Data  []byte
}

// An ELFSymbol is a function in the symbol table of an [ELF].
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

// Add adds a section with a name and data to the ELF file.
func (e *ELF) Add(name string, data []byte) {
	e.Sections = append(e.Sections, ELFSection{Name: name, Type: ELFBits, Data: data})
}

// Function adds a function to the symbol table: its name, its first address low, and its size.
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

// A DWARF builds a binary with debug info, in version 4 of DWARF.
type DWARF struct {
	ELF
	Info, Abbrev, Line, Ranges, Str []byte
}

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

// abbrev adds an abbreviation to the debug info: a tag, and the attributes that entries with this
// code have. children says whether such entries have child entries.
func (d *DWARF) abbrev(code uint64, tag byte, children bool, attrs ...[]byte) {
	d.Abbrev = append(binary.AppendUvarint(d.Abbrev, code), tag, 0)
	if children {
		d.Abbrev[len(d.Abbrev)-1] = 1
	}
	d.Abbrev = append(append(d.Abbrev, bytes.Join(attrs, nil)...), 0, 0)
}

// unit adds a compile unit with the given encoded entries to the debug info.
func (d *DWARF) unit(entries []byte) {
	le := binary.LittleEndian
	d.Info = le.AppendUint32(d.Info, uint32(7+len(entries)))
	d.Info = append(d.Info, 4, 0, 0, 0, 0, 0, 8)
	d.Info = append(d.Info, entries...)
}

// lines sets the line table of the debug info: its list of folders, its list of files, and the line
// program. All files are in the first folder.
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

// file returns the bytes of the binary, with the debug info in its sections.
func (d *DWARF) file() []byte {
	d.Sections = append(d.Sections, ELFSection{Name: ".note.gnu.build-id", Type: ELFNote, Data: []byte(buildID)})
	d.Add(".debug_info", d.Info)
	d.Add(".debug_abbrev", append(d.Abbrev, 0))
	d.Add(".debug_line", d.Line)
	d.Add(".debug_ranges", d.Ranges)
	d.Add(".debug_str", d.Str)
	return d.Bytes()
}

// dieBytes encodes an entry of DWARF debug info: the code of its abbreviation, and then the values
// of its attributes.
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

// This file creates binaries whose debug info refers to the same data many times. Each has a
// function f at 0x1000, and most have further functions every 16 bytes.

// SharedAbbrevs returns a binary whose units share a table of abbreviations, each unit using the
// last one. With shift, the table of each unit begins one abbreviation later than that of the
// previous unit.
func SharedAbbrevs(units, abbrevs int, shift bool) []byte {
	var d DWARF
	for i := range abbrevs {
		d.abbrev(1<<14+uint64(i), 0x34, false)
	}
	d.abbrev(1, tagUnit, false, atLow, atHigh)
	for i := range units {
		d.unit(dieBytes(1, codeAt+16*uint64(i), uint32(16)))
		if shift {
			binary.LittleEndian.PutUint32(d.Info[len(d.Info)-18:], uint32(7*(i%abbrevs)))
		}
	}
	d.functions(units)
	return d.file()
}

// functions adds n functions of 16 bytes, one after the other, from codeAt on.
func (e *ELF) functions(n int) {
	e.Function("f", codeAt, 16)
	for i := 1; i < n; i++ {
		e.Function(fmt.Sprintf("%x", i), codeAt+16*uint64(i), 16)
	}
}

// sharedLines returns a binary with many units in its debug info, all of which refer to the line
// table of d.
func sharedLines(units int, d *DWARF) []byte {
	d.abbrev(1, tagUnit, false, atLow, atHigh, atLines)
	for i := range units {
		d.unit(dieBytes(1, codeAt+16*uint64(i), uint32(16), uint32(0)))
	}
	d.functions(units)
	return d.file()
}

// setAddress returns the instruction of a DWARF line program that sets the address of the next row.
func setAddress(addr uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, addr)
}

var endSequence = []byte{0, 1, 1}

// rowsProgram returns a line program for a DWARF line table with the given number of rows, each of
// which covers one byte of code.
func rowsProgram(rows int) []byte {
	p := setAddress(codeAt)
	for i := range rows {
		p = append(p, byte(13+14+i%5+1)) // advance the address by 1 and the line by 0 to 4
	}
	return append(p, endSequence...)
}

// SharedLines returns a binary whose units share a line program with the given number of rows.
func SharedLines(units, rows int) []byte {
	var d DWARF
	d.lines(nil, []string{"a.c"}, rowsProgram(rows))
	return sharedLines(units, &d)
}

// SharedFiles returns a binary whose units share a line table with the given number of files.
func SharedFiles(units, files int) []byte {
	var d DWARF
	d.lines(nil, strings.Split(strings.Repeat("a ", files)+"a", " "), rowsProgram(1))
	return sharedLines(units, &d)
}

// ManyRows returns a binary with one function, in which every byte of code belongs to a source line
// of its own. rows is the number of lines.
func ManyRows(rows int) []byte {
	var d DWARF
	d.lines(nil, []string{"a.c"}, rowsProgram(rows))
	d.abbrev(1, tagUnit, false, atLow, atHigh, atLines)
	d.unit(dieBytes(1, uint64(codeAt), uint32(rows), uint32(0)))
	d.Function("f", codeAt, uint64(rows))
	return d.file()
}

// VagueUnits returns a binary whose debug info does not say to which unit a function belongs: no
// unit has a list of its addresses, and none has an entry for a function.
func VagueUnits(units, functions int) []byte {
	var d DWARF
	d.lines(nil, []string{"a.c"}, nil)
	d.abbrev(1, tagUnit, false, atLines)
	for range units {
		d.unit(dieBytes(1, uint32(0)))
	}
	d.functions(functions)
	return d.file()
}

// SharedRanges returns a binary with one function into which another one is inlined many times. All
// of these inlined copies share one list of address ranges.
func SharedRanges(copies, ranges int) []byte {
	var d DWARF
	for i := range uint64(ranges) {
		d.Ranges = appendWords(d.Ranges, codeAt+2*i, codeAt+2*i+1)
	}
	d.Ranges = appendWords(d.Ranges, 0, 0)
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, true, atLow, atHigh)
	d.abbrev(3, tagInlined, false, atRanges)
	size := uint32(2 * ranges)
	entries := append(dieBytes(1, uint64(codeAt), size), dieBytes(2, uint64(codeAt), size)...)
	for range copies {
		entries = append(entries, dieBytes(3, uint32(0))...)
	}
	d.unit(append(entries, 0, 0))
	d.Function("f", codeAt, uint64(size))
	return d.file()
}

// LongNames returns a binary with many functions whose names are suffixes of one long name, in the
// debug info and optionally in the symbol table.
func LongNames(functions, size int, symbols bool) []byte {
	var d DWARF
	d.Str = append([]byte(strings.Repeat("x", size+functions)), 0)
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, false, atName, atLow, atHigh)
	entries := dieBytes(1, uint64(codeAt), uint32(16*functions))
	for i := range functions {
		entries = append(entries, dieBytes(2, uint32(i), codeAt+16*uint64(i), uint32(16))...)
	}
	d.unit(append(entries, 0))
	d.functions(functions)
	if symbols {
		first := len(d.Strings)
		d.Strings = append(d.Strings, d.Str...)
		for i := range d.Symbols[1:] {
			d.Symbols[i+1].Name = uint32(first + i)
		}
	}
	return d.file()
}

// LongFolder returns a binary with many functions, each declared in its own file. All files are in
// one folder with a long name.
func LongFolder(functions, size int) []byte {
	var d DWARF
	d.Str = []byte("f\x00")
	files := make([]string, functions)
	for i := range files {
		files[i] = fmt.Sprintf("%x", i)
	}
	d.lines([]string{strings.Repeat("x", size)}, files, rowsProgram(1))
	d.abbrev(1, tagUnit, true, atLow, atHigh, atLines)
	d.abbrev(2, tagFunction, false, atName, atLow, atHigh, atFile)
	entries := dieBytes(1, uint64(codeAt), uint32(16*functions), uint32(0))
	for i := range functions {
		entries = append(entries, dieBytes(2, uint32(0), codeAt+16*uint64(i), uint32(16), uint32(i+1))...)
	}
	d.unit(append(entries, 0))
	d.functions(functions)
	return d.file()
}

// DeepInlining returns a binary with one function and a chain of inlined functions in it. Each of
// them is inlined in the one before it, and its code begins one byte later.
func DeepInlining(depth int) []byte {
	var d DWARF
	d.Str = []byte("f\x00")
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, true, atName, atLow, atHigh)
	d.abbrev(3, tagInlined, true, atName, atLow, atHigh)
	entries := append(dieBytes(1, uint64(codeAt), uint32(depth+1)), dieBytes(2, uint32(0), uint64(codeAt), uint32(depth+1))...)
	for i := range depth {
		entries = append(entries, dieBytes(3, uint32(0), codeAt+1+uint64(i), uint32(depth-i))...)
	}
	d.unit(append(entries, make([]byte, depth+2)...))
	d.Function("f", codeAt, uint64(depth+1))
	return d.file()
}

// Aliases returns a binary with many names for one function, in the symbol table and in the debug
// info.
func Aliases(n int) []byte {
	var d DWARF
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, false, atName, atLow, atHigh)
	entries := dieBytes(1, uint64(codeAt), uint32(16))
	d.Function("f", codeAt, 16)
	for i := range n {
		d.Function(fmt.Sprintf("g%x", i), codeAt, 16)
		entries = append(entries, dieBytes(2, uint32(len(d.Str)), uint64(codeAt), uint32(16))...)
		d.Str = append(append(d.Str, fmt.Sprintf("h%x", i)...), 0)
	}
	d.unit(append(entries, 0))
	return d.file()
}

// OverlappingFunctions returns a binary with functions of 16 bytes, about which the debug info is
// wrong. It has two entries for each function. Both say that the function has 64 bytes, and that it
// contains an inlined function whose code begins 32 bytes before it.
func OverlappingFunctions(n int) []byte {
	var d DWARF
	d.lines(nil, []string{"a.c"}, rowsProgram(16*n))
	d.abbrev(1, tagUnit, true, atLow, atHigh, atLines)
	d.abbrev(2, tagFunction, true, atName, atLow, atHigh)
	d.abbrev(3, tagInlined, false, atName, atLow, atHigh)
	entries := dieBytes(1, uint64(codeAt), uint32(16*n+48), uint32(0))
	for i := range 2 * uint64(n) {
		low := codeAt + 16*(i/2)
		entries = append(entries, dieBytes(2, uint32(len(d.Str)), low, uint32(64))...)
		entries = append(entries, dieBytes(3, uint32(len(d.Str)), low-32, uint32(40))...)
		entries = append(entries, 0)
		d.Str = append(append(d.Str, fmt.Sprintf("g%x", i)...), 0)
	}
	d.unit(append(entries, 0))
	d.functions(n)
	return d.file()
}

// CommonNames returns a binary with a function whose name is not in the binary itself. Its debug
// info refers to the name in another file, as the tool dwz moves common names there. file is the
// name of that file.
func CommonNames(file string) []byte {
	var d DWARF
	atCommonName := []byte{0x03, 0xa1, 0x3e} // DW_FORM_GNU_strp_alt
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, false, atCommonName, atLow, atHigh)
	d.unit(append(append(dieBytes(1, uint64(codeAt), uint32(16)), dieBytes(2, uint32(0), uint64(codeAt), uint32(16))...), 0))
	d.functions(1)
	d.Add(".gnu_debugaltlink", append([]byte(file), "\x00\x01\x02"...))
	return d.file()
}
