package instrprof

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/elfid"
	"github.com/go-afdo/afdo/internal/symname"
)

// A Correlation describes which counters of a program belong to which function. Raw profiles of
// programs that were built with -profile-correlate do not have this description. It may be used
// concurrently.
type Correlation struct {
	counters, end uint64 // address range of the counters section
	names         nameTable
	buildID       []byte // nil if the program has no build ID

	functions []rawRecord // functions from debug info, with the addresses of their counters

	data        []byte // data records, if the program has them
	pointerSize int
	big         bool
}

// Names of the sections of a program with its counters, data records and names. The program was
// built with -profile-correlate=binary if it has those with "cov" in their names.
const (
	programCounts = "__llvm_prf_cnts"
	programData   = "__llvm_covdata"
	programNames  = "__llvm_covnames"
)

// OpenCorrelation reads from an ELF program which counters belong to which function. It uses the
// program's data records or, if there are none, all of its debug info. It keeps no file open.
func OpenCorrelation(path string) (*Correlation, error) {
	file, err := elf.Open(path)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) {
			err = fmt.Errorf("%s: %w: %w", path, ErrNoCorrelation, err)
		}
		return nil, err
	}
	defer file.Close()
	c := &Correlation{names: nameTable{}, pointerSize: 8, big: file.ByteOrder == binary.BigEndian}
	if file.Class == elf.ELFCLASS32 {
		c.pointerSize = 4
	}
	counts := file.Section(programCounts)
	if counts == nil {
		return nil, fmt.Errorf("%s: %w: no section %s", path, ErrNoCorrelation, programCounts)
	}
	c.counters, c.end = counts.Addr, counts.Addr+counts.Size
	c.buildID = elfid.BuildID(file)
	if file.Section(programData) != nil {
		err = c.readSections(file)
	} else {
		err = c.readDebugInfo(file)
	}
	if err == nil && len(c.functions) == 0 && len(c.data) == 0 {
		err = errors.New("neither " + programData + " nor debug info of counters")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrNoCorrelation, err)
	}
	return c, nil
}

// readSections reads the program's data records, which describe the counters of each function, and
// the names of the functions.
func (c *Correlation) readSections(file *elf.File) (err error) {
	if c.data, err = file.Section(programData).Data(); err != nil {
		return err
	}
	names := file.Section(programNames)
	if names == nil {
		return errors.New("no section " + programNames)
	}
	data, err := names.Data()
	if err != nil {
		return err
	}
	f := fields{Buffer: decode.Buffer{Data: data, Part: sectionNames}}
	f.names(uint64(len(data)), int64(len(data)), func(name []byte) { c.names[symname.GUID(name)] = name })
	return f.err()
}

// records returns the descriptions of the functions whose counters a dump has. They come from the
// program's data records or from its debug info. It returns an error if the dump is of another
// program.
func (c *Correlation) records(d *Dump) ([]rawRecord, error) {
	h := d.header
	ids, err := d.BinaryIDs()
	if err != nil {
		return nil, err
	}
	if c.buildID != nil && len(ids) > 0 && !slices.ContainsFunc(ids, func(id BinaryID) bool { return bytes.Equal(id, c.buildID) }) {
		return nil, fmt.Errorf("%w: it is build %x, and the profile is not of that", ErrNoCorrelation, c.buildID)
	}
	if h.PointerSize != c.pointerSize || h.BigEndian != c.big {
		return nil, fmt.Errorf("%w: it is of another machine", ErrNoCorrelation)
	}
	if c.data == nil {
		return c.functions, nil
	}
	records := make([]rawRecord, len(c.data)/d.layout.size)
	for i := range records {
		r := d.layout.read(c.data[i*d.layout.size:])
		r.bitmapBytes, r.hasValues = 0, false // such programs do not record them
		records[i] = r
	}
	return c.unique(records), nil
}

// unique removes functions whose counters lie outside of the program's section of counters, and
// functions that have the same counters as an earlier one. It converts the addresses of counters to
// offsets in that section.
func (c *Correlation) unique(records []rawRecord) []rawRecord {
	seen := make(map[uint64]bool)
	kept := records[:0]
	for _, r := range records {
		if r.counters < c.counters || r.counters >= c.end || seen[r.counters] {
			continue
		}
		seen[r.counters] = true
		r.counters -= c.counters
		kept = append(kept, r)
	}
	return kept
}

