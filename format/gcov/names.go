package gcov

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/stack"
	"github.com/go-afdo/afdo/profile"
)

// unknownFile is the file index of a name whose file is unknown.
const unknownFile = 0xffffffff

// minStringSize is the size of an empty string: its length and the NUL.
const minStringSize = wordSize + 1

// unreferenced marks the symbol of the empty name as long as nothing refers to it.
const unreferenced = ^profile.SymbolRef(0)

// names decodes the source files and the names.
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

// file reads the file index of a name.
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

// symbol returns the symbol for a name index, which must be in range.
func (d *decoder) symbol(name uint32) profile.SymbolRef {
	if d.refs[name] == unreferenced {
		d.refs[name] = d.p.AddSymbol(profile.UnknownUnit, "")
	}
	return d.refs[name]
}

// explainPadding adds a hint to an error if the names can be read as strings padded to words with
// lengths in words. Some builds of google/autofdo write version 2 in this encoding of version 1.
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

// names numbers the names, and encodes source files and names.
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

// name appends a name. It returns the number of words by which the section's length grows: one for
// the length, and the string as if it were padded to words.
func (e *encoder) name(name string, file uint32) int {
	e.str(name, "a name")
	if e.version >= version3 {
		e.word(file)
	}
	return 1 + (len(name)+wordSize)/wordSize
}

// files appends the source files by path. It returns their numbers by unit.
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

// compareFiles orders symbols with the same name by which file is preferred, see [Write].
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
	if c := cmp.Compare(claim(s), claim(t)); c != 0 {
		return c
	}
	return strings.Compare(e.p.UnitPath(e.p.SymbolUnit(s)), e.p.UnitPath(e.p.SymbolUnit(t)))
}

const (
	wordSize    = 4
	counterSize = 8
)

// A decoder reads the fields of a file.
type decoder struct {
	decode.Buffer
	version uint32

	p    *profile.Profile
	refs []profile.SymbolRef // symbols by name index

	open stack.Stack[openBody]
}

// err returns the first error.
func (d *decoder) err() error {
	return d.Error(func(f *decode.Fault) error { return faultAt(int64(f.Pos), f.Class, "%s", f.Detail) })
}

// wordAt returns the word at pos, which must be within the data.
func (d *decoder) wordAt(pos int) uint32 {
	v := binary.LittleEndian.Uint32(d.Data[pos:])
	if d.Big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// counterAt returns the counter at pos, which must be within the data.
func (d *decoder) counterAt(pos int) uint64 {
	v := binary.LittleEndian.Uint64(d.Data[pos:])
	if d.Big {
		v = uint64(bits.ReverseBytes32(uint32(v))) | uint64(bits.ReverseBytes32(uint32(v>>32)))<<32
	}
	return v
}

func (d *decoder) counter(what string) uint64 {
	if !d.Has(counterSize, what) {
		return 0
	}
	d.Pos += counterSize
	return d.counterAt(d.Pos - counterSize)
}

// words reads a count and checks that this many items of the given size fit in the rest of the
// data.
func (d *decoder) words(size int, what string) int {
	pos := d.Pos
	return d.Count(pos, uint64(d.Uint32(what)), size, what)
}

// str reads a string and returns its range without the NUL.
func (d *decoder) str(what string) (start, end int) {
	pos := d.Pos
	n := d.Uint32(what)
	if uint64(n) > uint64(d.Rest()) {
		d.Fail(pos, fault.ErrTruncated, "%s needs %d bytes, %d are left", what, n, d.Rest())
	}
	if d.Err != nil {
		return 0, 0
	}
	start = d.Pos
	d.Pos += int(n)
	if nul := bytes.IndexByte(d.Data[start:d.Pos], 0); nul < 0 || nul != int(n)-1 {
		d.Fail(pos, fault.ErrName, "%s of %d bytes does not end with its only NUL", what, n)
		return 0, 0
	}
	return start, d.Pos - 1
}

// tag reads a tag and checks its value.
func (d *decoder) tag(tag uint32, what string) {
	pos := d.Pos
	if found := d.Uint32("the tag of " + what); d.Err == nil && found != tag {
		d.Fail(pos, errLayout, "tag %#08x, want that of %s, %#08x", found, what, tag)
	}
}

// An encoder appends the fields of a file. It keeps the first error.
type encoder struct {
	data    []byte
	big     bool
	version uint32
	err     error
	losses  Losses

	p      *profile.Profile
	byName []profile.SymbolRef // all symbols, sorted by name
	index  []profile.SymbolRef // name index by symbol
	outer  stack.Stack[int]    // ends of the bodies that enclose the current one
}

// grow allocates memory for the file in advance. It treats every record as a target, the largest
// kind.
func (e *encoder) grow() {
	n := headerSize + workingSetEntries*workingSetEntrySize
	for f := range e.p.NumUnits() {
		n += minStringSize + len(e.p.UnitPath(profile.UnitRef(f)))
	}
	for s := range e.p.NumSymbols() {
		n += minStringSize + wordSize + len(e.p.SymbolName(profile.SymbolRef(s)))
	}
	for _, f := range e.p.Functions() {
		n += minFunctionSize + counterSize + targetSize*len(f.Records)
	}
	e.data = make([]byte, 0, n)
}

// refuse records an error about a value that the format cannot store.
func (e *encoder) refuse(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("gcov: version %d: %s: %w", e.version, fmt.Sprintf(format, args...), fault.ErrUnrepresentable)
	}
}

