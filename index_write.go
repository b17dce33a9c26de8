package afdo

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/internal/wire"
)

// IndexOptions say what an index holds besides what it finds in the file itself.
type IndexOptions struct {
	Producer string // what writes the file, such as a program and its version
	BuildID  []byte // of the program that was profiled, as in its ELF note

	// Unqualified is how symbols get unqualified names, which the zero NameScheme leaves out of the index.
	Unqualified NameScheme

	// FingerprintScheme names what Fingerprint makes of a unit, up to 255 bytes. Without, the index has no fingerprints.
	FingerprintScheme string
	Fingerprint       func(*Unit) (uint64, error)

	// What to leave out, to save its bytes.
	NoLookups, NoInlining, NoChecksums bool
}

// Reindex writes the file with a new index in the place of the one it may
// have, or without any if o is nil. All other sections are copied byte for byte and keep
// their section indexes; bytes between sections are not. An index is the last section of a file, so
// readers that do not know of it find everything where it was.
//
// An index with checksums vouches for what is in the file now: where the file has checksums already,
// Reindex compares them, and fails with [ErrChecksum] unless the Reader was opened with
// [SkipChecksums]. Other errors are those of a malformed file and of w. Nothing is written before the
// whole file is there in memory, which takes its size, some 20 bytes a symbol, and the names.
func (r *Reader) Reindex(w io.Writer, o *IndexOptions) error {
	out, sums, err := r.copySections()
	if err != nil {
		return err
	}
	if o != nil {
		n, err := r.newIndex(sums, o)
		if err != nil {
			return err
		}
		if err := n.appendTo(out); err != nil {
			return err
		}
	}
	_, err = out.WriteTo(w)
	return err
}

// copySections copies all sections but the index, and returns their checksums.
func (r *Reader) copySections() (*Writer, []uint32, error) {
	x, err := r.openIndex()
	if err != nil {
		return nil, nil, err
	}
	t, err := r.scanned()
	if err != nil {
		return nil, nil, err
	}
	n := t.len()
	if x.unfit != errNoIndex {
		n--
	}
	out := NewWriter(r.header.Compact)
	sums := make([]uint32, n)
	for i := range n {
		e := t.extent(i)
		if e.size == 0 {
			return nil, nil, newSection(i, e, 0).errorAt(0, ErrSection, "the section lies outside the file")
		}
		data, err := r.viewExtent(e)
		if err == nil {
			err = r.verify(i, e, data)
		}
		if err != nil {
			return nil, nil, err
		}
		s := newSection(i, e, data[0])
		out.Add(s.Type, s.Compact, data[1:])
		sums[i] = sectionSum(data)
	}
	return out, sums, nil
}

// newIndex returns the blocks of an index of the file, which is to stand behind sections of some checksums.
func (r *Reader) newIndex(sums []uint32, o *IndexOptions) (*indexWriter, error) {
	d, err := r.directory()
	if err != nil {
		return nil, err
	}
	n := &indexWriter{compact: r.header.Compact, units: len(d.entries)}
	if !o.NoLookups {
		if err := n.lookups(r, d, o); err != nil {
			return nil, err
		}
	}
	if !o.NoInlining {
		l, err := r.allInlining()
		if err != nil {
			return nil, err
		}
		n.add(blockInlined, l.append(nil))
	}
	if err := n.fingerprints(r, o); err != nil {
		return nil, err
	}
	if !o.NoChecksums {
		n.checksums(sums)
	}
	n.add(blockProducer, []byte(o.Producer))
	n.add(blockBuildID, o.BuildID)
	return n, nil
}

// indexWriter gathers the blocks of an index.
type indexWriter struct {
	compact     bool
	units       int
	header      []byte // the entries of the blocks
	blocks      []byte
	n           byte
	checksummed bool
}

// guesses is how often the positions of entries in the section table are worked out again before
// the index goes without them.
const guesses = 4

// appendTo adds the index to the sections of a file. Where the entries of the section table stand depends on how
// long the one of the index is: their positions are those of a guess until that holds.
func (n *indexWriter) appendTo(out *Writer) error {
	summary, err := out.only(SectionSummary)
	if err != nil {
		return err
	}
	names, err := out.only(SectionFileNames)
	if err != nil {
		return err
	}
	positions, err := n.put(out)
	for range guesses {
		if err != nil || !n.checksummed {
			return err
		}
		with := *n
		with.add(blockSections, appendSections(nil, n.compact, summary, names, positions))
		out.takeBack()
		guess := positions
		if positions, err = with.put(out); err == nil && slices.Equal(positions, guess) {
			return nil
		}
	}
	out.takeBack()
	_, err = n.put(out)
	return err
}

