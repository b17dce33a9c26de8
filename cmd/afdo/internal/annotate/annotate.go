// Package annotate assigns the samples of a unit to the lines of its source.
//
// Version 4 counts lines from the declaration of a function, and does not store where the
// declaration is. So a [Listing] has line offsets at first. [Listing.Declare] and [Declarations]
// find the declarations in debug info, which turns offsets into lines of the source.
package annotate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Listing contains the samples of one unit, by function and by line of the function.
type Listing struct {
	Unit      *afdo.Unit
	Functions []*Function // the unit's functions, those with most samples first
}

// A Function contains the samples of one function of a unit. They include the samples of its copies
// that were inlined in other functions of the unit.
type Function struct {
	Symbol    afdo.Symbol
	HeadCount uint64 // head count of the function, without inlined copies
	Samples   uint64 // samples of all lines, without those of functions inlined in them
	Declared  uint32 // line of the declaration, 0 until [Listing.Declare] has found it
	Lines     []Line // ordered by offset

	lines map[int]*Line
}

// A Line has the counts of one line of a function.
type Line struct {
	Offset  int      // lines from the function's declaration; negative for a line before it
	Samples uint64   // sum over all discriminators
	Calls   []Callee // most calls first
	Inlined []Callee // most samples first

	calls, inlined callees
}

// A Callee is a function that was called at a line or inlined there, with its count.
type Callee struct {
	Symbol afdo.SymbolID
	Count  uint64 // calls, or samples of the inlined body and what is inlined in it
}

// callees collects the functions that are called or inlined at one line, by symbol ID.
type callees map[afdo.SymbolID]*openCallee

// An openCallee is the entry of a callee in a line while the records of the unit are read. Its
// count grows with each record.
type openCallee struct {
	count uint64
	depth int // number of its inlined bodies at this line that contain the current record; more than 1 if it is inlined in itself
}

// entry returns the entry of the callee with the given symbol ID. If c has none, entry adds one
// with zero counts.
func (c *callees) entry(id afdo.SymbolID) *openCallee {
	if *c == nil {
		*c = make(callees)
	}
	o := (*c)[id]
	if o == nil {
		o = new(openCallee)
		(*c)[id] = o
	}
	return o
}

// sorted returns the callees of a line in descending order of their counts.
func (c callees) sorted() []Callee {
	all := make([]Callee, 0, len(c))
	for id, o := range c {
		all = append(all, Callee{id, o.count})
	}
	slices.SortFunc(all, func(a, b Callee) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Symbol, b.Symbol))
	})
	return all
}

// Read reads the samples of a unit. If only is not nil, the listing contains that symbol alone,
// with its copies inlined in other functions of the unit. Read does not look into other units.
func Read(u *afdo.Unit, only *afdo.Symbol) (*Listing, error) {
	if err := u.Load(); err != nil {
		return nil, err
	}
	r := reader{unit: u, functions: make(map[afdo.SymbolID]*Function)}
	for s, err := range u.Symbols() {
		if err != nil {
			return nil, err
		}
		if err := r.symbol(s); err != nil {
			return nil, err
		}
	}
	l := &Listing{Unit: u}
	for id, f := range r.functions {
		if only == nil || only.ID() == id {
			l.Functions = append(l.Functions, f.finish())
		}
	}
	slices.SortFunc(l.Functions, func(a, b *Function) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Symbol.Name(), b.Symbol.Name()))
	})
	return l, nil
}

// A reader adds the counts of a unit to source lines. It goes through the records of all functions
// of the unit.
type reader struct {
	unit      *afdo.Unit
	functions map[afdo.SymbolID]*Function
	cursor    afdo.Cursor
	bodies    []body // the bodies that contain the current record, outermost first
}

// A body is a function, or an inlined copy of one, whose records the reader is going through.
type body struct {
	function *Function   // nil if the function belongs to another unit
	entry    *openCallee // its callee entry at the line where it is inlined; nil if it is not inlined, or inlined in a function of another unit
	samples  uint64      // samples read so far, with those of inner bodies
}

func (r *reader) symbol(s afdo.Symbol) error {
	if !s.HasInfo() {
		return nil
	}
	info, err := s.Info()
	if err != nil {
		return err
	}
	f := r.function(s)
	f.HeadCount = info.HeadCount
	r.bodies = append(r.bodies[:0], body{function: f})
	for r.cursor.Reset(info); r.cursor.Next(); {
		r.leave(r.cursor.Depth() + 1)
		if err := r.record(r.cursor.Location()); err != nil {
			return err
		}
	}
	r.leave(1)
	return r.cursor.Err()
}

// record adds the count of a record to its line and to the innermost body that contains the record.
func (r *reader) record(l *afdo.Location) error {
	b := &r.bodies[len(r.bodies)-1]
	b.samples = saturating.Add(b.samples, l.Count)
	line := b.function.line(l.Line)
	if line != nil {
		line.Samples = saturating.Add(line.Samples, l.Count)
	}
	for target := range r.cursor.Targets() {
		if line != nil {
			callee := line.calls.entry(target.Callee)
			callee.count = saturating.Add(callee.count, target.Count)
		}
	}
	if l.Type == afdo.LocationInlinedFn {
		return r.enter(line, l.Callee)
	}
	return nil
}

