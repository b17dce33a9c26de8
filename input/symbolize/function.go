package symbolize

import (
	"cmp"
	"fmt"
	"strings"
)

// A Function is a function as debug info describes it: its names and the place of its declaration.
type Function struct {
	Name        string // unqualified name in the source
	LinkageName string // name of the assembler; empty in C, see [Function.Linkage]
	File        string // file of the declaration: path as in the debug info, empty if unknown
	Line        uint32 // line from which GCC counts the lines of the function; 0 if unknown

	// Artificial means that the compiler created the function, from another function or a part of
	// one. Clang declares such a function at line 0.
	Artificial bool

	column uint32 // of Line; 0 if unknown
}

// Linkage returns the linkage name, or the plain name if there is none.
func (f *Function) Linkage() string {
	if f.LinkageName != "" {
		return f.LinkageName
	}
	return f.Name
}

const (
	// maxHops is the maximum number of references followed from entry to entry to find a name.
	maxHops = 16
	// maxForeignUnits and maxFunctions are the maximum numbers of units and functions that a worker
	// caches.
	maxForeignUnits = 1 << 10
	maxFunctions    = 1 << 16
)

// function returns the Function that the entry ref describes. It takes names and declaration from
// the entry, and what is missing from the entry's abstract origin or specification. hops is the
// number of such references followed so far, at most maxHops.
func (w *worker) function(ref dieRef, hops int) (*Function, error) {
	if f := w.functions[ref]; f != nil {
		return f, nil
	}
	if hops > maxHops {
		return nil, ref.data.info.faultAt(ref.off, errReference, "more than %d references in a row", maxHops)
	}
	u, e, err := w.entryAt(ref)
	if err != nil {
		return nil, err
	}
	f, err := w.declared(u, &e)
	if err != nil {
		return nil, err
	}
	for _, hop := range []slot{slotOrigin, slotSpecification} {
		v, ok := e.get(hop)
		if !ok {
			continue
		}
		target, err := w.file.reference(u, v)
		if err != nil {
			return nil, err
		}
		other, err := w.function(target, hops+1)
		if err != nil {
			return nil, err
		}
		f.inherit(other, hop == slotOrigin)
	}
	if e.has&(1<<slotDeclLine|1<<slotOrigin|1<<slotSpecification) == 0 {
		if err := w.placeInClass(u, ref, f); err != nil {
			return nil, err
		}
	}
	if len(w.functions) >= maxFunctions || w.functions == nil {
		w.functions = make(map[dieRef]*Function)
	}
	w.functions[ref] = f
	w.undeclared = w.undeclared || f.isUndeclared()
	return f, nil
}

// isUndeclared reports whether debug info does not declare the function, and beginAt has not set
// its position either.
func (f *Function) isUndeclared() bool { return f.Artificial && f.Line == 0 }

// beginAt sets the position of a function that debug info does not declare to the line of its first
// code. GCC creates such functions from the bodies of OpenMP constructs, and counts their lines
// from the construct, where the code begins.
func (f *Function) beginAt(l Line) {
	if f.isUndeclared() {
		f.Line, f.File = l.Line, l.File
	}
}

// inherit copies the properties that the entry of function f does not specify from another entry,
// its abstract origin or its specification. origin is set for an abstract origin: then the position
// of the declaration overrides that of f. The position of a specification does not, because GCC
// counts lines from the definition.
func (f *Function) inherit(from *Function, origin bool) {
	f.Name = cmp.Or(f.Name, from.Name)
	f.LinkageName = cmp.Or(f.LinkageName, from.LinkageName)
	f.Artificial = f.Artificial || origin && from.Artificial
	if f.Line == 0 || origin && from.Line != 0 {
		f.Line, f.column = from.Line, from.column
	}
	if f.File == "" || origin && from.File != "" {
		f.File = from.File
	}
}

