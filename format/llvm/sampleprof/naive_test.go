package sampleprof

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// This file is a decoder that takes its time: maps in maps, recursion, everything read at once. It
// prints what it has read as LLVM does. What it has in common with the package is the
// specification.

type (
	naiveName struct {
		text string
		md5  uint64
		hash bool
	}
	naiveAt struct {
		line uint64
		disc uint64
	}
	naiveRecord struct {
		count   uint64
		targets map[naiveName]uint64
	}
	naiveFunction struct {
		order      []naiveFrame
		name       naiveName
		head       uint64
		total      uint64
		body       map[naiveAt]*naiveRecord
		calls      map[naiveAt]map[naiveName]*naiveFunction
		vtables    map[naiveAt]map[naiveName]uint64
		checksum   uint64
		attributes uint64
	}
	naiveFrame struct {
		name naiveName
		at   naiveAt
	}
	naiveFile struct {
		data      []byte
		names     []naiveName
		contexts  [][]naiveFrame
		functions map[string]*naiveFunction
		flags     map[uint64]uint64 // by type of section, of all of that type
		symbols   int
	}
)

var errNaive = errors.New("malformed")

type naiveCursor struct{ data []byte }

func (c *naiveCursor) uleb(limit uint64) uint64 {
	x, n := binary.Uvarint(c.data)
	if n == 0 {
		panic(errNaive)
	}
	if n < 0 { // too long: Go's is 10 bytes at most, LLVM's may have any number of zeros in front
		value, used := uint64(0), 0
		for {
			if used == len(c.data) {
				panic(errNaive)
			}
			b := uint64(c.data[used] & 0x7f)
			if b != 0 && (7*used > 63 || 7*used == 63 && b > 1) {
				panic(errNaive)
			}
			if b != 0 {
				value |= b << (7 * used)
			}
			used++
			if c.data[used-1] < 0x80 {
				break
			}
		}
		x, n = value, used
	}
	if x > limit {
		panic(errNaive)
	}
	c.data = c.data[n:]
	return x
}

func (c *naiveCursor) any() uint64   { return c.uleb(math.MaxUint64) }
func (c *naiveCursor) count() uint64 { return c.uleb(uint64(len(c.data))) }

func (c *naiveCursor) at() naiveAt {
	return naiveAt{c.uleb(math.MaxUint16), c.uleb(math.MaxUint32)}
}

func (c *naiveCursor) fixed() uint64 {
	if len(c.data) < 8 {
		panic(errNaive)
	}
	x := binary.LittleEndian.Uint64(c.data)
	c.data = c.data[8:]
	return x
}

func (c *naiveCursor) string() string {
	i := bytes.IndexByte(c.data, 0)
	if i < 0 {
		panic(errNaive)
	}
	s := string(c.data[:i])
	c.data = c.data[i+1:]
	return s
}

func (c *naiveCursor) end() {
	if len(c.data) > 0 {
		panic(errNaive)
	}
}

// naiveText decodes a binary file with the naive decoder and returns the profile as text.
func naiveText(data []byte) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != any(errNaive) {
				panic(r)
			}
			err = errNaive
		}
	}()
	f := &naiveFile{data: data, functions: map[string]*naiveFunction{}, flags: map[uint64]uint64{}}
	c := &naiveCursor{data}
	magic := c.any()
	version := c.any()
	if version < 103 || version > 105 || version > 103 && magic == 0x5350524f463432ff {
		panic(errNaive)
	}
	switch magic {
	case 0x5350524f46343204:
		f.extBinary(c, version)
	case 0x5350524f463432ff:
		counted := f.summary(c)
		f.readNames(c, 0)
		if len(c.data) == 0 && counted {
			panic(errNaive)
		}
		f.bodies(c)
	default:
		panic(errNaive)
	}
	return f.print(), nil
}

type naiveSection struct{ kind, flags, offset, size uint64 }

// naiveFlags maps a section type to the flags that it can have, which are in the upper half of the
// word.
var naiveFlags = map[uint64]uint64{1: 0b110111, 2: 0b1111, 3: 0, 4: 0b11, 5: 0b11, 6: 0, 32: 0}

