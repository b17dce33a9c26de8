package symbolize

import (
	"cmp"
	"debug/elf"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// With -fpseudo-probe-for-profiling, clang numbers the blocks and calls of each function before
// optimisation, and records their addresses in separate sections. Source: LLVM's MCPseudoProbe.h.
const (
	probeSection     = ".pseudo_probe"
	probeDescSection = ".pseudo_probe_desc"
)

// errProbe is the class of an afdo.FormatError about pseudo probes.
var errProbe = errors.New("bad pseudo probe")

// A Probed describes a function that has pseudo probes.
type Probed struct {
	Name     string
	GUID     uint64 // hash of Name
	Checksum uint64 // checksum of the control flow graph in the source
}

// A ProbedBody is the code of a function, or one inlined copy of it.
type ProbedBody struct {
	Function *Probed
	Caller   *ProbedBody // body into which it was inlined, or nil
	Site     uint32      // number of the call's probe in Caller
}

// A Probe marks the code of a block or a call in the source. A block may have several probes,
// because compilers duplicate code.
type Probe struct {
	Address       uint64 // address of the next instruction; for a call, the call instruction
	Body          *ProbedBody
	Index         uint32 // number in the function, from 1, which is the entry
	Discriminator uint32
	Call          bool
}

// HasProbes reports whether the binary or its debug file has pseudo probes.
func (f *File) HasProbes() bool { return f.probed() != nil }

// probed returns the ELF file with the pseudo probes, the binary or its debug file, or nil if there
// are none.
func (f *File) probed() *object {
	for _, o := range []*object{f.binary, f.debug} {
		if o == nil {
			continue
		}
		if s := o.byName[probeSection]; s != nil && o.byName[probeDescSection] != nil && s.header.Type != elf.SHT_NOBITS {
			return o
		}
	}
	return nil
}

// Probes returns the pseudo probes in the code of functions, ordered by address. It reads all
// sections with probes and keeps only what it returns.
//
// When clang merges code from several inlined copies, it may lose the inlining of a probe. Such a
// probe belongs to the function as if it were not inlined. It is returned only if that function is
// requested as well.
//
// Functions with the same name in several files cannot be distinguished, unless clang gave them
// unique names (-funique-internal-linkage-names). They are matched in the order of their addresses.
func (f *File) Probes(functions []Symbol) ([]Probe, error) {
	o := f.probed()
	if o == nil {
		return nil, nil
	}
	starts, err := f.probeStarts()
	if err != nil {
		return nil, err
	}
	d := probeDecoder{starts: starts, wanted: slices.Clone(functions), named: guids(functions), known: make(map[uint64]*Probed)}
	slices.SortFunc(d.wanted, func(a, b Symbol) int { return cmp.Compare(a.Low, b.Low) })
	if err := d.sections(o, probeSection, d.record); err != nil {
		return nil, err
	}
	if err := d.sections(o, probeDescSection, d.describe); err != nil {
		return nil, err
	}
	if err := d.check(o.byName[probeDescSection]); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.probes, func(a, b Probe) int { return cmp.Compare(a.Address, b.Address) })
	return d.probes, nil
}

// guids returns the GUIDs of function names, with and without suffixes. A clone of a function has
// the probes of the function in the source.
func guids(functions []Symbol) map[uint64]bool {
	all := make(map[uint64]bool)
	for _, f := range functions {
		for _, name := range f.Names {
			for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '.') {
				all[symname.GUID(name[:end])] = true
			}
		}
	}
	return all
}

// A probeStart is the start address of a function, with the GUID of its name.
type probeStart struct{ guid, address uint64 }

// probeStarts contains the start addresses of all functions of the binary.
type probeStarts struct {
	list []probeStart   // sorted by GUID and address
	used map[uint64]int // number of times each GUID was looked up
}

func (f *File) probeStarts() (*probeStarts, error) {
	s := &probeStarts{used: make(map[uint64]int)}
	var r reading
	for _, row := range f.symbols.rows {
		name, err := r.str(f.symbols.strings, uint64(row.name))
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, probeStart{symname.GUID(name), row.low})
	}
	slices.SortFunc(s.list, func(a, b probeStart) int {
		return cmp.Or(cmp.Compare(a.guid, b.guid), cmp.Compare(a.address, b.address))
	})
	s.list = slices.Compact(s.list)
	return s, nil
}

