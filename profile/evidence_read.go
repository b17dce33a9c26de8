package profile

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// An EvidenceTable is the evidence section of a version 4 file. It decodes each [CodeCopy] when it
// is asked for. All methods may be called concurrently.
type EvidenceTable struct {
	Section afdo.Section // the section, with its position in the file

	data       []byte
	fraction   uint8
	numStrings int
	start      int   // position of the first group of strings in data
	groupEnds  []int // end of each group of strings in data
	numCopies  int
	chunks     []chunkPlace
}

// A chunkPlace is the position of a chunk in the evidence section. A chunk contains several encoded
// CodeCopies that are compressed together.
type chunkPlace struct {
	copies    int // number of the first copy after it
	size      int // uncompressed size
	low, high int // range in data
}

var errNoEvidence = fmt.Errorf("profile: evidence section: %w", afdo.ErrNotFound)

// ReadEvidence opens the evidence section of a file. Only a sources section and an index may follow
// it. The error matches [afdo.ErrNotFound] if there is no section or it has another version. Other
// errors are those of reading, or concern a malformed section.
func ReadEvidence(r *afdo.Reader) (*EvidenceTable, error) {
	section, err := findExtension(r, afdo.SectionEvidence, errNoEvidence, afdo.SectionSources, afdo.SectionIndex)
	if err != nil {
		return nil, err
	}
	data, err := r.Data(section.Index)
	if err != nil {
		return nil, err
	}
	f := wire.Fields{Data: data, Pos: 1, Compact: section.Compact}
	if !bytes.HasPrefix(data[1:], []byte(evidenceMagic)) {
		return nil, errNoEvidence
	}
	f.Pos += len(evidenceMagic)
	if f.Byte() != evidenceVersion && f.Err == nil {
		return nil, errNoEvidence
	}
	t := &EvidenceTable{Section: section, data: data}
	t.open(&f)
	return t, t.fault(f.Err)
}

// maxFraction is the largest number of bits after the binary point. Counts have 64 bits in all.
const maxFraction = 32

func (t *EvidenceTable) open(f *wire.Fields) {
	at := f.Pos
	if t.fraction = f.Byte(); t.fraction > maxFraction {
		f.Fail(at, afdo.ErrLimit, "counts with %d bits after the point", t.fraction)
	}
	t.numStrings = f.Count(uint64(f.Uint32()), 4*3, 3, "strings")
	numGroups := (t.numStrings + stringGroup - 1) / stringGroup
	t.groupEnds = make([]int, f.Count(uint64(numGroups), 8, 1, "sizes"))
	end := 0
	for i := range t.groupEnds {
		end = t.addPart(f, end)
		t.groupEnds[i] = end
	}
	t.numCopies = int(f.Uint32())
	t.chunks = make([]chunkPlace, f.Count(uint64(f.Uint32()), 20, 3, "chunks"))
	copies := 0
	for i := range t.chunks {
		copies += int(f.Uint32())
		at, size, low := f.Pos, f.Uint64(), end
		if end = t.addPart(f, end); size > maxExpansion*uint64(end-low) || copies > t.numCopies {
			f.Fail(at, afdo.ErrLimit, "%d copies in %d bytes, compressed to %d", copies, size, end-low)
		}
		if f.Err != nil {
			return
		}
		t.chunks[i] = chunkPlace{copies, int(size), low, end}
	}
	if f.Err == nil && (end != f.Rest() || copies != t.numCopies) {
		f.Fail(f.Pos, afdo.ErrCount, "%d of %d copies, %d of %d bytes", copies, t.numCopies, end, f.Rest())
	}
	for i := range t.groupEnds {
		t.groupEnds[i] += f.Pos
	}
	for i := range t.chunks {
		t.chunks[i].low += f.Pos
		t.chunks[i].high += f.Pos
	}
	t.start = f.Pos
}

// addPart reads the size of the next group of strings, or of the next chunk, from the table of
// sizes. It returns where that group or chunk ends in the section, given the end of the one before.
func (t *EvidenceTable) addPart(f *wire.Fields, end int) int {
	at, size := f.Pos, f.Uint64()
	if size > uint64(len(t.data)-end) {
		f.Fail(at, afdo.ErrCount, "a part of %d bytes", size)
		return end
	}
	return end + int(size)
}

func (t *EvidenceTable) fault(f *wire.Fault) error {
	if f == nil {
		return nil
	}
	return t.Section.ErrorAt(t.Section.Offset+int64(f.Pos), f.Class, "%s", f.Detail)
}

