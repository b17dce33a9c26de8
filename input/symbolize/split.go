package symbolize

import (
	"fmt"
	"path/filepath"

	"github.com/go-afdo/afdo/internal/fault"
)

// This file reads split debug info. The binary has a skeleton of each unit, with its ranges and
// lines. The entries are in a separate file for each unit, or all together in a package.

// isSkeleton reports whether the debugging information entries of a unit are in a separate file,
// because it was compiled with -gsplit-dwarf.
func (u *dwarfUnit) isSkeleton() bool {
	_, ok := u.root.get(slotDwoName)
	return ok && u.skeleton == nil
}

// A missingError reports that the file with the entries of a split unit does not exist.
type missingError struct{ path string }

func (e *missingError) Error() string { return "symbolize: no split debug info at " + e.path }

// split opens the split unit whose skeleton is in the binary. It also returns the file of the split
// unit, which the caller closes, or nil if the unit is in a package of split units.
func (w *worker) split(skeleton *dwarfUnit) (*dwarfUnit, *object, error) {
	pack, err := w.file.splitPackage()
	if err != nil {
		return nil, nil, err
	}
	if pack != nil {
		base, found, err := pack.find(&w.reading, skeleton.id)
		if err != nil {
			return nil, nil, err
		}
		if found {
			span, err := w.spanAt(pack.data, base[dwpInfo])
			if err != nil {
				return nil, nil, err
			}
			u, err := w.readUnit(pack.data, span, skeleton, base)
			return u, nil, err
		}
	}
	paths, err := w.splitPaths(skeleton)
	if err != nil {
		return nil, nil, err
	}
	for o, err := range existing(paths...) {
		if err != nil {
			return nil, nil, err
		}
		u, err := w.splitUnit(o, skeleton)
		if err != nil {
			o.close()
			return nil, nil, err
		}
		return u, o, nil
	}
	return nil, nil, &missingError{paths[0]}
}

// splitPaths returns the paths at which the file of a split unit may be.
func (w *worker) splitPaths(skeleton *dwarfUnit) ([]string, error) {
	name, err := w.unitString(skeleton, slotDwoName)
	if err != nil {
		return nil, err
	}
	dir, err := w.unitString(skeleton, slotCompDir)
	if err != nil {
		return nil, err
	}
	beside := filepath.Dir(w.file.path)
	return []string{joinPath(dir, name), joinPath(beside, filepath.Base(name)), filepath.Join(beside, name)}, nil
}

func (w *worker) spanAt(d *debugData, off uint64) (span unitSpan, err error) {
	err = w.decode(d.info, off, d.info.size, func(c *cursor) { span = c.unitSpan() })
	return span, err
}

// splitUnit finds the unit that belongs to a skeleton in o, the file of split units. With
// -fdebug-types-section, GCC writes several sections with the same name: one for every type, and
// one for everything else.
func (w *worker) splitUnit(o *object, skeleton *dwarfUnit) (*dwarfUnit, error) {
	d, err := openData(o, ".dwo")
	if err != nil {
		return nil, err
	}
	for _, s := range o.sections {
		if s.name != d.info.name {
			continue
		}
		if err := s.load(); err != nil {
			return nil, err
		}
		if u, err := w.unitWithID(d.inSection(s), skeleton); u != nil || err != nil {
			return u, err
		}
	}
	return nil, fmt.Errorf("symbolize: %s has no unit with the ID %016x: %w", o.path, skeleton.id, errOtherBuild)
}

// unitWithID finds the split unit that belongs to a skeleton among the units of d. It returns nil
// if there is none.
func (w *worker) unitWithID(d *debugData, skeleton *dwarfUnit) (*dwarfUnit, error) {
	spans, err := d.unitSpans()
	if err != nil {
		return nil, err
	}
	for _, span := range spans {
		u, err := w.readUnit(d, span, skeleton, contributions{})
		if err != nil {
			return nil, err
		}
		if u.kind != unitSplitType && u.kind != unitType && u.id == skeleton.id {
			return u, nil
		}
	}
	return nil, nil
}

