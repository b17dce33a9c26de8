package naive

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// A V3 is the whole contents of a file of version 2 or 3. Slices without elements are nil.
type V3 struct {
	Version    uint32
	BigEndian  bool
	Summary    *Summary // nil in version 2
	Files      []string // version 3
	Names      []V3Name
	Functions  []V3Function
	WorkingSet []V3Working // nil if the file ends before it
}

// A V3Name is an entry of the name table. Its position is the name index.
type V3Name struct {
	Name string
	File uint32 // index in Files, or V3UnknownFile if unknown (always in version 2)
}

// V3UnknownFile is the file index of names with unknown file.
const V3UnknownFile = 0xFFFFFFFF

// A V3Function is a top-level function. Its names are indexes of the name table, which the decoder
// has checked.
type V3Function struct {
	Head, Timestamp uint64 // version 2 has no timestamp
	Name            uint32
	Body            V3Body
}

// A V3Body holds the samples of a top-level or inlined function.
type V3Body struct {
	Positions []V3Position
	CallSites []V3CallSite
}

// A V3Position is a source location with its samples and call targets.
type V3Position struct {
	Line, Disc uint32
	Count      uint64
	Targets    []V3Target
}

// A V3Target is a call target: a function that a position calls, and how often.
type V3Target struct {
	Type  uint32 // histogram type, 7
	Name  uint32
	Count uint64
}

// A V3CallSite is a function that is inlined at a position, with its samples.
type V3CallSite struct {
	Line, Disc uint32
	Name       uint32
	Body       V3Body
}

// A V3Working is an entry of the working set, a table at the end of a file that compilers ignore.
type V3Working struct {
	NumCounters uint32
	MinCount    uint64
}

// DecodeV3 decodes a whole file of version 2 or 3 in either byte order. The sections after the
// functions (module grouping, working set) may be missing.
func DecodeV3(data []byte) (f *V3, err error) {
	defer catch(&err)
	d := &v3decoder{c: &cursor{data: data, end: len(data), section: -1}, f: &V3{}}
	d.header()
	if d.f.Version == 3 {
		d.summary()
	}
	d.names()
	d.functions()
	if !d.atEnd() {
		d.tag(0xae000000)
		d.word()
		d.word()
	}
	if !d.atEnd() {
		d.tag(0xaf000000)
		d.word()
		for range 128 {
			d.f.WorkingSet = append(d.f.WorkingSet, V3Working{NumCounters: d.word(), MinCount: d.counter()})
		}
	}
	if !d.atEnd() {
		d.c.fail("%d bytes after the end", d.c.end-d.c.pos)
	}
	return d.f, nil
}

type v3decoder struct {
	c     *cursor
	f     *V3
	order binary.ByteOrder
}

func (d *v3decoder) atEnd() bool { return d.c.pos == d.c.end }

func (d *v3decoder) word() uint32 { return d.order.Uint32(d.c.bytes(4)) }

// counter reads two words, the low word first in either byte order.
func (d *v3decoder) counter() uint64 {
	low := d.word()
	high := d.word()
	return uint64(high)<<32 | uint64(low)
}

func (d *v3decoder) string() string {
	b := d.c.bytes(uint64(d.word()))
	if len(b) == 0 || bytes.IndexByte(b, 0) != len(b)-1 {
		d.c.fail("string does not have its one NUL at its end")
	}
	return string(b[:len(b)-1])
}

func (d *v3decoder) tag(want uint32) {
	if got := d.word(); got != want {
		d.c.fail("tag %#x, not %#x", got, want)
	}
}

// nameIndex checks a name index, which is stored as a word in some places and as a counter in
// others.
func (d *v3decoder) nameIndex(index uint64) uint32 {
	if index >= uint64(len(d.f.Names)) {
		d.c.fail("name index %d of %d", index, len(d.f.Names))
	}
	return uint32(index)
}