// All decodes the evidence of all functions in the section.
func (t *EvidenceTable) All() (*Evidence, error) {
	return t.decode(func(yield func(int) bool) {
		for i := range t.numCopies {
			if !yield(i) {
				return
			}
		}
	})
}

// Of decodes the evidence about the given functions: each [CodeCopy] in which at least one of them
// has a frame. It decompresses only the chunks with these CodeCopies, and decodes only some of the
// names in the section.
func (t *EvidenceTable) Of(functions iter.Seq[string]) (*Evidence, error) {
	d := evidenceDecoder{table: t}
	var copies []int
	for name := range functions {
		users, err := d.find(name)
		if err != nil {
			return nil, err
		}
		copies = append(copies, users...)
	}
	slices.Sort(copies)
	return t.decode(slices.Values(slices.Compact(copies)))
}

func (t *EvidenceTable) decode(copies iter.Seq[int]) (*Evidence, error) {
	e := &Evidence{Fraction: t.fraction}
	d := evidenceDecoder{table: t}
	for i := range copies {
		c, err := d.copy(i)
		if err != nil {
			return nil, err
		}
		e.Copies = append(e.Copies, c)
	}
	return e, nil
}

// Check verifies that all evidence in the section can be decoded. It also verifies that the list of
// CodeCopies of each function is correct.
func (t *EvidenceTable) Check() error {
	e, err := t.All()
	if err != nil {
		return err
	}
	d := evidenceDecoder{table: t}
	for i := range e.Copies {
		for _, f := range e.Copies[i].Frames {
			users, err := d.find(f.Function)
			if err != nil {
				return err
			}
			if _, ok := slices.BinarySearch(users, i); !ok {
				return t.Section.ErrorAt(t.Section.Offset, afdo.ErrMalformed, "the copies of %.200q do not include %.200q", f.Function, e.Copies[i].Symbol)
			}
		}
	}
	return nil
}

// An evidenceDecoder decodes strings and CodeCopies of an evidence section. It caches decoded
// groups of strings and the latest decompressed chunk.
type evidenceDecoder struct {
	table  *EvidenceTable
	groups map[int]stringsOfGroup

	chunk       [][]byte // copies of chunk chunkNumber, encoded
	chunkNumber int
}

// A stringsOfGroup holds up to [stringGroup] strings that are decoded together. users contains, for
// each string, the numbers of the CodeCopies in which the function of that name has a frame.
type stringsOfGroup struct {
	strings []string
	users   [][]int
}

func (d *evidenceDecoder) group(i int) (stringsOfGroup, error) {
	if g, ok := d.groups[i]; ok {
		return g, nil
	}
	f := wire.Fields{Data: d.table.data[:d.table.groupEnds[i]], Pos: d.table.start, Compact: d.table.Section.Compact}
	if i > 0 {
		f.Pos = d.table.groupEnds[i-1]
	}
	g := d.table.decodeGroup(&f, min(stringGroup, d.table.numStrings-i*stringGroup))
	if d.groups == nil {
		d.groups = make(map[int]stringsOfGroup)
	}
	d.groups[i] = g
	return g, d.table.fault(f.Err)
}

func (t *EvidenceTable) decodeGroup(f *wire.Fields, n int) (g stringsOfGroup) {
	before := ""
	for range n {
		at := f.Pos
		shared := f.Uint32()
		if int64(shared) > int64(len(before)) {
			f.Fail(at, afdo.ErrCount, "a string shares %d bytes with one of %d", shared, len(before))
			return g
		}
		rest := f.Take(f.Count(uint64(f.Uint32()), 1, 1, "bytes of a string"), "a string")
		s := before[:shared] + string(rest)
		users, last := make([]int, f.Count(uint64(f.Uint32()), 4, 1, "copies of a function")), uint64(0)
		for i := range users {
			at := f.Pos
			last += uint64(f.Uint32())
			if last >= uint64(t.numCopies) {
				f.Fail(at, afdo.ErrCount, "copy %d of %d", last, t.numCopies)
			}
			users[i] = int(last)
		}
		if f.Err != nil {
			return g
		}
		g.strings, g.users = append(g.strings, s), append(g.users, users)
		before = s
	}
	if f.Rest() > 0 {
		f.Fail(f.Pos, afdo.ErrCount, "%d bytes after the strings of a group", f.Rest())
	}
	return g
}

// find returns the numbers of the CodeCopies in which the function of the given name has a frame.
// There are none if the section does not have the name.
func (d *evidenceDecoder) find(name string) (users []int, err error) {
	n := sort.Search(len(d.table.groupEnds), func(i int) bool {
		g, e := d.group(i)
		if e != nil {
			err = e
			return true
		}
		return g.strings[0] > name
	}) - 1
	if n < 0 || err != nil {
		return nil, err
	}
	g, err := d.group(n)
	if at, ok := slices.BinarySearch(g.strings, name); ok {
		return g.users[at], err
	}
	return nil, err
}

