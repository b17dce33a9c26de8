package symbolize

import (
	"fmt"
	"strings"
)

// A Function is what debug info says about a function: its names, and where it is declared.
type Function struct {
	Name        string // as in the source, unqualified
	LinkageName string // as the assembler has it; empty in C, see [Function.Linkage]
	File        string // where it is declared: path as in the debug info, empty if unknown
	Line        uint32 // of the declaration as GCC counts lines from it; 0 if unknown

	// Artificial tells that the compiler has made it, of another function or a part of one. Clang
	// declares such a function at line 0.
	Artificial bool
}

// Linkage returns the linkage name, or the plain name if there is none.
func (f *Function) Linkage() string {
	if f.LinkageName != "" {
		return f.LinkageName
	}
	return f.Name
}

const (
	// maxHops is how many references from entry to entry are followed to find a name.
	maxHops = 16
	// maxForeignUnits and maxFunctions are how many units and functions a worker keeps at hand.
	maxForeignUnits = 1 << 10
	maxFunctions    = 1 << 16
)

// function returns the function of an entry. Names and declarations are in the entry, or where
// its abstract origin or its specification leads, through any number of hops.
func (w *worker) function(ref dieRef, hops int) (*Function, error) {
	if f := w.functions[ref]; f != nil {
		return f, nil
	}
	if hops > maxHops {
		return nil, ref.data.info.faultAt(ref.off, ErrReference, "more than %d references in a row", maxHops)
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

// isUndeclared tells whether debug info declares a function nowhere, and no code has told yet where
// it begins.
func (f *Function) isUndeclared() bool { return f.Artificial && f.Line == 0 }

// beginAt takes the place of the first code of a function that debug info declares nowhere. GCC
// makes such a function of the body of an OpenMP construct, and counts lines from the construct,
// which is where the code begins.
func (f *Function) beginAt(l Line) {
	if f.isUndeclared() {
		f.Line, f.File = l.Line, l.File
	}
}

// inherit takes over what an entry does not say itself. The place of an abstract origin goes
// before the entry's own, that of a specification after it: GCC counts lines from the definition.
func (f *Function) inherit(from *Function, origin bool) {
	if f.Name == "" {
		f.Name = from.Name
	}
	if f.LinkageName == "" {
		f.LinkageName = from.LinkageName
	}
	f.Artificial = f.Artificial || origin && from.Artificial
	if f.Line == 0 || origin && from.Line != 0 {
		f.Line = from.Line
	}
	if f.File == "" || origin && from.File != "" {
		f.File = from.File
	}
}

// declared returns what an entry says itself.
func (w *worker) declared(u *unit, e *entry) (*Function, error) {
	f := &Function{Line: uint32(e.number(slotDeclLine)), Artificial: e.number(slotArtificial) != 0}
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
		*s.to = string(str)
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

// entryAt returns an entry of any unit, and that unit.
func (w *worker) entryAt(ref dieRef) (*unit, entry, error) {
	u, err := w.unitOf(ref)
	if err != nil {
		return nil, entry{}, err
	}
	e := entry{off: ref.off}
	read := func(c *cursor) {
		code := c.ULEB()
		a := u.table.lookup(code)
		switch {
		case c.Err != nil:
		case a == nil:
			c.fail(ErrReference, "there is no entry here")
		case !a.wanted:
			c.fail(ErrReference, "the entry here is %v, no function", a.tag)
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

// unitOf returns the unit of an entry, with its abbreviations.
func (w *worker) unitOf(ref dieRef) (*unit, error) {
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
		return nil, ref.data.info.faultAt(ref.off, ErrReference, "there is no entry here%s", why)
	}
	if len(w.units) >= maxForeignUnits || w.units == nil {
		w.units = make(map[dieRef]*unit)
	}
	w.units[key] = u
	return u, nil
}

// alternate returns the debug info that dwz has moved to a file of its own.
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
