package profile

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

const (
	evidenceMagic   = "afde"
	evidenceVersion = 1

	// stringGroup is the number of strings that are decoded together. Within a group, a string is
	// stored without the prefix that it shares with the string before it.
	stringGroup = 16

	// chunkSize is the size at which a chunk of copies is complete and is compressed. Twice the
	// size saves 2 %, but a lookup has to decompress a whole chunk.
	chunkSize = 32 << 10

	// maxExpansion limits how much larger than in the file a chunk may be, because memory may be at
	// most some 50 times the size of a file, and a decoded copy takes up to 15 times its bytes.
	maxExpansion = 3
)

// AppendSection appends the evidence section without its bitmask byte. The section is in compact
// mode whatever the file's. Equal evidence gives the same bytes, whatever the order of its copies.
func (e *Evidence) AppendSection(dst []byte) []byte {
	w := newEvidenceWriter(e)
	strings, stringEnds := w.encodeStrings()
	out := wire.Encoder{Data: dst, Compact: true}
	out.String(evidenceMagic)
	out.Byte(evidenceVersion)
	out.Byte(e.Fraction)
	out.Uint32(uint32(len(w.strings)))
	sizes := func(ends []int) {
		at := 0
		for _, end := range ends {
			out.Uint64(uint64(end - at))
			at = end
		}
	}
	sizes(stringEnds)
	chunks := w.chunks()
	out.Uint32(uint32(len(w.copies)))
	out.Uint32(uint32(len(chunks)))
	for _, c := range chunks {
		out.Uint32(c.copies)
		out.Uint64(c.size)
		out.Uint64(uint64(len(c.data)))
	}
	out.Bytes(strings)
	for _, c := range chunks {
		out.Bytes(c.data)
	}
	return out.Data
}

// A chunk is a sequence of encoded CodeCopies that are compressed together.
type chunk struct {
	copies uint32
	size   uint64 // uncompressed size
	data   []byte // uncompressed if its length is size
}

func (w *evidenceWriter) chunks() (chunks []chunk) {
	var c chunk
	for i := range w.copies {
		data := w.copies[i].data
		c.data = append(binary.AppendUvarint(c.data, uint64(len(data))), data...)
		if c.copies++; len(c.data) >= chunkSize || i == len(w.copies)-1 {
			c.size = uint64(len(c.data))
			if packed := deflate(c.data); len(packed) < len(c.data) && len(packed) >= len(c.data)/maxExpansion {
				c.data = packed
			}
			chunks = append(chunks, c)
			c = chunk{}
		}
	}
	return chunks
}

// deflate compresses data. Different versions of Go may give different bytes.
func deflate(data []byte) []byte {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return packed.Bytes()
}

type evidenceWriter struct {
	strings []string // sorted
	numbers map[string]uint32
	copies  []encodedCopy
	users   [][]uint32 // for each string: the numbers of the copies with a frame of this function
}

type encodedCopy struct {
	of   *CodeCopy
	data []byte
}

func newEvidenceWriter(e *Evidence) *evidenceWriter {
	w := &evidenceWriter{numbers: make(map[string]uint32)}
	for i := range e.Copies {
		c := &e.Copies[i]
		w.copies = append(w.copies, encodedCopy{of: c})
		w.numbers[c.Symbol], w.numbers[c.Unit] = 0, 0
		for _, f := range c.Frames {
			w.numbers[f.Function], w.numbers[f.Call.File] = 0, 0
		}
		for p := range c.places {
			w.numbers[p.File] = 0
		}
	}
	w.strings = slices.Sorted(maps.Keys(w.numbers))
	for i, s := range w.strings {
		w.numbers[s] = uint32(i)
	}
	for i := range w.copies {
		w.copies[i].data = w.encode(w.copies[i].of)
	}
	slices.SortFunc(w.copies, func(a, b encodedCopy) int {
		return cmp.Or(cmp.Compare(a.of.Symbol, b.of.Symbol), cmp.Compare(a.of.Unit, b.of.Unit), slices.Compare(a.data, b.data))
	})
	w.users = make([][]uint32, len(w.strings))
	for i, c := range w.copies {
		for _, f := range c.of.Frames {
			users := &w.users[w.numbers[f.Function]]
			if n := len(*users); n == 0 || (*users)[n-1] != uint32(i) {
				*users = append(*users, uint32(i))
			}
		}
	}
	return w
}

// places yields the source positions of all blocks and sizes of a CodeCopy.
func (c *CodeCopy) places(yield func(*Place) bool) {
	for i := range c.Blocks {
		for j := range c.Blocks[i].Places {
			if !yield(&c.Blocks[i].Places[j]) {
				return
			}
		}
	}
	for i := range c.Sizes {
		if !yield(&c.Sizes[i].Place) {
			return
		}
	}
}