// enter starts the body of an inlined function. line is the line of the call, and id is the symbol
// ID of the inlined function.
func (r *reader) enter(line *Line, id afdo.SymbolID) error {
	b := body{}
	if line != nil {
		b.entry = line.inlined.entry(id)
		b.entry.depth++
	}
	if start, end := r.unit.IDs(); start <= id && id < end {
		s, err := r.unit.SymbolByID(id)
		if err != nil {
			return err
		}
		b.function = r.function(s)
	}
	r.bodies = append(r.bodies, b)
	return nil
}

// leave ends the innermost bodies until only depth bodies are left. It adds the samples of an ended
// body to the enclosing body, and to the line where the body is inlined. If a function is inlined
// in itself, its samples are added to the line only once.
func (r *reader) leave(depth int) {
	for len(r.bodies) > depth {
		last := len(r.bodies) - 1
		b := r.bodies[last]
		r.bodies = r.bodies[:last]
		around := &r.bodies[last-1]
		around.samples = saturating.Add(around.samples, b.samples)
		if b.entry == nil {
			continue
		}
		if b.entry.depth--; b.entry.depth == 0 {
			b.entry.count = saturating.Add(b.entry.count, b.samples)
		}
	}
}

func (r *reader) function(s afdo.Symbol) *Function {
	f := r.functions[s.ID()]
	if f == nil {
		f = &Function{Symbol: s, lines: make(map[int]*Line)}
		r.functions[s.ID()] = f
	}
	return f
}

// line returns the line at an offset from the function's declaration, and adds it if it is missing.
// It returns nil for a nil f, which stands for a function of another unit.
func (f *Function) line(offset uint32) *Line {
	if f == nil {
		return nil
	}
	o := int(wire.Offset(offset))
	l := f.lines[o]
	if l == nil {
		l = &Line{Offset: o}
		f.lines[o] = l
	}
	return l
}

// finish completes a function after all records of the unit were read: it sorts its lines by offset
// and sums up their samples.
func (f *Function) finish() *Function {
	for _, offset := range slices.Sorted(maps.Keys(f.lines)) {
		l := f.lines[offset]
		f.Lines = append(f.Lines, Line{Offset: l.Offset, Samples: l.Samples, Calls: l.calls.sorted(), Inlined: l.inlined.sorted()})
		f.Samples = saturating.Add(f.Samples, l.Samples)
	}
	f.lines = nil
	return f
}

// ErrNoDeclaration is returned by [Listing.Declare] for a binary whose debug info has no function
// of the listing.
var ErrNoDeclaration = errors.New("the debug info declares none of the unit's functions")

// Declare finds the declaration of each function of the listing in the debug info of a binary, and
// sets Declared to its line. It reads only the compilation units of the debug info that contain
// code of these functions, or of functions into which they may be inlined.
//
// A function that the debug info does not contain keeps line 0. If this is true for all functions,
// the error is [ErrNoDeclaration].
func (l *Listing) Declare(ctx context.Context, binary string) error {
	names := make([]Name, len(l.Functions))
	for i, f := range l.Functions {
		names[i] = Name{l.Unit.Path(), f.Symbol.Name()}
	}
	holders, err := l.holders()
	if err != nil {
		return err
	}
	lines, err := Declarations(ctx, binary, names, holders)
	for i, line := range lines {
		l.Functions[i].Declared = line
	}
	return err
}

// A Name identifies a function by the path of its unit and its assembler name.
type Name struct{ Unit, Symbol string }