// copy decodes the CodeCopy with number i, in the order of the section.
func (d *evidenceDecoder) copy(i int) (CodeCopy, error) {
	n := sort.Search(len(d.table.chunks), func(n int) bool { return d.table.chunks[n].copies > i })
	if d.chunk == nil || n != d.chunkNumber {
		var err error
		if d.chunk, err = d.table.chunk(n); err != nil {
			return CodeCopy{}, err
		}
		d.chunkNumber = n
	}
	if n > 0 {
		i -= d.table.chunks[n-1].copies
	}
	c := copyDecoder{Fields: wire.Fields{Data: d.chunk[i], Compact: true}, strings: d}
	decoded := c.decode()
	if c.err == nil && c.Err != nil {
		c.err = d.table.chunkFault(n, c.Err.Class, "copy %d, byte %d: %s", i, c.Err.Pos, c.Err.Detail)
	}
	return decoded, c.err
}

func (t *EvidenceTable) chunkFault(n int, class error, format string, args ...any) error {
	return t.Section.ErrorAt(t.Section.Offset+int64(t.chunks[n].low), class, format, args...)
}

// chunk decompresses chunk n, and returns the encoded CodeCopies in it.
func (t *EvidenceTable) chunk(n int) ([][]byte, error) {
	c := t.chunks[n]
	data := t.data[c.low:c.high]
	if len(data) != c.size {
		packed := flate.NewReader(bytes.NewReader(data))
		data = make([]byte, c.size)
		if _, err := io.ReadFull(packed, data); err != nil {
			return nil, t.chunkFault(n, afdo.ErrCompressed, "%v", err)
		}
		if more, err := packed.Read(make([]byte, 1)); more > 0 || err != io.EOF {
			return nil, t.chunkFault(n, afdo.ErrCompressed, "more than %d bytes", c.size)
		}
	}
	if n > 0 {
		c.copies -= t.chunks[n-1].copies
	}
	f := wire.Fields{Data: data, Compact: true}
	copies := make([][]byte, f.Count(uint64(c.copies), 1, 1, "copies"))
	for i := range copies {
		copies[i] = f.Take(f.Count(f.Uint64(), 1, 1, "bytes of a copy"), "a copy")
	}
	if f.Err == nil && f.Rest() > 0 {
		f.Fail(f.Pos, afdo.ErrCount, "%d bytes after the copies", f.Rest())
	}
	if f.Err != nil {
		return nil, t.chunkFault(n, f.Err.Class, "%s", f.Err.Detail)
	}
	return copies, nil
}

// A copyDecoder decodes the fields of one [CodeCopy].
type copyDecoder struct {
	wire.Fields
	strings *evidenceDecoder
	err     error // error of reading a string
	files   []string
}

// string decodes a reference to a string of the section, and returns that string.
func (c *copyDecoder) string() string {
	at, n := c.Pos, int64(c.Uint32())
	if n >= int64(c.strings.table.numStrings) {
		c.Fail(at, afdo.ErrCount, "string %d of %d", n, c.strings.table.numStrings)
	}
	if c.Err != nil || c.err != nil {
		return ""
	}
	g, err := c.strings.group(int(n / stringGroup))
	if err != nil {
		c.err = err
		c.Fail(at, afdo.ErrCount, "a string that cannot be decoded")
		return ""
	}
	return g.strings[n%stringGroup]
}

// below decodes a number that must be less than limit. what names the number in the error message.
func (c *copyDecoder) below(limit int, what string) int32 {
	at, n := c.Pos, c.Uint32()
	if int64(n) >= int64(limit) {
		c.Fail(at, afdo.ErrCount, "%s %d of %d", what, n, limit)
		return 0
	}
	return int32(n)
}

// moved returns the sum of from and a difference in zigzag code, see [zigzag]. It fails unless the
// sum is from 0 to limit-1. what names the number in the error message.
func (c *copyDecoder) moved(from int32, difference uint64, limit int, what string) int32 {
	n := int64(from) + unzigzag(difference)
	if n < 0 || n >= int64(limit) {
		c.Fail(c.Pos, afdo.ErrCount, "%s %d of %d", what, n, limit)
		return 0
	}
	return int32(n)
}

func (c *copyDecoder) file() string {
	if n := c.below(len(c.files), "file"); c.Err == nil {
		return c.files[n]
	}
	return ""
}

func (c *copyDecoder) count(least int, what string) int {
	return c.Count(uint64(c.Uint32()), least, least, what)
}

