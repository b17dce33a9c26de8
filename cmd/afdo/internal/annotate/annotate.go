// Package annotate puts the samples of a unit at the lines of its source.
//
// Version 4 counts lines from the declaration of a function, and does not say where that is. So a
// [Listing] has offsets, and becomes one of source lines with what debug info says of the
// declarations, see [Declarations].
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

// A Listing is the samples of one unit by function and line.
type Listing struct {
	Unit      *afdo.Unit
	Functions []*Function // of the unit, those with most samples first
}

// A Function has the samples of a function of the unit, including the samples of its copies inlined
// in functions of the unit.
type Function struct {
	Symbol    afdo.Symbol
	HeadCount uint64 // of the function itself, without copies
	Samples   uint64 // of all lines; what is inlined in them is not counted
	Declared  uint32 // line of the declaration, 0 as long as it is not known
	Lines     []Line // by offset

	lines map[int]*Line
}

// A Line has the counts of one line of a function.
type Line struct {
	Offset  int      // from the declaration; negative for a line before it
	Samples uint64   // of all discriminators
	Calls   []Callee // most calls first
	Inlined []Callee // most samples first

	calls, inlined callees
}

// A Callee is a function that was called or inlined, with the number of times.
type Callee struct {
	Symbol afdo.SymbolID
	Count  uint64 // calls, or samples of the inlined body and what is inlined in it
}

// callees collects the callees of one line.
type callees map[afdo.SymbolID]*open

// An open is a callee whose count is not complete yet.
type open struct {
	count uint64
	depth int // how many of its bodies at this line are open, more than one where it recurs
}

// of returns the entry of a callee, which is made where there is none.
func (c *callees) of(id afdo.SymbolID) *open {
	if *c == nil {
		*c = make(callees)
	}
	o := (*c)[id]
	if o == nil {
		o = new(open)
		(*c)[id] = o
	}
	return o
}

// sorted returns the callees, those with the largest counts first.
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

// Read reads the samples of a unit, or of one symbol of it and the copies of that alone if only is
// not nil. It reads what the unit has and no other unit.
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

// A reader goes through the bodies of a unit.
type reader struct {
	unit      *afdo.Unit
	functions map[afdo.SymbolID]*Function
	cursor    afdo.Cursor
	bodies    []body // those around the record at hand
}

// A body is the body of a function, or of an inlined copy of it.
type body struct {
	function *Function // nil if it is of another unit
	entry    *open     // at the line where it is inlined; nil for the outermost, and for one in a function of another unit
	samples  uint64    // so far
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

// record adds a record to its line and to the body that contains it.
func (r *reader) record(l *afdo.Location) error {
	b := &r.bodies[len(r.bodies)-1]
	b.samples = saturating.Add(b.samples, l.Count)
	line := b.function.line(l.Line)
	if line != nil {
		line.Samples = saturating.Add(line.Samples, l.Count)
	}
	for target := range r.cursor.Targets() {
		if line != nil {
			callee := line.calls.of(target.Callee)
			callee.count = saturating.Add(callee.count, target.Count)
		}
	}
	if l.Type == afdo.LocationInlinedFn {
		return r.enter(line, l.Callee)
	}
	return nil
}

// enter opens the body of an inlined function.
func (r *reader) enter(line *Line, id afdo.SymbolID) error {
	b := body{}
	if line != nil {
		b.entry = line.inlined.of(id)
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

// leave closes bodies until depth of them are open. The samples of each closed body count for its
// line, once if the function recurs there, and for the body around it.
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

// line returns the line of an offset, nil for a function of another unit.
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

// finish sorts the lines and sums them up.
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

// Declare sets the lines of declarations from the debug info of a binary. It only reads the units
// that contain code of a function of the listing, or of a function in which one is inlined.
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

// A Name is a function by the path of its unit and its name as the assembler has it.
type Name struct{ Unit, Symbol string }

// Declarations returns for each function the line where it is declared, by the debug info of a
// binary, or 0 if the debug info does not have the function. If it has no function at all, the
// error is [ErrNoDeclaration]. The compiler may have inlined the functions into others, whose names
// are holders. Declarations reads the debug info of the functions and of the holders, and no other.
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

// holders returns the names of all functions of the unit. The wanted functions may be inlined in
// them.
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

// InCode looks for the symbols of a binary that have one of the canonical names. For each
// instruction range in their code, it calls each with the function that the source has there, and
// with every function that this one was inlined into.
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

// A Row is a line of the source with its counts.
type Row struct {
	Number    int // from 1
	Text      string
	Seen      []*Line     // of each function that has the line, nil for a line that no samples are of
	Functions []*Function // that are declared here
}

// Samples adds up the samples of the line over all functions that contain it. seen is false if no
// function does.
func (r *Row) Samples() (samples uint64, seen bool) {
	for _, l := range r.Seen {
		samples = saturating.Add(samples, l.Samples)
	}
	return samples, len(r.Seen) > 0
}

// maxSource is how long a source file may be.
const maxSource = 64 << 20

// errNotSource is the error of a path that a profile or debug info names and that is not named like
// a source file.
var errNotSource = errors.New("not named like a source file, so it is read only below --source")

// FindSource returns the path of a unit's source. Below dir it is looked for under the whole path
// of the unit, then without its first directories, one after the other, as the tree may have moved.
// Without a dir it is the path itself, if that is named like a source file: whoever makes a profile
// chooses the path, and should not choose which of the reader's files are printed.
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

// sourceNames are the ends of names of source files.
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

// Rows returns the lines of a source file with the samples of the functions whose declaration is
// known, and how many lines with samples the file does not have. Those are a sign of another
// version of the source.
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