func (d *v3decoder) header() {
	switch magic := string(d.c.bytes(4)); magic {
	case "adcg":
		d.order = binary.LittleEndian
	case "gcda":
		d.order = binary.BigEndian
		d.f.BigEndian = true
	default:
		d.c.fail("wrong magic %q", magic)
	}
	d.f.Version = d.word()
	if d.f.Version != 2 && d.f.Version != 3 {
		d.c.fail("version %d", d.f.Version)
	}
	d.word()
}

func (d *v3decoder) summary() {
	d.tag(0xa8000000)
	s := readSummary(d.word, d.counter)
	d.f.Summary = &s
}

func (d *v3decoder) names() {
	d.tag(0xaa000000)
	d.word()
	if d.f.Version == 3 {
		for range d.word() {
			d.f.Files = append(d.f.Files, d.string())
		}
	}
	for range d.word() {
		name := V3Name{Name: d.string(), File: V3UnknownFile}
		if d.f.Version == 3 {
			name.File = d.word()
			if name.File != V3UnknownFile && uint64(name.File) >= uint64(len(d.f.Files)) {
				d.c.fail("file index %d of %d", name.File, len(d.f.Files))
			}
		}
		d.f.Names = append(d.f.Names, name)
	}
}

func (d *v3decoder) functions() {
	d.tag(0xac000000)
	d.word()
	for range d.word() {
		var fn V3Function
		fn.Head = d.counter()
		if d.f.Version == 3 {
			fn.Timestamp = d.counter()
		}
		fn.Name = d.nameIndex(uint64(d.word()))
		fn.Body = d.body(0)
		d.f.Functions = append(d.f.Functions, fn)
	}
}

func (d *v3decoder) body(depth int) V3Body {
	if depth > MaxDepth {
		d.c.limit("bodies nest deeper than %d", MaxDepth)
	}
	var b V3Body
	positions := d.word()
	callSites := d.word()
	for range positions {
		var p V3Position
		p.Line, p.Disc = d.location()
		targets := d.word()
		p.Count = d.counter()
		for range targets {
			p.Targets = append(p.Targets, V3Target{Type: d.word(), Name: d.nameIndex(d.counter()), Count: d.counter()})
		}
		b.Positions = append(b.Positions, p)
	}
	for range callSites {
		var s V3CallSite
		s.Line, s.Disc = d.location()
		s.Name = d.nameIndex(uint64(d.word()))
		s.Body = d.body(depth + 1)
		b.CallSites = append(b.CallSites, s)
	}
	return b
}

func (d *v3decoder) location() (line, disc uint32) {
	w := d.word()
	return w >> 16, w & 0xffff
}

// Canonical returns the meaning of a file. All names become symbols, except for the first name if
// it is the empty name with unknown file that every such file has, and no record uses it.
func (f *V3) Canonical() (*Profile, error) {
	p := newProfile()
	c := &v3canonical{f: f, p: p}
	for i := range f.Names {
		if i == 0 && f.Names[0] == (V3Name{Name: "", File: V3UnknownFile}) {
			continue
		}
		c.key(uint32(i))
	}
	for _, fn := range f.Functions {
		to := p.function(c.key(fn.Name), fn.Head, fn.Timestamp)
		if err := c.merge(to.Body, fn.Body); err != nil {
			return nil, err
		}
	}
	p.dropSilent()
	return p, nil
}

type v3canonical struct {
	f *V3
	p *Profile
}

func (c *v3canonical) key(index uint32) Key {
	n := c.f.Names[index]
	k := Key{Name: n.Name}
	if n.File != V3UnknownFile {
		k.Path = c.f.Files[n.File]
	}
	c.p.Symbols[k] = true
	return k
}

func (c *v3canonical) merge(b *Body, from V3Body) error {
	for _, p := range from.Positions {
		at := Place{p.Line, p.Disc}
		b.count(at, p.Count)
		for _, t := range p.Targets {
			if t.Type != 7 {
				return fmt.Errorf("histogram type %d", t.Type)
			}
			b.call(at, c.key(t.Name), t.Count)
		}
	}
	for _, s := range from.CallSites {
		if err := c.merge(b.inlined(Place{s.Line, s.Disc}, c.key(s.Name)), s.Body); err != nil {
			return err
		}
	}
	return nil
}