// encodeStrings encodes the strings of the section in groups of [stringGroup]. ends has the end of
// each group in data.
func (w *evidenceWriter) encodeStrings() (data []byte, ends []int) {
	e := wire.Encoder{Compact: true}
	before := ""
	for i, s := range w.strings {
		if i%stringGroup == 0 {
			before = ""
			if i > 0 {
				ends = append(ends, len(e.Data))
			}
		}
		shared := 0
		for shared < min(len(s), len(before)) && s[shared] == before[shared] {
			shared++
		}
		e.Uint32(uint32(shared))
		e.Uint32(uint32(len(s) - shared))
		e.String(s[shared:])
		e.Uint32(uint32(len(w.users[i])))
		last := uint32(0)
		for _, user := range w.users[i] {
			e.Uint32(user - last)
			last = user
		}
		before = s
	}
	if len(w.strings) > 0 {
		ends = append(ends, len(e.Data))
	}
	return e.Data, ends
}

// zigzag encodes a signed difference, modulo 2^64, as an unsigned number: 0, -1, 1 and -2 become 0,
// 1, 2 and 3. Small differences of either sign thus take few bytes.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// A placeCoder holds the previous values that are needed to encode or decode the next [Place] of
// the evidence, because its fields are stored as differences. The frame is stored as the difference
// from the frame of the previous place. Line and file are stored as differences from the last place
// in the same frame. For the first place in a frame, the line is the difference from the line at
// which the function of the frame is declared.
type placeCoder struct {
	frame int32
	lines []uint32
	files []uint32
}

func newPlaceCoder(frames []InlineFrame) *placeCoder {
	c := &placeCoder{lines: make([]uint32, len(frames)), files: make([]uint32, len(frames))}
	for i := range frames {
		c.lines[i] = frames[i].Declared
	}
	return c
}

// encode returns the encoded form of one [CodeCopy].
func (w *evidenceWriter) encode(c *CodeCopy) []byte {
	e := wire.Encoder{Compact: true}
	e.Uint32(w.numbers[c.Symbol])
	e.Uint32(w.numbers[c.Unit])
	files, local := c.files()
	e.Uint32(uint32(len(files)))
	for _, f := range files {
		e.Uint32(w.numbers[f])
	}
	e.Uint32(uint32(len(c.Frames)))
	for i, f := range c.Frames {
		e.Uint32(w.numbers[f.Function])
		e.Uint32(f.Declared)
		if i > 0 {
			e.Uint32(uint32(int32(i) - 1 - f.Parent))
			e.Uint32(local[f.Call.File])
			e.Uint32(f.Call.Line)
			e.Uint32(f.Call.Column)
			e.Uint32(f.Call.Discriminator)
		}
	}
	e.Uint32(uint32(len(c.Blocks)))
	coder, count := newPlaceCoder(c.Frames), uint64(0)
	for i := range c.Blocks {
		b := &c.Blocks[i]
		e.Uint64(zigzag(int64(b.Count - count)))
		count = b.Count
		e.Uint32(b.Size)
		e.Uint32(uint32(len(b.Places)))
		for j := range b.Places {
			coder.encode(&e, &b.Places[j], local)
		}
	}
	e.Uint32(uint32(len(c.Jumps)))
	from, rest := int32(0), c.firstCount()
	for _, j := range c.Jumps {
		if j.From != from {
			rest = c.Blocks[j.From].Count
		}
		e.Uint32(uint32(j.From - from))
		e.Uint64(zigzag(int64(j.To) - int64(j.From)))
		e.Uint64(zigzag(int64(rest - j.Count)))
		from, rest = j.From, rest-j.Count
	}
	if len(c.Sizes) > 0 {
		e.Uint32(uint32(len(c.Sizes)))
	}
	for i := range c.Sizes {
		s := &c.Sizes[i]
		coder.encode(&e, &s.Place, local)
		e.Uint64(s.Bytes + 1)
		e.Uint64(s.Count)
	}
	return e.Data
}

// firstCount returns the count of the first block of a CodeCopy.
func (c *CodeCopy) firstCount() uint64 {
	if len(c.Blocks) == 0 {
		return 0
	}
	return c.Blocks[0].Count
}

// files returns the source files that a CodeCopy names, the most frequent ones first. numbers has
// the index of each file in files.
func (c *CodeCopy) files() (files []string, numbers map[string]uint32) {
	uses := make(map[string]int)
	for _, f := range c.Frames[1:] {
		uses[f.Call.File]++
	}
	for p := range c.places {
		uses[p.File]++
	}
	files = slices.SortedFunc(maps.Keys(uses), func(a, b string) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b)) })
	numbers = make(map[string]uint32)
	for i, f := range files {
		numbers[f] = uint32(i)
	}
	return files, numbers
}

func (c *placeCoder) encode(e *wire.Encoder, p *Place, files map[string]uint32) {
	head := zigzag(int64(p.Frame-c.frame)) << 1
	file := files[p.File]
	special := file != c.files[p.Frame] || p.Discriminator != 0 || p.Factor != 1
	if special {
		head |= 1
	}
	e.Uint64(head)
	e.Uint64(zigzag(int64(p.Line) - int64(c.lines[p.Frame])))
	e.Uint32(p.Column)
	if special {
		e.Uint32(file)
		e.Uint32(p.Discriminator)
		e.Uint32(p.Factor)
	}
	c.frame, c.lines[p.Frame], c.files[p.Frame] = p.Frame, p.Line, file
}