func (c *copyDecoder) decode() (d CodeCopy) {
	d.Symbol, d.Unit = c.string(), c.string()
	c.files = make([]string, c.count(1, "files"))
	for i := range c.files {
		c.files[i] = c.string()
	}
	at := c.Pos
	d.Frames = make([]InlineFrame, c.count(1, "frames"))
	if len(d.Frames) == 0 {
		c.Fail(at, afdo.ErrCount, "code without a function")
		return CodeCopy{}
	}
	d.Frames[0] = InlineFrame{Parent: -1, Function: c.string(), Declared: c.Uint32()}
	for i := 1; i < len(d.Frames) && c.Err == nil; i++ {
		f := &d.Frames[i]
		f.Function, f.Declared = c.string(), c.Uint32()
		f.Parent = int32(i) - 1 - c.below(i, "frame")
		f.Call = Position{c.file(), c.Uint32(), c.Uint32(), c.Uint32()}
	}
	coder := newPlaceCoder(d.Frames)
	c.blocks(&d, coder)
	d.Jumps = c.jumps(d.Blocks)
	if c.Err == nil && c.Rest() > 0 {
		d.Sizes = c.sizes(coder)
	}
	if c.Err == nil && c.Rest() > 0 {
		c.Fail(c.Pos, afdo.ErrCount, "%d bytes after a copy", c.Rest())
	}
	return d
}

// sizes decodes the sizes of calls, which are last in a CodeCopy and missing if there are none.
func (c *copyDecoder) sizes(coder *placeCoder) []CallSize {
	at, sizes := c.Pos, make([]CallSize, c.count(5, "sizes"))
	for i := range sizes {
		s := &sizes[i]
		coder.decode(c, &s.Place)
		s.Bytes, s.Count = c.Uint64()-1, c.Uint64()
		if c.Err == nil && i > 0 && sizes[i-1].compare(*s) >= 0 {
			c.Fail(at, afdo.ErrCount, "size %d of %d is out of order", i, len(sizes))
		}
	}
	if c.Err == nil && len(sizes) == 0 {
		c.Fail(at, afdo.ErrCount, "no sizes")
	}
	return sizes
}

func (c *copyDecoder) blocks(d *CodeCopy, coder *placeCoder) {
	d.Blocks = make([]CodeBlock, c.count(3, "blocks"))
	count := uint64(0)
	for i := range d.Blocks {
		count += uint64(unzigzag(c.Uint64()))
		b := CodeBlock{Count: count, Size: c.Uint32()}
		if n := c.count(3, "places"); n > 0 {
			b.Places = make([]Place, n)
		}
		for j := range b.Places {
			coder.decode(c, &b.Places[j])
		}
		if c.Err != nil {
			return
		}
		d.Blocks[i] = b
	}
}

func (p *placeCoder) decode(c *copyDecoder, to *Place) {
	head := c.Uint64()
	p.frame = c.moved(p.frame, head>>1, len(p.lines), "frame")
	line := int64(p.lines[p.frame]) + unzigzag(c.Uint64())
	if line < 0 || line > math.MaxUint32 {
		c.Fail(c.Pos, afdo.ErrCount, "line %d", line)
		return
	}
	p.lines[p.frame] = uint32(line)
	*to = Place{Frame: p.frame, Position: Position{Line: uint32(line), Column: c.Uint32()}, Factor: 1}
	file := int32(p.files[p.frame])
	if head&1 != 0 {
		file = c.below(len(c.files), "file")
		to.Discriminator, to.Factor = c.Uint32(), c.Uint32()
	}
	if int(file) >= len(c.files) {
		c.Fail(c.Pos, afdo.ErrCount, "file %d of %d", file, len(c.files))
	}
	if c.Err == nil {
		p.files[p.frame], to.File = uint32(file), c.files[file]
	}
}

func (c *copyDecoder) jumps(blocks []CodeBlock) []CodeJump {
	n := c.count(3, "jumps")
	if n == 0 {
		return nil
	}
	jumps, from, rest := make([]CodeJump, n), int32(0), uint64(0)
	for i := range jumps {
		ahead := c.Uint32()
		from = c.moved(from, zigzag(int64(ahead)), len(blocks), "block")
		to := c.moved(from, c.Uint64(), len(blocks), "block")
		left := unzigzag(c.Uint64())
		if c.Err != nil {
			return nil
		}
		if i == 0 || ahead > 0 {
			rest = blocks[from].Count
		}
		jumps[i] = CodeJump{From: from, To: to, Count: rest - uint64(left)}
		rest = uint64(left)
	}
	return jumps
}