// next returns the start of the function with a GUID. If several functions have the GUID, each call
// returns the next one, and the last one again at the end.
func (s *probeStarts) next(guid uint64) (uint64, bool) {
	i, ok := slices.BinarySearchFunc(s.list, guid, func(p probeStart, guid uint64) int { return cmp.Compare(p.guid, guid) })
	if !ok {
		return 0, false
	}
	n := s.used[guid]
	if i+n+1 < len(s.list) && s.list[i+n+1].guid == guid {
		s.used[guid] = n + 1
	}
	return s.list[i+n].address, true
}

// A probeDecoder decodes the sections of a binary that contain pseudo probes, and keeps the probes
// of the requested functions.
type probeDecoder struct {
	starts *probeStarts
	wanted []Symbol        // by address
	named  map[uint64]bool // GUIDs of the names in wanted
	known  map[uint64]*Probed
	probes []Probe

	last  uint64       // address of the last probe, to which the next address is relative
	lost  bool         // last is unknown
	plain bool         // old encoding: addresses are relative to the first probe instead of the function
	stack []probeLevel // bodies that are not complete: a function, and calls inlined into each other
}

// A probeLevel is the state of reading the pseudo probes of one body, which is a function or an
// inlined call. It has the numbers of probes and of inlined bodies that are left to read.
type probeLevel struct {
	guid    uint64
	site    uint32
	probes  uint64      // probes left to read
	inlined uint64      // inlined bodies left to read
	body    *ProbedBody // nil before a requested probe of the body was found
}

// probeChunk is the number of bytes decoded at a time.
const probeChunk = 64 << 10

// sections calls read for each record in all sections of o with the given name. If a record is
// incomplete because it extends beyond the data in memory, sections calls read again for the same
// record, with more data. So read must not change the decoder's state before it has read the whole
// record.
func (d *probeDecoder) sections(o *object, name string, read func(*cursor)) error {
	for _, s := range o.sections {
		if s.name != name {
			continue
		}
		if err := s.load(); err != nil {
			return err
		}
		r := reading{left: newBudget(o.size)}
		for off := uint64(0); off < s.size; {
			err := r.decodeFrom(probeChunk, s, off, s.size, func(c *cursor) {
				for c.Rest() > 0 {
					first := c.Pos == 0
					if read(c); c.Err != nil {
						if !first {
							c.Err = nil // the next call of decodeFrom begins with this record
						}
						return
					}
					off = c.offset()
				}
			})
			if err != nil {
				return err
			}
		}
		if len(d.stack) > 0 {
			return s.faultAt(s.size, fault.ErrTruncated, "the section ends within a function")
		}
	}
	return nil
}

// record reads the next record of the section of pseudo probes. The section contains bodies:
// functions, and calls inlined into them. The first record of a body is its head, and its probes
// follow. If the body whose head was read last has more probes, the record is a probe. Otherwise it
// is the head of another body.
func (d *probeDecoder) record(c *cursor) {
	if n := len(d.stack); n == 0 || d.stack[n-1].probes == 0 {
		d.begin(c)
	} else {
		d.probe(c, &d.stack[n-1])
	}
	if c.Err != nil {
		return
	}
	for n := len(d.stack); n > 0 && d.stack[n-1].probes == 0 && d.stack[n-1].inlined == 0; n-- {
		d.stack = d.stack[:n-1]
	}
}

// begin reads the head of a body, which is a function or an inlined call. The head precedes the
// body's probes. It contains the GUID of the function and the numbers of probes and inlined bodies.
func (d *probeDecoder) begin(c *cursor) {
	outer := len(d.stack) - 1
	l := probeLevel{}
	if outer >= 0 {
		l.site = d.number(c)
	}
	l.guid = c.Uint64("the GUID of a function")
	l.probes, l.inlined = c.ULEB(), c.ULEB()
	if c.Err != nil {
		return
	}
	if outer >= 0 {
		d.stack[outer].inlined--
	} else if !d.plain {
		d.relocate(l.guid)
	}
	d.stack = append(d.stack, l)
}