func (e *encoder) word(v uint32) {
	if e.big {
		v = bits.ReverseBytes32(v)
	}
	e.data = binary.LittleEndian.AppendUint32(e.data, v)
}

// put overwrites the word at pos.
func (e *encoder) put(pos int, v uint32) {
	if e.big {
		v = bits.ReverseBytes32(v)
	}
	binary.LittleEndian.PutUint32(e.data[pos:], v)
}

func (e *encoder) counter(v uint64) {
	if e.big {
		v = uint64(bits.ReverseBytes32(uint32(v))) | uint64(bits.ReverseBytes32(uint32(v>>32)))<<32
	}
	e.data = binary.LittleEndian.AppendUint64(e.data, v)
}

// fit returns n as a word. It records an error if n is too large.
func (e *encoder) fit(n int, what string) uint32 {
	if uint64(n) > math.MaxUint32 {
		e.refuse("%d, too large a number for %s", n, what)
	}
	return uint32(n)
}

func (e *encoder) str(s, what string) {
	if strings.IndexByte(s, 0) >= 0 {
		e.refuse("a NUL in %s %q", what, s)
	}
	e.word(e.fit(len(s)+1, what))
	e.data = append(e.data, s...)
	e.data = append(e.data, 0)
}

// errLayout is the class of an afdo.FormatError if a tag, a type or the end of the file is not
// where the format requires it.
var errLayout = errors.New("bad layout")

// faultAt returns an error about a file offset.
func faultAt(offset int64, class error, format string, args ...any) *fault.FormatError {
	return &fault.FormatError{
		Format: "gcov", Section: fault.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// versionError returns the error for a profile that has neither version 2 nor 3.
func versionError(kind string, version uint32) *fault.VersionError {
	detail := fmt.Sprintf("this is a version %d profile, not version 2 or 3", version)
	if version == version4 {
		detail += "; package afdo reads that"
	}
	return &fault.VersionError{Format: "gcov", Kind: kind, Version: uint64(version), Detail: detail}
}

// Losses counts what [Write] could not store in the format. The zero Losses means that the file
// reads back as the same profile, except that an empty symbol of an unknown file is dropped if
// nothing refers to it.
type Losses struct {
	Files      int  // version 2: units whose symbols lost their file
	Symbols    int  // symbols merged with another symbol of the same name in another file
	Timestamps int  // version 2: functions that lost their timestamp
	Summary    bool // version 2: the profile had a summary
	ZeroCounts int  // locations with call targets but without a count, which gained a count of 0

	// Lines of more than 16 bits: those without samples (SilentLines) are left out, others
	// (FoldedLines) are reduced to 16 bits, as GCC does in lookups.
	SilentLines, FoldedLines int

	Sources  bool // the profile has marks, see [profile.Marks]
	Evidence bool // the profile has evidence, see [profile.Evidence]
}

// String lists the losses in words, separated by "; ". It is empty if nothing was lost.
func (l Losses) String() string {
	var list []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			list = append(list, "1 "+one)
		case n > 1:
			list = append(list, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(l.Files, "source path dropped", "source paths dropped")
	add(l.Symbols, "symbol merged with another of its name", "symbols merged with others of their name")
	add(l.Timestamps, "timestamp dropped", "timestamps dropped")
	if l.Summary {
		list = append(list, "summary dropped")
	}
	add(l.ZeroCounts, "call location without a count got a count of 0", "call locations without a count got a count of 0")
	add(l.SilentLines, "location without samples beyond line 65,535 left out", "locations without samples beyond line 65,535 left out")
	add(l.FoldedLines, "line offset folded to 16 bits", "line offsets folded to 16 bits")
	if l.Sources {
		list = append(list, "the record of the sources dropped")
	}
	if l.Evidence {
		list = append(list, "the counts of machine code dropped")
	}
	return strings.Join(list, "; ")
}