// splitPackage opens the package of split units next to the binary or its debug file. It returns
// nil if there is none.
func (f *File) splitPackage() (*dwpFile, error) {
	err := f.pack.do(func() error {
		for o, err := range existing(f.path+".dwp", f.DebugPath()+".dwp") {
			if err == nil {
				err = f.keep(o)
			}
			if err != nil {
				return err
			}
			f.dwp, err = openPackage(o)
			return err
		}
		return nil
	})
	return f.dwp, err
}

// A dwpFile is a .dwp file, which contains the split units of many source files and an index of
// them.
type dwpFile struct {
	data  *debugData
	index *section
	raw   []byte

	columns, units, slots uint64
}

// Columns of a package's index. DWARF 5 and the GNU extension before it use the same numbers for
// these.
const (
	dwpInfo       = 1
	dwpAbbrev     = 3
	dwpStrOffsets = 6
	dwpRnglists   = 8
	dwpColumns    = 9
)

// openPackage reads the index of a .dwp file, a package of split units (DWARF 5, 7.3.5).
func openPackage(o *object) (*dwpFile, error) {
	d, err := openData(o, ".dwo")
	if err != nil {
		return nil, err
	}
	p := &dwpFile{data: d, index: o.byName[".debug_cu_index"]}
	if p.index == nil {
		return nil, fmt.Errorf("symbolize: %s: no index: %w", o.path, ErrNoDebugInfo)
	}
	if p.raw, err = o.contents(p.index); err != nil {
		return nil, err
	}
	c := p.at(0)
	version := c.Uint32(aField)
	if c.Err == nil && version != 2 && version&0xffff != 5 && version>>16 != 5 {
		c.fail(fault.ErrVersion, "an index of version %d, 2 and 5 are known", version)
	}
	p.columns, p.units, p.slots = uint64(c.Uint32(aField)), uint64(c.Uint32(aField)), uint64(c.Uint32(aField))
	if need := 12*p.slots + 4*p.columns*(1+2*p.units); c.Err == nil && (p.columns >= dwpColumns || need > uint64(len(c.Data)-c.Pos) || p.slots&(p.slots-1) != 0) {
		c.fail(fault.ErrCount, "%d columns, %d units and %d slots", p.columns, p.units, p.slots)
	}
	return p, c.err()
}

func (p *dwpFile) at(off uint64) *cursor {
	c := newCursor(p.raw, 0, p.index)
	c.Pos = int(off)
	return c
}

// find returns the positions of the tables of the split unit with an ID in a package. found is
// false if the package has no such unit.
func (p *dwpFile) find(r *reading, id uint64) (base contributions, found bool, err error) {
	const header = 16
	mask := p.slots - 1
	slot, step := id&mask, id>>32&mask|1
	for range p.slots {
		if err := r.spend(unitCost); err != nil {
			return base, false, err
		}
		if there := p.at(header + 8*slot).Uint64(aField); there == id || there == 0 {
			break
		}
		slot = (slot + step) & mask
	}
	if p.slots == 0 || p.at(header+8*slot).Uint64(aField) != id {
		return base, false, nil
	}
	row := uint64(p.at(header + 8*p.slots + 4*slot).Uint32(aField))
	if row == 0 {
		return base, false, nil
	}
	if row > p.units {
		return base, false, p.index.faultAt(header+8*p.slots+4*slot, errReference, "row %d of %d", row, p.units)
	}
	table := header + 12*p.slots
	for i := range p.columns {
		if column := p.at(table + 4*i).Uint32(aField); column < dwpColumns {
			base[column] = uint64(p.at(table + 4*(row*p.columns+i)).Uint32(aField))
		}
	}
	return base, true, nil
}