func (f *naiveFile) extBinary(c *naiveCursor, version uint64) {
	var sections []naiveSection
	n := c.fixed()
	if n > uint64(len(c.data)) {
		panic(errNaive)
	}
	for range n {
		sections = append(sections, naiveSection{c.fixed(), c.fixed(), c.fixed(), c.fixed()})
	}
	first := uint64(len(f.data) - len(c.data))
	seen := map[uint64]bool{}
	bodies := slices.ContainsFunc(sections, func(s naiveSection) bool { return s.kind == 32 && s.size > 0 })
	for i, s := range sections {
		if s.kind == 5 {
			f.flags[5] |= s.flags
		}
		if s.size == 0 {
			continue
		}
		if s.offset < first || s.offset > uint64(len(f.data)) || s.size > uint64(len(f.data))-s.offset {
			panic(errNaive)
		}
		allowed, known := naiveFlags[s.kind]
		if known && s.flags&^(allowed<<32|3) != 0 {
			panic(errNaive)
		}
		for _, o := range sections[:i] {
			if o.size > 0 && o.offset < s.offset+s.size && s.offset < o.offset+o.size {
				panic(errNaive)
			}
		}
		if (s.kind == 1 || s.kind == 2 || s.kind == 6) && seen[s.kind] || s.kind == 33 || s.kind == 34 || s.kind > 34 && !bodies {
			panic(errNaive)
		}
		if s.kind == 32 && (!seen[2] || f.flags[1]>>33&1 != 0 && !seen[6]) {
			panic(errNaive)
		}
		seen[s.kind] = true
		if s.kind != 5 {
			f.flags[s.kind] = s.flags
		}
	}
	f.unlisted(sections)
	for _, kind := range []uint64{2, 6, 32, 3, 5} {
		for _, s := range sections {
			if s.kind == kind && s.size > 0 {
				f.section(s)
			}
		}
	}
}

// unlisted returns an error if function offsets or the summary count functions, but no section
// contains function records.
func (f *naiveFile) unlisted(sections []naiveSection) {
	var offsets *naiveSection
	check := func() {
		if offsets != nil && f.open(*offsets).count() > 0 {
			panic(errNaive)
		}
	}
	found := false
	for _, s := range sections {
		if s.size > 0 && s.kind == 32 {
			offsets, found = nil, true
		}
		if s.size > 0 && s.kind == 4 && s.flags>>33&1 == 0 {
			check()
			offsets, found = &s, true
		}
	}
	check()
	for _, s := range sections {
		if !found && s.size > 0 && s.kind == 1 {
			c := f.open(s)
			if counted := f.summary(c); counted || len(c.data) > 0 {
				panic(errNaive)
			}
		}
	}
}

func (f *naiveFile) open(s naiveSection) *naiveCursor {
	data := f.data[s.offset : s.offset+s.size]
	if s.flags&1 != 0 {
		data = naiveInflate(data)
	}
	return &naiveCursor{data}
}

func (f *naiveFile) section(s naiveSection) {
	if s.kind == 6 && !f.contextual() {
		return
	}
	c := f.open(s)
	switch s.kind {
	case 2:
		f.readNames(c, s.flags)
		c.end()
	case 6:
		f.readContexts(c)
		c.end()
	case 32:
		if len(c.data) == 0 {
			panic(errNaive)
		}
		f.bodies(c)
	case 3:
		for len(c.data) > 0 {
			c.string()
			f.symbols++
		}
	case 5:
		for len(c.data) > 0 {
			key, _, _ := f.ref(c)
			f.metadata(c, f.functions[key])
		}
	}
}

func naiveInflate(data []byte) []byte {
	c := &naiveCursor{data}
	size := c.uleb(1 << 24)
	if packed := c.any(); packed != uint64(len(c.data)) || size > packed*1032+1032 {
		panic(errNaive)
	}
	z, err := zlib.NewReader(bytes.NewReader(c.data))
	if err != nil {
		panic(errNaive)
	}
	raw, err := io.ReadAll(z)
	if err != nil || uint64(len(raw)) != size {
		panic(errNaive)
	}
	return raw
}

func (f *naiveFile) contextual() bool { return f.flags[1]>>33&1 != 0 }