// Declarations returns the line where each function is declared, from the debug info of a binary,
// or 0 for a function that the debug info lacks. If it lacks all of them, the error is
// [ErrNoDeclaration]. The compiler may have inlined the functions into others: holders are the
// names of functions that may contain them. Only the debug info of functions and holders is read.
func Declarations(ctx context.Context, binary string, functions []Name, holders []string) ([]uint32, error) {
	file, err := symbolize.Open(binary)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	wanted := make(map[Name][]int) // by the last part of the unit's path and the canonical name
	canonicals := make(map[string]bool)
	for i, f := range functions {
		name := Name{path.Base(f.Unit), symname.Canonical(f.Symbol)}
		wanted[name] = append(wanted[name], i)
		canonicals[name.Symbol] = true
	}
	for _, name := range holders {
		canonicals[symname.Canonical(name)] = true
	}
	lines, found := make([]uint32, len(functions)), false
	err = InCode(ctx, file, canonicals, func(f *symbolize.Function) {
		// The profile may have the function in another file than debug info.
		for _, i := range wanted[Name{path.Base(f.File), symname.Canonical(f.Linkage())}] {
			lines[i], found = f.Line, true
		}
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("%s: %w", binary, ErrNoDeclaration)
	}
	return lines, nil
}

// holders returns the names of all functions of the unit. Functions of the listing may be inlined
// in any of them.
func (l *Listing) holders() (names []string, err error) {
	for s, err := range l.Unit.Symbols() {
		if err != nil {
			return nil, err
		}
		if s.HasInfo() {
			names = append(names, s.Name())
		}
	}
	return names, nil
}

// InCode finds functions in the code of a binary, with its debug info. names has the canonical
// names of the symbols whose code is searched. For each range of instructions of this code, InCode
// calls each with the innermost function of the range, and with every function into which that one
// was inlined.
func InCode(ctx context.Context, file *symbolize.File, names map[string]bool, each func(*symbolize.Function)) error {
	var symbols []symbolize.Symbol
	for s, err := range file.Symbols() {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(s.Names, func(name string) bool { return names[symname.Canonical(name)] }) {
			symbols = append(symbols, s)
		}
	}
	for code, err := range file.Code(ctx, symbols) {
		if err != nil {
			return err
		}
		for _, span := range code.Spans {
			for i := span.Instance; i != nil; i = i.Caller {
				each(i.Function)
			}
		}
	}
	return nil
}

// A Row is a line of a source file as [Printer.Source] prints it: its number, its text and its
// counts.
type Row struct {
	Number    int // line number, from 1
	Text      string
	Seen      []*Line     // the counts of each function that contains the line, nil if there are none
	Functions []*Function // functions declared at this line
}

// Samples adds up the samples of the line over all functions that contain it. seen is false if no
// function does.
func (r *Row) Samples() (samples uint64, seen bool) {
	for _, l := range r.Seen {
		samples = saturating.Add(samples, l.Samples)
	}
	return samples, len(r.Seen) > 0
}

// maxSource is the size in bytes of the largest source file that is read.
const maxSource = 64 << 20

// errNotSource is the error of [FindSource] for a path that does not look like a source file. The
// path comes from a profile or from debug info.
var errNotSource = errors.New("not named like a source file, so it is read only below --source")

// FindSource returns the path of a unit's source file. If dir is not empty, FindSource looks below
// dir, because the source tree may have moved. It tries the whole path of the unit, then the path
// without its first directory, without its first two, and so on. If dir is empty, it returns the
// path of the unit, but only if that looks like a source file. The author of a profile chooses the
// path, and must not be able to have other files of the user printed.
func FindSource(dir, unit string) (string, error) {
	if unit == "" {
		return "", fmt.Errorf("the unit of unknown files has no source: %w", fs.ErrNotExist)
	}
	if dir == "" {
		if !isSource(unit) {
			return "", fmt.Errorf("%s: %w", unit, errNotSource)
		}
		_, err := os.Stat(unit)
		return unit, err
	}
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+filepath.ToSlash(unit)), "/"), "/")
	for i := range parts {
		path := filepath.Join(dir, filepath.Join(parts[i:]...))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s has no %s: %w", dir, unit, fs.ErrNotExist)
}

// sourceNames are the endings of the names of source files, such as ".c".
var sourceNames = []string{
	".c", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".txx", ".tpp",
	".def", ".y", ".yy", ".l", ".ll", ".re", ".ixx", ".cppm", ".i", ".ii", ".m", ".mm", ".s", ".asm", ".cu", ".ispc",
	".rs", ".go", ".swift", ".d", ".zig", ".nim", ".f", ".for", ".f90", ".f95", ".f03", ".f08", ".adb", ".ads", ".pas", ".kt", ".java",
}

// isSource reports whether a path looks like a source file, or like a header of the standard
// library, which has no suffix and is in a folder of C++ headers.
func isSource(path string) bool {
	end := strings.ToLower(filepath.Ext(path))
	if end == "" {
		return strings.Contains(filepath.ToSlash(filepath.Clean(path)), "/c++/")
	}
	return slices.Contains(sourceNames, end)
}

// Text returns the lines of a source file.
func Text(path string) (lines []string, err error) {
	text, err := files.ReadFile(path, maxSource)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		lines = append(lines, strings.TrimRight(string(line), "\r\n"))
	}
	return lines, nil
}

// Rows returns the lines of a source file, with the counts of the functions whose declarations are
// known. beyond is the number of lines with samples after the end of the file, which shows that the
// file is another version of the source.
func (l *Listing) Rows(path string) (rows []Row, beyond int, err error) {
	text, err := Text(path)
	if err != nil {
		return nil, 0, err
	}
	for _, line := range text {
		rows = append(rows, Row{Number: len(rows) + 1, Text: line})
	}
	for _, f := range l.Functions {
		if f.Declared == 0 {
			continue
		}
		if at := int(f.Declared); at <= len(rows) {
			rows[at-1].Functions = append(rows[at-1].Functions, f)
		}
		for i := range f.Lines {
			at := int(f.Declared) + f.Lines[i].Offset
			if at < 1 || at > len(rows) {
				beyond++
				continue
			}
			rows[at-1].Seen = append(rows[at-1].Seen, &f.Lines[i])
		}
	}
	return rows, beyond, nil
}