// declared returns the Function that entry e of unit u describes by its own attributes, without
// following references to other entries.
func (w *worker) declared(u *dwarfUnit, e *dwarfEntry) (*Function, error) {
	f := &Function{Line: uint32(e.number(slotDeclLine)), column: uint32(e.number(slotDeclColumn)), Artificial: e.number(slotArtificial) != 0}
	for _, s := range []struct {
		slot slot
		to   *string
	}{{slotName, &f.Name}, {slotLinkageName, &f.LinkageName}} {
		v, ok := e.get(s.slot)
		if !ok {
			continue
		}
		str, err := w.attrString(w.file, u, v)
		if err != nil {
			return nil, err
		}
		*s.to = w.intern(str)
	}
	v, ok := e.get(slotDeclFile)
	if !ok {
		return f, nil
	}
	h, err := w.lineHeaderOf(u)
	if err != nil {
		return nil, err
	}
	f.File, err = w.path(h, v.v)
	return f, err
}

// intern returns name as a string. It returns the same string for equal names, because units repeat
// the names of templates.
func (w *worker) intern(name []byte) string {
	s, ok := w.names[string(name)]
	if !ok {
		if len(w.names) >= maxFunctions || w.names == nil {
			w.names = make(map[string]string)
		}
		s = string(name)
		w.names[s] = s
	}
	return s
}

// entryAt reads the debugging information entry ref. It also returns the unit that contains the
// entry, which may be any unit.
func (w *worker) entryAt(ref dieRef) (*dwarfUnit, dwarfEntry, error) {
	u, err := w.unitOf(ref)
	if err != nil {
		return nil, dwarfEntry{}, err
	}
	e := dwarfEntry{off: ref.off}
	read := func(c *cursor) {
		code := c.ULEB()
		a := u.table.lookup(code)
		switch {
		case c.Err != nil:
		case a == nil:
			c.fail(errReference, "there is no entry here")
		case !a.wanted:
			c.fail(errReference, "the entry here is %v, no function", a.tag)
		default:
			c.entry(&e, a, u.encoding)
		}
	}
	if u == w.current {
		c := w.unitCursor()
		c.Pos = int(ref.off - u.span.off)
		read(c)
		return u, e, c.err()
	}
	return u, e, w.decode(u.data.info, ref.off, u.span.end, read)
}

// unitOf returns the unit that contains the debugging information entry ref, with its
// abbreviations.
func (w *worker) unitOf(ref dieRef) (*dwarfUnit, error) {
	if u := w.current; u != nil && u.data == ref.data && ref.off >= u.entries && ref.off < u.span.end {
		return u, nil
	}
	span, err := ref.data.unitAt(ref.off)
	if err != nil {
		return nil, err
	}
	key := dieRef{ref.data, span.off}
	if u := w.units[key]; u != nil {
		return u, nil
	}
	u, err := w.readUnit(ref.data, span, nil, contributions{})
	if err != nil {
		return nil, err
	}
	if u.table, err = w.readAbbrevs(new(abbrevTable), ref.data.abbrev, u.abbrevs, u.encoding, 0); err != nil {
		return nil, err
	}
	if ref.off < u.entries {
		why := ""
		if strings.HasSuffix(ref.data.info.name, ".dwo") {
			why = "; -gsplit-dwarf and -flto of GCC do not go together"
		}
		return nil, ref.data.info.faultAt(ref.off, errReference, "there is no entry here%s", why)
	}
	if len(w.units) >= maxForeignUnits || w.units == nil {
		w.units = make(map[dieRef]*dwarfUnit)
	}
	w.units[key] = u
	return u, nil
}

// alternate returns the debug info that dwz moved to a separate file.
func (f *File) alternate(d *debugData) (*debugData, error) {
	err := d.sup.do(func() error {
		var err error
		d.alt, err = f.openAlternate(d)
		return err
	})
	if err == nil && d.alt == nil {
		err = fmt.Errorf("symbolize: %s: %w", d.object.path, ErrNoDebugInfo)
	}
	return d.alt, err
}