// summary reads the summary and reports whether it counts functions.
func (f *naiveFile) summary(c *naiveCursor) bool {
	total := c.any()
	for range 3 {
		c.any()
	}
	functions := c.any()
	for range c.count() {
		c.uleb(math.MaxUint32)
		c.any()
		c.any()
	}
	return total > 0 || functions > 0
}

func (f *naiveFile) readNames(c *naiveCursor, flags uint64) {
	if flags>>35&1 != 0 {
		n := uint64(0)
		for range 3 {
			n = min(n+min(c.any(), 1<<32), 1<<32)
		}
		for range n {
			f.names = append(f.names, naiveName{md5: c.fixed(), hash: true})
		}
		return
	}
	for range c.count() {
		switch {
		case flags>>33&1 != 0:
			f.names = append(f.names, naiveName{md5: c.fixed(), hash: true})
		case flags>>32&1 != 0:
			f.names = append(f.names, naiveName{md5: c.any(), hash: true})
		default:
			f.names = append(f.names, naiveName{text: c.string()})
		}
	}
}

func (f *naiveFile) readContexts(c *naiveCursor) {
	for range c.count() {
		var frames []naiveFrame
		for range c.count() {
			frames = append(frames, naiveFrame{f.name(c), c.at()})
		}
		if len(frames) == 0 || frames[len(frames)-1].at != (naiveAt{}) {
			panic(errNaive)
		}
		f.contexts = append(f.contexts, frames)
	}
}

func (f *naiveFile) name(c *naiveCursor) naiveName {
	i := c.any()
	if i >= uint64(len(f.names)) {
		panic(errNaive)
	}
	return f.names[i]
}

// ref reads the index of a function's name or context. It returns a map key for the function, the
// name, and the frames of the context.
func (f *naiveFile) ref(c *naiveCursor) (string, naiveName, []naiveFrame) {
	if !f.contextual() {
		name := f.name(c)
		return fmt.Sprint(name), name, nil
	}
	i := c.any()
	if i >= uint64(len(f.contexts)) {
		panic(errNaive)
	}
	frames := f.contexts[i]
	return fmt.Sprint(frames), frames[len(frames)-1].name, frames
}

func newNaive(name naiveName) *naiveFunction {
	return &naiveFunction{
		name: name, body: map[naiveAt]*naiveRecord{},
		calls: map[naiveAt]map[naiveName]*naiveFunction{}, vtables: map[naiveAt]map[naiveName]uint64{},
	}
}

func naiveAdd(x, y uint64) uint64 {
	if sum, carry := bits.Add64(x, y, 0); carry == 0 {
		return sum
	}
	return math.MaxUint64
}

func (f *naiveFile) bodies(c *naiveCursor) {
	for len(c.data) > 0 {
		head := c.any()
		key, name, frames := f.ref(c)
		fn := f.functions[key]
		if fn == nil {
			fn = newNaive(name)
			fn.order = frames
			f.functions[key] = fn
		}
		fn.head = naiveAdd(fn.head, head)
		f.body(c, fn)
	}
}

func (f *naiveFile) body(c *naiveCursor, fn *naiveFunction) {
	fn.total = naiveAdd(fn.total, c.any())
	for range c.count() {
		at := c.at()
		r := fn.body[at]
		if r == nil {
			r = &naiveRecord{targets: map[naiveName]uint64{}}
			fn.body[at] = r
		}
		r.count = naiveAdd(r.count, c.any())
		for range c.count() {
			name := f.name(c)
			r.targets[name] = naiveAdd(r.targets[name], c.any())
		}
	}
	for range c.count() {
		f.body(c, fn.inlined(c.at(), f.name(c)))
	}
	if f.flags[1]>>37&1 == 0 {
		return
	}
	for range c.count() {
		at := c.at()
		for range c.count() {
			if fn.vtables[at] == nil {
				fn.vtables[at] = map[naiveName]uint64{}
			}
			name := f.name(c)
			fn.vtables[at][name] = naiveAdd(fn.vtables[at][name], c.any())
		}
	}
}

func (fn *naiveFunction) inlined(at naiveAt, name naiveName) *naiveFunction {
	if fn.calls[at] == nil {
		fn.calls[at] = map[naiveName]*naiveFunction{}
	}
	if fn.calls[at][name] == nil {
		fn.calls[at][name] = newNaive(name)
	}
	return fn.calls[at][name]
}