// readDebugInfo reads from debug info which counters belong to which function. The debug info has a
// variable for the counters of each function, and annotations of the variable name the function.
func (c *Correlation) readDebugInfo(file *elf.File) error {
	info, err := file.DWARF()
	if err != nil {
		return err
	}
	w := probeWalk{c: c, entries: info.Reader(), order: file.ByteOrder}
	if s := file.Section(".debug_addr"); s != nil {
		if w.addresses, err = s.Data(); err != nil {
			return err
		}
	}
	if err := w.walk(); err != nil {
		return err
	}
	c.functions = c.unique(c.functions)
	return nil
}

// A probeWalk goes through the entries of debug info, to find the variables that hold the counters
// of functions.
type probeWalk struct {
	c         *Correlation
	entries   *dwarf.Reader
	order     binary.ByteOrder
	addresses []byte // the .debug_addr section
	base      int64  // offset of the unit's addresses in it
}

func (w *probeWalk) walk() error {
	var open []dwarf.Tag // tags of the enclosing entries
	for {
		e, err := w.entries.Next()
		if err != nil || e == nil {
			return err
		}
		switch {
		case e.Tag == 0:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			continue
		case e.Tag == dwarf.TagCompileUnit:
			w.base, _ = e.Val(dwarf.AttrAddrBase).(int64)
			open = open[:0]
		case w.isProbe(e, open):
			if err := w.probe(e); err != nil {
				return err
			}
			continue
		}
		if e.Children {
			open = append(open, e.Tag)
		}
	}
}

// isProbe reports whether a DWARF entry is a variable with the counters of a function. open has the
// tags of the entries that enclose it.
func (w *probeWalk) isProbe(e *dwarf.Entry, open []dwarf.Tag) bool {
	name, _ := e.Val(dwarf.AttrName).(string)
	return e.Tag == dwarf.TagVariable && e.Children && strings.HasPrefix(name, "__profc_") &&
		len(open) > 0 && open[len(open)-1] == dwarf.TagSubprogram
}

// tagAnnotation is LLVM's tag for an annotation, a pair of name and value.
const tagAnnotation dwarf.Tag = 0x6000

// probe reads the annotations of a variable that holds the counters of a function. They are the
// function's name, its hash and the number of counters. Like LLVM, probe skips a function that
// lacks any of them.
func (w *probeWalk) probe(variable *dwarf.Entry) error {
	address, ok := w.address(variable)
	function, count := "", int64(0)
	hash := any(nil)
	for {
		e, err := w.entries.Next()
		if err != nil || e == nil || e.Tag == 0 {
			if err != nil || !ok || function == "" || hash == nil || count <= 0 || count > math.MaxUint32 {
				return err
			}
			r := rawRecord{nameHash: NameHash(function), counters: address, numCounters: uint32(count)}
			value, _ := hash.(int64)
			r.hash = uint64(value)
			w.c.names[r.nameHash] = []byte(function)
			w.c.functions = append(w.c.functions, r)
			return nil
		}
		if e.Tag != tagAnnotation {
			if e.Children {
				w.entries.SkipChildren()
			}
			continue
		}
		value := e.Val(dwarf.AttrConstValue)
		switch name, _ := e.Val(dwarf.AttrName).(string); name {
		case "Function Name":
			function, _ = value.(string)
		case "CFG Hash":
			hash = value
		case "Num Counters":
			count, _ = value.(int64)
		}
	}
}

// DWARF operations in the locations of variables.
const (
	opAddr  = 0x03
	opAddrx = 0xa1
)

// address returns the address of a variable. The second result is false if the debug info has none.
func (w *probeWalk) address(variable *dwarf.Entry) (uint64, bool) {
	location, _ := variable.Val(dwarf.AttrLocation).([]byte)
	size := w.c.pointerSize
	if len(location) == 0 {
		return 0, false
	}
	switch op, rest := location[0], location[1:]; op {
	case opAddr:
		if len(rest) < size {
			return 0, false
		}
		return w.pointer(rest), true
	case opAddrx:
		i, n := binary.Uvarint(rest)
		at := uint64(w.base) + i*uint64(size)
		if n <= 0 || i > uint64(len(w.addresses)) || at > uint64(len(w.addresses)) || uint64(len(w.addresses))-at < uint64(size) {
			return 0, false
		}
		return w.pointer(w.addresses[at:]), true
	}
	return 0, false
}

func (w *probeWalk) pointer(p []byte) uint64 {
	if w.c.pointerSize == 4 {
		return uint64(w.order.Uint32(p))
	}
	return w.order.Uint64(p)
}
