package gen

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Binaries whose debug info says the same many times over. Each has a function f at 0x1000, and
// most have more, every 16 bytes.

// SharedAbbrevs has units that share a table of abbreviations, at whose end their own one is. With
// a shift each has a table that begins one abbreviation later than that of the last.
func SharedAbbrevs(units, abbrevs int, shift bool) []byte {
	var d DWARF
	var e ELF
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
	e.functions(units)
	return d.in(&e)
}

// functions adds functions of 16 bytes.
func (e *ELF) functions(n int) {
	e.Function("f", codeAt, 16)
	for i := 1; i < n; i++ {
		e.Function(fmt.Sprintf("%x", i), codeAt+16*uint64(i), 16)
	}
}

// sharedLines has units that share a line table.
func sharedLines(units int, d *DWARF) []byte {
	var e ELF
	d.abbrev(1, tagUnit, false, atLow, atHigh, atLines)
	for i := range units {
		d.unit(dieBytes(1, codeAt+16*uint64(i), uint32(16), uint32(0)))
	}
	e.functions(units)
	return d.in(&e)
}

// setAddress and endSequence are parts of line programs.
func setAddress(addr uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, addr)
}

var endSequence = []byte{0, 1, 1}

// rowsProgram is a line program of rows that are a byte of code each.
func rowsProgram(rows int) []byte {
	p := setAddress(codeAt)
	for i := range rows {
		p = append(p, byte(13+14+i%5+1)) // an address later, and 0 to 4 lines
	}
	return append(p, endSequence...)
}

// SharedLines has units that share a line program of so many rows.
func SharedLines(units, rows int) []byte {
	var d DWARF
	d.lines(nil, []string{"a.c"}, rowsProgram(rows))
	return sharedLines(units, &d)
}

// SharedFiles has units that share a line table of so many files.
func SharedFiles(units, files int) []byte {
	var d DWARF
	d.lines(nil, strings.Split(strings.Repeat("a ", files)+"a", " "), rowsProgram(1))
	return sharedLines(units, &d)
}

// ManyRows has one function of as many lines as bytes.
func ManyRows(rows int) []byte {
	var d DWARF
	var e ELF
	d.lines(nil, []string{"a.c"}, rowsProgram(rows))
	d.abbrev(1, tagUnit, false, atLow, atHigh, atLines)
	d.unit(dieBytes(1, uint64(codeAt), uint32(rows), uint32(0)))
	e.Function("f", codeAt, uint64(rows))
	return d.in(&e)
}

// VagueUnits has units that do not say where their code is, and functions that are in none.
func VagueUnits(units, functions int) []byte {
	var d DWARF
	var e ELF
	d.lines(nil, []string{"a.c"}, nil)
	d.abbrev(1, tagUnit, false, atLines)
	for range units {
		d.unit(dieBytes(1, uint32(0)))
	}
	e.functions(functions)
	return d.in(&e)
}

// SharedRanges has so many copies inlined in one function, which share a list of ranges.
func SharedRanges(copies, ranges int) []byte {
	var d DWARF
	var e ELF
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
	e.Function("f", codeAt, uint64(size))
	return d.in(&e)
}

// LongNames has so many functions, whose names are the ends of one of so many bytes: in debug info,
// and with symbols in the symbol table as well.
func LongNames(functions, size int, symbols bool) []byte {
	var d DWARF
	var e ELF
	d.Str = append([]byte(strings.Repeat("x", size+functions)), 0)
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, false, atName, atLow, atHigh)
	entries := dieBytes(1, uint64(codeAt), uint32(16*functions))
	for i := range functions {
		entries = append(entries, dieBytes(2, uint32(i), codeAt+16*uint64(i), uint32(16))...)
	}
	d.unit(append(entries, 0))
	e.functions(functions)
	if symbols {
		first := len(e.Strings)
		e.Strings = append(e.Strings, d.Str...)
		for i := range e.Symbols[1:] {
			e.Symbols[i+1].Name = uint32(first + i)
		}
	}
	return d.in(&e)
}

// LongFolder has so many functions, each declared in a file of its own in one folder, whose name
// has so many bytes.
func LongFolder(functions, size int) []byte {
	var d DWARF
	var e ELF
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
	e.functions(functions)
	return d.in(&e)
}

// DeepInlining has a function with so many copies inlined, one in the other, each a byte shorter at
// its beginning.
func DeepInlining(depth int) []byte {
	var d DWARF
	var e ELF
	d.Str = []byte("f\x00")
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, true, atName, atLow, atHigh)
	d.abbrev(3, tagInlined, true, atName, atLow, atHigh)
	entries := append(dieBytes(1, uint64(codeAt), uint32(depth+1)), dieBytes(2, uint32(0), uint64(codeAt), uint32(depth+1))...)
	for i := range depth {
		entries = append(entries, dieBytes(3, uint32(0), codeAt+1+uint64(i), uint32(depth-i))...)
	}
	d.unit(append(entries, make([]byte, depth+2)...))
	e.Function("f", codeAt, uint64(depth+1))
	return d.in(&e)
}

// Aliases has so many names of one function, in the symbol table and in debug info.
func Aliases(n int) []byte {
	var d DWARF
	var e ELF
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, false, atName, atLow, atHigh)
	entries := dieBytes(1, uint64(codeAt), uint32(16))
	e.Function("f", codeAt, 16)
	for i := range n {
		e.Function(fmt.Sprintf("g%x", i), codeAt, 16)
		entries = append(entries, dieBytes(2, uint32(len(d.Str)), uint64(codeAt), uint32(16))...)
		d.Str = append(append(d.Str, fmt.Sprintf("h%x", i)...), 0)
	}
	d.unit(append(entries, 0))
	return d.in(&e)
}

// OverlappingFunctions has functions of 16 bytes, of which debug info says that they are 64 bytes
// long, twice each, and that in each a copy is inlined which begins 32 bytes before it.
func OverlappingFunctions(n int) []byte {
	var d DWARF
	var e ELF
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
	e.functions(n)
	return d.in(&e)
}

// CommonNames has a function whose name is in a common file, as dwz makes it, of that name.
func CommonNames(file string) []byte {
	var d DWARF
	var e ELF
	atCommonName := []byte{0x03, 0xa1, 0x3e} // DW_FORM_GNU_strp_alt
	d.abbrev(1, tagUnit, true, atLow, atHigh)
	d.abbrev(2, tagFunction, false, atCommonName, atLow, atHigh)
	d.unit(append(append(dieBytes(1, uint64(codeAt), uint32(16)), dieBytes(2, uint32(0), uint64(codeAt), uint32(16))...), 0))
	e.functions(1)
	e.Add(".gnu_debugaltlink", append([]byte(file), "\x00\x01\x02"...))
	return d.in(&e)
}