func (f *naiveFile) metadata(c *naiveCursor, fn *naiveFunction) {
	if fn == nil {
		fn = newNaive(naiveName{})
	}
	if f.flags[5]>>32&1 != 0 {
		if checksum := c.any(); checksum != 0 {
			fn.checksum = checksum
		}
	}
	if f.flags[5]>>33&1 != 0 {
		if attributes := c.uleb(math.MaxUint32); attributes != 0 {
			fn.attributes = attributes
		}
	}
	if f.contextual() {
		return
	}
	for range c.count() {
		f.metadata(c, fn.inlined(c.at(), f.name(c)))
	}
}

func compareNaive(n, m naiveName) int {
	if n.hash {
		return cmp.Compare(n.md5, m.md5)
	}
	return strings.Compare(n.text, m.text)
}

func compareNaiveAt(a, b naiveAt) int {
	return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.disc, b.disc))
}

func (n naiveName) String() string {
	if n.hash {
		return fmt.Sprint(n.md5)
	}
	return n.text
}

func (a naiveAt) String() string {
	if a.disc == 0 {
		return fmt.Sprint(a.line)
	}
	return fmt.Sprintf("%d.%d", a.line, a.disc)
}

func (f *naiveFile) print() string {
	var b strings.Builder
	functions := slices.SortedFunc(maps.Values(f.functions), func(g, h *naiveFunction) int {
		if g.total != h.total {
			return cmp.Compare(h.total, g.total)
		}
		for i := range min(len(g.order), len(h.order)) {
			s, t := g.order[i], h.order[i]
			if c := cmp.Or(compareNaive(s.name, t.name), compareNaiveAt(s.at, t.at)); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(len(g.order), len(h.order)), compareNaive(g.name, h.name))
	})
	for _, fn := range functions {
		name := fn.name.String()
		if f.contextual() {
			var frames []string
			for i, frame := range fn.order {
				s := frame.name.String()
				if i < len(fn.order)-1 {
					s += ":" + frame.at.String()
				}
				frames = append(frames, s)
			}
			name = "[" + strings.Join(frames, " @ ") + "]"
		}
		fmt.Fprintf(&b, "%s:%d:%d\n", name, fn.total, fn.head)
		f.printBody(&b, fn, " ")
	}
	return b.String()
}

func (f *naiveFile) printBody(b *strings.Builder, fn *naiveFunction, indent string) {
	vtables := func(at naiveAt) {
		if types := fn.vtables[at]; len(types) > 0 {
			fmt.Fprintf(b, "%s%s: vtables ", indent, at)
			for _, name := range slices.SortedFunc(maps.Keys(types), compareNaive) {
				fmt.Fprintf(b, "%s:%d ", name, types[name])
			}
			b.WriteByte('\n')
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(fn.body), compareNaiveAt) {
		r := fn.body[at]
		fmt.Fprintf(b, "%s%s: %d", indent, at, r.count)
		for _, name := range slices.SortedFunc(maps.Keys(r.targets), func(n, m naiveName) int {
			return cmp.Or(cmp.Compare(r.targets[m], r.targets[n]), compareNaive(n, m))
		}) {
			fmt.Fprintf(b, " %s:%d", name, r.targets[name])
		}
		b.WriteByte('\n')
		vtables(at)
	}
	for _, at := range slices.SortedFunc(maps.Keys(fn.calls), compareNaiveAt) {
		for _, name := range slices.SortedFunc(maps.Keys(fn.calls[at]), compareNaive) {
			inlined := fn.calls[at][name]
			called := name.String()
			if f.contextual() {
				called = "[" + called + "]"
			}
			fmt.Fprintf(b, "%s%s: %s:%d\n", indent, at, called, inlined.total)
			f.printBody(b, inlined, indent+" ")
		}
		vtables(at)
	}
	if f.flags[5]>>32&1 != 0 {
		fmt.Fprintf(b, "%s!CFGChecksum: %d\n", indent, fn.checksum)
	}
	if fn.attributes != 0 {
		fmt.Fprintf(b, "%s!Attributes: %d\n", indent, fn.attributes)
	}
}