// relocate sets the address to which the address of the next probe is relative: the start of the
// function with a GUID.
func (d *probeDecoder) relocate(guid uint64) {
	if start, ok := d.starts.next(guid); ok {
		d.last, d.lost = start, false
	} else {
		d.lost = true
	}
}

// number reads a number in a probe record: the number of a probe, or a discriminator.
func (d *probeDecoder) number(c *cursor) uint32 {
	at := c.Pos
	n := c.ULEB()
	if c.Err == nil && n > math.MaxUint32 {
		c.Fail(at, errProbe, "the number %d, of more than 32 bits", n)
	}
	return uint32(n)
}

// Bits of the byte with the kind of a probe.
const (
	probeKind          = 0x0f // 0 for a block, 1 for an indirect call, 2 for a direct call
	probeSentinel      = 0x20 // the probe stands for another part of the function, which has a different name
	probeDiscriminated = 0x40
	probeRelative      = 0x80
)

// probe reads a pseudo probe of the function or inlined call whose state is l. It stores the probe
// if its address is in a requested function.
func (d *probeDecoder) probe(c *cursor, l *probeLevel) {
	index := d.number(c)
	at := c.Pos
	kind := c.Uint8(aField)
	if c.Err == nil && kind&probeKind > 2 {
		c.Fail(at, errProbe, "the kind %d", kind&probeKind)
	}
	var delta int64
	var address uint64
	if kind&probeRelative != 0 {
		delta = c.SLEB()
	} else {
		address = c.Uint64("the address of a probe")
	}
	var discriminator uint32
	if kind&probeDiscriminated != 0 {
		discriminator = d.number(c)
	}
	if c.Err != nil {
		return
	}
	l.probes--
	switch {
	case kind&probeRelative != 0:
		d.last += uint64(delta)
	case kind&probeSentinel != 0:
		d.relocate(address)
	default:
		d.last, d.lost, d.plain = address, false, true
	}
	if kind&probeSentinel == 0 && !d.lost && d.named[d.stack[0].guid] && d.wants(d.last) {
		d.probes = append(d.probes, Probe{
			Address: d.last, Body: d.body(), Index: index, Discriminator: discriminator, Call: kind&probeKind != 0,
		})
	}
}

// wants reports whether an address is in one of the functions whose pseudo probes were requested.
func (d *probeDecoder) wants(address uint64) bool {
	i, _ := slices.BinarySearchFunc(d.wanted, address, func(s Symbol, a uint64) int { return cmp.Compare(s.High, a+1) })
	return i < len(d.wanted) && address >= d.wanted[i].Low
}

// body returns the ProbedBody of the function or inlined call whose probes are being read. If it
// does not exist yet, body creates it and the bodies into which it was inlined.
func (d *probeDecoder) body() *ProbedBody {
	var caller *ProbedBody
	for i := range d.stack {
		l := &d.stack[i]
		if l.body == nil {
			l.body = &ProbedBody{Function: d.function(l.guid), Caller: caller, Site: l.site}
		}
		caller = l.body
	}
	return caller
}

func (d *probeDecoder) function(guid uint64) *Probed {
	f := d.known[guid]
	if f == nil {
		f = &Probed{GUID: guid}
		d.known[guid] = f
	}
	return f
}

// describe reads a record of the section .pseudo_probe_desc: GUID, checksum and name of a function.
func (d *probeDecoder) describe(c *cursor) {
	guid := c.Uint64("the GUID of a function")
	checksum := c.Uint64("a checksum")
	name := c.Take(c.ULEB(), "a name")
	if c.Err != nil {
		return
	}
	if f := d.known[guid]; f != nil && f.Name == "" {
		f.Name, f.Checksum = string(name), checksum
	}
}

// check returns an error if the section s, .pseudo_probe_desc, lacks a function that has probes.
func (d *probeDecoder) check(s *section) error {
	unknown := uint64(0)
	for guid, f := range d.known {
		if f.Name == "" {
			unknown = max(unknown, guid)
		}
	}
	if unknown != 0 {
		return s.faultAt(s.size, errProbe, "the function of GUID %#x is not described", unknown)
	}
	return nil
}
