package gcov

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// unknownFile is the file index of a name whose file is unknown.
const unknownFile = 0xffffffff

// minStringSize is the size of an empty string: its length and the NUL.
const minStringSize = wordSize + 1

// unreferenced marks the symbol of the empty name as long as nothing refers to it.
const unreferenced = ^profile.SymbolRef(0)

// names decodes the section with the paths of source files and the names of symbols.
func (d *decoder) names() {
	d.tag(tagNames, "the names")
	d.Uint32("the length of the names")
	var files []profile.UnitRef
	entrySize := minStringSize
	if d.version >= version3 {
		files = d.files()
		entrySize += wordSize
	}
	n := d.words(entrySize, "names")
	start := d.Pos
	d.skipNames(n)
	if d.Err != nil {
		return
	}
	// One string for the whole table, instead of one per name.
	table := string(d.Data[start:d.Pos])
	d.Pos = start
	d.refs = make([]profile.SymbolRef, n)
	for i := range d.refs {
		from, to := d.str("a name")
		name := table[from-start : to-start]
		file := d.file(files)
		if d.Err != nil {
			return
		}
		if name == "" && file == profile.UnknownUnit {
			d.refs[i] = unreferenced
			continue
		}
		d.refs[i] = d.p.AddSymbol(file, name)
	}
}

func (d *decoder) files() []profile.UnitRef {
	n := d.words(minStringSize, "source files")
	files := make([]profile.UnitRef, n)
	for i := range files {
		start, end := d.str("a source file")
		files[i] = d.p.AddUnit(string(d.Data[start:end]))
	}
	return files
}

func (d *decoder) skipNames(n int) {
	data, start := d.Data, d.Pos
	for range n {
		d.str("a name")
		if d.Err != nil {
			d.explainPadding(data, start, n)
			return
		}
		if d.version >= version3 {
			d.Uint32("the file of a name")
		}
	}
}

// file reads the number of the source file of a name, and returns the unit of that file. files has
// the units of all source files. In version 2 the file of a name is unknown.
func (d *decoder) file(files []profile.UnitRef) profile.UnitRef {
	if d.version < version3 {
		return profile.UnknownUnit
	}
	pos := d.Pos
	i := d.Uint32("the file of a name")
	if i == unknownFile {
		return profile.UnknownUnit
	}
	if uint64(i) >= uint64(len(files)) {
		d.Fail(pos, fault.ErrSymbol, "file index %d of a name, but there are %d files", i, len(files))
		return profile.UnknownUnit
	}
	return files[i]
}

// symbol returns the symbol of the name with the given index. The index must be in range.
func (d *decoder) symbol(name uint32) profile.SymbolRef {
	if d.refs[name] == unreferenced {
		d.refs[name] = d.p.AddSymbol(profile.UnknownUnit, "")
	}
	return d.refs[name]
}

// explainPadding adds a hint to the error of decoding names. Some builds of google/autofdo write
// version 2 with the strings of version 1, which are padded to words and have a length in words.
// The hint says so if the names can be read in that form.
func (d *decoder) explainPadding(data []byte, start, n int) {
	p := decode.Buffer{Data: data, Pos: start, Big: d.Big}
	for range n {
		size := wordSize * int64(p.Uint32("a length"))
		if size == 0 || size > int64(p.Rest()) || data[p.Pos+int(size)-1] != 0 {
			return
		}
		p.Pos += int(size)
	}
	if d.Err != nil {
		d.Err.Detail += "; the names are padded to words as in version 1"
	}
}

// names numbers the names, and appends the section with the paths of source files and the names to
// the file.
func (e *encoder) names() {
	e.word(tagNames)
	length := len(e.data)
	e.word(0)
	var files []uint32
	if e.version >= version3 {
		files = e.files()
	} else {
		e.losses.Files = e.p.NumUnits() - 1
	}
	n := e.numberNames()
	e.word(e.fit(n, "the names"))
	e.losses.Symbols = len(e.byName) - n
	words := 1
	if len(e.byName) == 0 || e.index[e.byName[0]] != 0 {
		words += e.name("", unknownFile)
		e.losses.Symbols++
	}
	for i, s := range e.byName {
		if i > 0 && e.index[s] == e.index[e.byName[i-1]] {
			continue
		}
		file := uint32(unknownFile)
		if f := e.p.SymbolUnit(s); f != profile.UnknownUnit && files != nil {
			file = files[f]
		}
		words += e.name(e.p.SymbolName(s), file)
	}
	e.put(length, e.fit(words, "the length of the names"))
}

// name appends a name and the index of its file. It returns the number of words by which the length
// field of the section grows. That field counts a string as if it were padded to words, and one
// word for its length.
func (e *encoder) name(name string, file uint32) int {
	e.str(name, "a name")
	if e.version >= version3 {
		e.word(file)
	}
	return 1 + (len(name)+wordSize)/wordSize
}

// files appends the paths of source files, sorted. It returns the number of each path, by unit.
func (e *encoder) files() []uint32 {
	byPath := make([]profile.UnitRef, e.p.NumUnits()-1)
	for i := range byPath {
		byPath[i] = profile.UnitRef(i + 1) // all except UnknownUnit
	}
	slices.SortFunc(byPath, func(f, g profile.UnitRef) int {
		return strings.Compare(e.p.UnitPath(f), e.p.UnitPath(g))
	})
	numbers := make([]uint32, e.p.NumUnits())
	e.word(e.fit(len(byPath), "the source files"))
	for i, f := range byPath {
		numbers[f] = uint32(i)
		e.str(e.p.UnitPath(f), "a path")
	}
	return numbers
}

// numberNames sorts the symbols by name, assigns the same index to symbols with the same name, and
// returns the number of names. Index 0 is the empty name. Among symbols with the same name, the one
// whose file is used comes first.
func (e *encoder) numberNames() int {
	e.byName = make([]profile.SymbolRef, e.p.NumSymbols())
	for i := range e.byName {
		e.byName[i] = profile.SymbolRef(i)
	}
	slices.SortFunc(e.byName, func(s, t profile.SymbolRef) int {
		if c := strings.Compare(e.p.SymbolName(s), e.p.SymbolName(t)); c != 0 {
			return c
		}
		return e.compareFiles(s, t)
	})
	e.index = make([]profile.SymbolRef, len(e.byName))
	index, last := profile.SymbolRef(0), ""
	for _, s := range e.byName {
		if name := e.p.SymbolName(s); name != last {
			index, last = index+1, name
		}
		e.index[s] = index
	}
	return int(index) + 1
}

// compareFiles compares two symbols of the same name, for sorting. The one whose source file the
// merged symbol gets comes first, see [Write].
func (e *encoder) compareFiles(s, t profile.SymbolRef) int {
	claim := func(s profile.SymbolRef) int {
		switch f := e.p.SymbolUnit(s); {
		case e.p.Function(s) != nil && f != profile.UnknownUnit:
			return 0
		case e.p.Function(s) != nil:
			return 1
		case f != profile.UnknownUnit:
			return 2
		}
		return 3
	}
	return cmp.Or(cmp.Compare(claim(s), claim(t)), strings.Compare(e.p.UnitPath(e.p.SymbolUnit(s)), e.p.UnitPath(e.p.SymbolUnit(t))))
}