// put adds the index to the sections of a file, and returns where groups of entries of its section table begin.
func (n *indexWriter) put(out *Writer) ([]uint32, error) {
	content := n.content(len(out.sections)+1, len(out.data))
	out.Add(SectionIndex, n.compact, paginate(content)[1:])
	header, err := out.header()
	if err != nil {
		return nil, err
	}
	return sectionPositions(header), nil
}

// add adds a block, unless it is empty.
func (n *indexWriter) add(kind blockKind, data []byte) {
	if len(data) == 0 {
		return
	}
	n.header = append(n.header, byte(kind))
	n.header = appendUint(n.header, n.compact, 8, uint64(len(data)))
	n.blocks = append(n.blocks, data...)
	n.n++
}

// lookups adds what finds units and symbols.
func (n *indexWriter) lookups(r *Reader, d *directory, o *IndexOptions) error {
	if len(d.entries) >= 1<<maxRankBits {
		return fmt.Errorf("afdo: an index of %d units: %w", len(d.entries), ErrLimit)
	}
	names, err := r.newTable(canonical.Name, false, hashKey)
	if err != nil {
		return err
	}
	if uint64(len(names)) > math.MaxUint32 {
		return fmt.Errorf("afdo: an index of %d symbols: %w", len(names), ErrLimit)
	}
	n.add(blockUnits, d.appendUnits(nil, n.compact))
	n.add(blockPaths, appendTable(nil, n.compact, d.pathTable()))
	n.add(blockNames, appendTable(nil, n.compact, names))
	if o.Unqualified.Unqualified == nil {
		return nil
	}
	data, err := appendScheme(nil, o.Unqualified.Name)
	if err != nil {
		return err
	}
	table, err := r.newTable(o.Unqualified.Unqualified, true, hashKey)
	if err != nil {
		return err
	}
	n.add(blockUnqualified, appendTable(data, n.compact, table))
	return nil
}

// fingerprints adds the fingerprints of the units.
func (n *indexWriter) fingerprints(r *Reader, o *IndexOptions) error {
	if o.Fingerprint == nil {
		return nil
	}
	data, err := appendScheme(nil, o.FingerprintScheme)
	if err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		v, err := o.Fingerprint(u)
		if err != nil {
			return err
		}
		data = binary.BigEndian.AppendUint64(data, v)
	}
	n.add(blockFingerprints, data)
	return nil
}

// appendScheme appends the name of a scheme and its length.
func appendScheme(dst []byte, name string) ([]byte, error) {
	if len(name) > math.MaxUint8 {
		return nil, fmt.Errorf("afdo: a scheme with a name of %d bytes: %w", len(name), ErrLimit)
	}
	return append(append(dst, byte(len(name))), name...), nil
}

func (n *indexWriter) checksums(sums []uint32) {
	data := make([]byte, 0, sumSize*len(sums))
	for _, sum := range sums {
		data = binary.BigEndian.AppendUint32(data, sum)
	}
	n.add(blockChecksums, data)
	n.checksummed = true
}

// content returns the content of the index of a file with so many sections, those
// before the index of span bytes.
func (n *indexWriter) content(sections, span int) []byte {
	c := []byte{wire.SectionBitmask(wire.Index, n.compact)}
	c = append(c, indexMagic...)
	c = append(c, indexVersion)
	c = appendUint(c, n.compact, 4, uint64(sections))
	c = appendUint(c, n.compact, 8, uint64(span))
	c = appendUint(c, n.compact, 4, uint64(n.units))
	c = append(c, n.n)
	c = append(c, n.header...)
	return append(c, n.blocks...)
}

// paginate returns content in pages, each with its checksum.
func paginate(content []byte) []byte {
	out := make([]byte, 0, physical(int64(len(content)))+sumSize)
	for i := 0; len(content) > 0; i++ {
		n := min(pageContent, len(content))
		out = append(out, content[:n]...)
		out = binary.BigEndian.AppendUint32(out, pageSum(i, content[:n]))
		content = content[n:]
	}
	return out
}

// appendUint appends a field that is width bytes wide in normal mode.
func appendUint(dst []byte, compact bool, width int, v uint64) []byte {
	e := wire.Encoder{Data: dst, Compact: compact}
	e.Uint(width, v)
	return e.Data
}
